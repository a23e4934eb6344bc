package api

import "github.com/go-chi/chi/v5"

// statusRoutes shows the run database, if there is one.
func (s *Server) statusRoutes(chi.Router) {}
