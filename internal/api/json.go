package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// problem is the body of every error.
type problem struct {
	Error string `json:"error"`
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, format string, args ...any) {
	reply(w, status, problem{fmt.Sprintf(format, args...)})
}

// reply answers with JSON. HTML-special characters are escaped, so a program's
// output can't become markup in a careless viewer.
func reply(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer can't be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// read decodes a body that holds exactly one JSON value into v; on a fault it
// has answered and reports false. strict refuses fields that v does not have.
func read(w http.ResponseWriter, r *http.Request, v any, strict bool) bool {
	d := json.NewDecoder(r.Body)
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one JSON value")
		}
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		fail(w, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", large.Limit)
	default:
		fail(w, http.StatusBadRequest, "read the body: %v", err)
	}
	return false
}
