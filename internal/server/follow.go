package server

import (
	"net/http"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/server/door"
)

// follow answers with the events of a run as they come.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	from := or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	after, err := strconv.ParseInt(or(from, "0"), 10, 64)
	if err != nil {
		return nil, wrong("events after %s: want the number of an event", quoted(from))
	}
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, &door.Refusal{Status: http.StatusTooManyRequests, Kind: door.Busy, Message: "too many pages follow runs of this server", Help: "close some of them"}
	}
	defer func() { <-s.streams }()
	return nil, s.hub.Serve(w, r, at.dir, after)
}
