package api

import (
	"embed"
	"mime"
	"net/http"
	"path"

	"github.com/go-chi/chi/v5"
)

// The dashboard is four files without a build step and without a foreign asset.
//
//go:embed dashboard
var dashboard embed.FS

// dashboardPolicy lets the page load its own script, style and data, and
// nothing else.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Content-Security-Policy", dashboardPolicy)
	w.Write(b)
}
