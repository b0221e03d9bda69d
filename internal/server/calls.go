package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// mostCalls is how many calls are listed at once.
const mostCalls = 500

// calls sums up the calls of a run by stage, lists some of them, or shows one.
func (s *Server) calls(w http.ResponseWriter, r *http.Request) (any, error) {
	at, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	q := query{r.URL.Query(), nil}
	if key := q.Get("key"); key != "" {
		return s.call(w, r, at, from, key)
	}
	c := callsQuestion{limit: q.number("limit", 50), after: q.number("after", 0), before: q.number("before", 0), episodes: q.flag("episodes")}
	f := record.Filter{Stage: q.Get("stage"), Task: q.Get("task"), Failed: q.flag("failed")}
	switch {
	case q.err != nil:
		return nil, q.err
	case c.limit < 1 || c.limit > mostCalls:
		return nil, wrong("limit=%d: allowed are 1 to %d", c.limit, mostCalls)
	case c.after < 0 || c.before < 0 || c.after > 0 && c.before > 0:
		return nil, wrong("after and before: give one of them, the number of a call")
	}
	if !q.Has("limit") && !q.Has("after") && !q.Has("before") && !c.episodes && f == (record.Filter{}) {
		return ask.SumStages(r.Context(), from, at.dir)
	}
	after := int64(c.after)
	if !q.Has("after") {
		after = -1 // the latest ones
	}
	return ask.ListCalls(r.Context(), from, at.dir, ask.CallsQuestion{
		Stage: f.Stage, Task: f.Task, Failed: f.Failed, Episodes: c.episodes, Limit: c.limit, After: after, Before: int64(c.before),
	})
}

// callsQuestion says which page of calls is wanted.
type callsQuestion struct {
	limit         int
	after, before int // numbers of calls
	episodes      bool
}

// call shows what was sent and replied under a key, or the calls inside an episode.
func (s *Server) call(w http.ResponseWriter, r *http.Request, at found, from *record.Run, key string) (any, error) {
	v, err := callAt(r.Context(), from, key)
	if err != nil {
		return nil, err
	}
	if from.OfTest(record.PlaceOf(key)) {
		s.noteLook(w, r, at, from, "serve: calls")
	}
	return v, nil
}

func callAt(ctx context.Context, from *record.Run, key string) (any, error) {
	c, err := from.Conversation(ctx, key)
	if !errors.Is(err, record.ErrNoCall) {
		return c, err
	}
	tries, err := from.Tries(ctx, record.PlaceOf(key).Task, key)
	if err == nil && len(tries) == 0 {
		return nil, missing("the run has no call under the key " + quoted(key))
	}
	return ask.Tries{Key: key, Attempts: tries}, err
}
