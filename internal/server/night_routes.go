package server

import (
	"net/http"

	"github.com/seed-f4525e22/skillopt/result"
)

// nightRoutes returns the routes of the review queue and adoption.
func (s *Server) nightRoutes() []route {
	return []route{
		get("/projects", "The projects whose sessions may be read, by the sleep profile", Projects{}, s.projects),
		get("/review", "The tasks of sessions that wait for a review, those first that are held: what skillopt sleep review shows", Review{}, s.listWaiting),
		change(http.MethodPost, "/review", "Accept, edit or reject tasks of sessions, as skillopt sleep review does", ReviewRequest{}, result.Reviewed{}, s.review),
		get("/nights/{night}/proposal", "What adopting the texts of a night needs, and the user's own words that its rules come from", Proposal{}, s.proposal),
		change(http.MethodPost, "/nights/{night}/adopt", "Write a text of a night into its document, as skillopt sleep adopt --expect does; only with serve --allow-adopt", AdoptRequest{}, Adopted{}, s.adopt),
	}
}
