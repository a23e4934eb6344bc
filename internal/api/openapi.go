package api

import (
	_ "embed"
	"net/http"
)

// openAPIText documents every route, also those that a server started without
// a database or a sandbox does not have.
//
//go:embed openapi.json
var openAPIText []byte

// openAPI is GET /openapi.json.
func openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openAPIText)
}
