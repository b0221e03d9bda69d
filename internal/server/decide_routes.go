package server

import (
	"net/http"

	"github.com/seed-f4525e22/skillopt/result"
)

// decideRoutes returns the routes of what a person decides on: edits by hand, comparisons, wrong tasks, and where the best skill goes.
func (s *Server) decideRoutes() []route {
	row := change(http.MethodPut, "/runs/{run}/tasks/{id}/row", "Write the row of a train or selection task again: those bytes of the file alone", NewRow{}, TaskRow{}, s.writeTaskRow)
	row.most = maxText
	return []route{
		get("/runs/{run}/decide", "What can be decided on a run here: its config, and where its best skill goes", Decision{}, s.decision),
		change(http.MethodPost, "/runs/{run}/tune", "Edit lines of a skill and score it on train or selection tasks, as an eval of the queue that is marked as tuned by hand", Tune{}, Queued{}, s.tune),
		change(http.MethodPost, "/runs/{run}/versus", "Compare two versions of the skill on the selection tasks, as a compare of the queue", Versus{}, Queued{}, s.versus),
		get("/runs/{run}/tasks/{id}/row", "The row of a task in its file", TaskRow{}, s.taskRow),
		row,
		change(http.MethodPost, "/runs/{run}/rescore", "Score what a run was answered to tasks as their file has them now", Rescored{}, result.Rescore{}, s.rescore),
		change(http.MethodPost, "/runs/{run}/place", "Write the best skill where the config has its skill, and keep what is there: with --allow-adopt alone", nil, Placed{}, s.place),
	}
}
