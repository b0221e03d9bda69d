package server

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/result"
)

// StopRequest says how a run shall stop.
type StopRequest struct {
	Now bool `json:"now,omitempty"` // calls in flight are given up, else they are waited for
}

// Removed says where a run is now.
type Removed struct {
	Trash string `json:"trash"`
}

// fromBrowser is who asks a run for something here.
const fromBrowser = "browser"

// note keeps notes on a run.
func (s *Server) note(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	var n result.Notes
	if err := body(r, &n); err != nil {
		return nil, err
	}
	return asAnswer(ask.SetNotes(at.dir, at.id, n))
}

// stop asks a run to stop.
func (s *Server) stop(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b StopRequest
	if err := body(r, &b); err != nil {
		return nil, err
	}
	what := steer.Stop
	if b.Now {
		what = steer.StopNow
	}
	return s.steer(r, steer.Asking{What: what})
}

// limit gives a run other ceilings.
func (s *Server) limit(_ http.ResponseWriter, r *http.Request) (any, error) {
	var raw json.RawMessage
	if err := body(r, &raw); err != nil {
		return nil, err
	}
	var l steer.Limits
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, wrong("%v", err)
	}
	return s.steer(r, steer.Asking{What: steer.Limit, Limits: l})
}

// steer asks a run for something, and waits for its answer.
func (s *Server) steer(r *http.Request, a steer.Asking) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	if err := steerable(r.Context(), at); err != nil {
		return nil, err
	}
	a.From, a.Now = fromBrowser, s.now
	return asAnswer(steer.Ask(r.Context(), at.dir, a))
}

// remove moves a run to the trash next to it.
func (s *Server) remove(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	if run.InTrash(at.dir) {
		return nil, conflict("the run is in the trash already", "skillopt runs rm --purge deletes it for good")
	}
	to, err := run.Trash(at.dir, s.now().Round(time.Second))
	return Removed{Trash: to}, err
}
