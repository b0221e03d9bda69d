package server

// startRoutes are those of configs: what a page reads, checks, tries and writes before a run begins.
func (s *Server) startRoutes() []route { return nil }
