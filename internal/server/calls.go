package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

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
	all, err := from.Calls(r.Context(), f)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c record.Call) bool { return c.Stage == "" }) // decisions and checks
	if !q.Has("limit") && !q.Has("after") && !q.Has("before") && !c.episodes && f == (record.Filter{}) {
		return ask.Stages{RunDir: at.dir, Stages: ask.ByStage(all)}, nil
	}
	page, left := c.page(all)
	return ask.Calls{RunDir: at.dir, Calls: page, Left: left}, nil
}

// callsQuestion says which page of calls is wanted.
type callsQuestion struct {
	limit         int
	after, before int // numbers of calls
	episodes      bool
}

// page are the latest calls, those before one, or the first behind one; left are how many more
// there are in that direction.
func (q callsQuestion) page(all []record.Call) (page []record.Call, left int) {
	all = slices.DeleteFunc(all, func(c record.Call) bool {
		return q.episodes && !c.InEpisode() || c.Seq <= int64(q.after) || q.before > 0 && c.Seq >= int64(q.before)
	})
	left = max(0, len(all)-q.limit)
	if q.after > 0 {
		return append([]record.Call{}, all[:len(all)-left]...), left
	}
	return append([]record.Call{}, all[left:]...), left
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
