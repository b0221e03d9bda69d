package server

import "net/http"

// controlRoutes returns the routes of what begins, continues and forks runs.
func (s *Server) controlRoutes() []route {
	return []route{
		get("/queue", "The commands that wait, are at work, and have ended lately", Queue{}, s.showQueue),
		change(http.MethodPost, "/queue/{entry}/remove", "Take a command out of the queue that waits, or has ended", nil, Queue{}, s.removeEntry),
		change(http.MethodPost, "/configs/{config}/start", "Train with a config, as a new run, through the queue", nil, Queued{}, s.startRun),
		change(http.MethodPost, "/runs/{run}/resume", "Resume a run that has not ended, through the queue", nil, Queued{}, s.resume),
		change(http.MethodPost, "/runs/{run}/continue", "Train on from a finished run, as a new one, through the queue", ContinueRequest{}, Queued{}, s.continueRun),
		change(http.MethodPost, "/runs/{run}/fork", "Make a config of the configuration of a run and the skill of a step", ForkRequest{}, Forked{}, s.fork),
	}
}
