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
	if len(q.Values) == 0 {
		return asAnswer(ask.SumSpending(r.Context(), from, at.dir, record.ByStage))
	}
	c := ask.CallsQuestion{
		Stage: q.Get("stage"), Task: q.Get("task"), Failed: q.flag("failed"), Episodes: q.flag("episodes"), Test: q.flag("test"),
		Limit: q.number("limit", 50), After: int64(q.number("after", latest)),
	}
	switch {
	case q.err != nil:
		return nil, q.err
	case c.Limit < 1 || c.Limit > mostCalls:
		return nil, wrong("limit=%d: allowed are 1 to %d", c.Limit, mostCalls)
	case c.After < latest:
		return nil, wrong("after=%d: want the number of a call", c.After)
	}
	list, err := ask.ListCalls(r.Context(), from, at.dir, c)
	if err == nil && list.OfTest {
		s.noteLook(w, r, at, from, "serve: calls")
	}
	return asAnswer(list, err)
}

// latest represents no number: the latest calls of all.
const latest = -1

// call shows what was sent and replied under a key, or the calls inside an episode.
func (s *Server) call(w http.ResponseWriter, r *http.Request, at found, from *record.Run, key string) (any, error) {
	v, err := callAt(r.Context(), from, key)
	if err != nil {
		return nil, err
	}
	if from.OfTest(record.ParsePlace(key)) {
		s.noteLook(w, r, at, from, "serve: calls")
	}
	return v, nil
}

func callAt(ctx context.Context, from *record.Run, key string) (any, error) {
	c, err := from.Conversation(ctx, key)
	if !errors.Is(err, record.ErrNoCall) {
		return c, err
	}
	tries, err := from.Tries(ctx, record.ParsePlace(key).Task, key)
	if err == nil && len(tries) == 0 {
		return nil, notFoundError("the run has no call under the key " + quoteText(key))
	}
	return ask.Tries{Key: key, Attempts: tries}, err
}
