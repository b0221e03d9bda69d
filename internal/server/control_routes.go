package server

// controlRoutes are those of what begins, continues and branches runs.
func (s *Server) controlRoutes() []route { return nil }
