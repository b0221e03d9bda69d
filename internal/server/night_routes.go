package server

// nightRoutes are those of the review queue and adoption.
func (s *Server) nightRoutes() []route { return nil }
