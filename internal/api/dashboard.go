package api

import (
	"embed"
	"net/http"
	"path"

	"github.com/go-chi/chi/v5"
)

// The dashboard is plain files, without a build step and without a foreign
// asset.
//
//go:embed dashboard
var dashboard embed.FS

// dashboardPolicy lets the page load its own files and data, and nothing else:
// no inline script or style, no foreign host, no markup made from strings.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// assetTypes are the kinds of files there are. The system's own table is not
// asked: on some machines it calls a script plain text.
var assetTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// dashboardRoutes serves the page. Its files hold no data, so they need no
// token; the page asks for one when the API does.
func (s *Server) dashboardRoutes(r chi.Router) {
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) { serveFile(w, "index.html") })
	r.Get("/ui/{file}", func(w http.ResponseWriter, r *http.Request) { serveFile(w, chi.URLParam(r, "file")) })
}

func serveFile(w http.ResponseWriter, name string) {
	b, err := dashboard.ReadFile(path.Join("dashboard", path.Base(name)))
	if err != nil {
		fail(w, http.StatusNotFound, "there is nothing at /ui/%s", name)
		return
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("Content-Security-Policy", dashboardPolicy)
	w.Write(b)
}
