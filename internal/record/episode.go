package record

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Try is one attempt at an episode of an agent or environment, with the model calls that it
// made through the record.
type Try struct {
	Key     string `json:"key"`     // of the episode
	Attempt int    `json:"attempt"` // from 0
	// Counts says that its result is that of the episode. Else it was killed, failed or
	// replaced, or is at work.
	Counts bool        `json:"counts"`
	Code   string      `json:"code,omitempty"` // why it gave no result, if that is known
	Calls  []InnerCall `json:"calls"`          // in the order of commits

	// Messages and Tools are what the calls name by their place. Each is here once.
	Messages []exchange.Message `json:"messages"`
	Tools    []exchange.Tool    `json:"tools,omitempty"`
}

// InnerCall is a model call inside an episode, or an attempt at one that failed.
type InnerCall struct {
	Call
	Ordinal int           `json:"ordinal"` // its place in the try, from 0; of a failed attempt 0
	Said    exchange.Call `json:"said"`
}

// HasConversation reports whether what was said in some of the calls is kept.
func (t *Try) HasConversation() bool {
	return len(t.Messages) > 0 || slices.ContainsFunc(t.Calls, func(c InnerCall) bool { return c.Said.Damage == "" })
}

// Tries returns the attempts at episodes of a task, by the keys of the episodes: those of
// one key together, in their order. Keys of other calls have none.
func (r *Run) Tries(ctx context.Context, task string, keys ...string) ([]Try, error) {
	g := &tries{at: map[tryID]int{}}
	query := Filter{Task: task}.query()
	if len(keys) == 1 && task == "" {
		query.Key = keys[0]
	}
	for rec, err := range r.view.Entries(ctx, query) {
		if err != nil {
			return nil, r.wrapDamage(err)
		}
		if slices.Contains(keys, rec.Key) && rec.Kind.InTry() {
			g.take(rec)
		}
	}
	out := make([]Try, 0, len(g.list))
	for _, t := range g.list {
		if err := r.readTry(ctx, t); err != nil {
			return nil, err
		}
		out = append(out, t.Try)
	}
	slices.SortStableFunc(out, func(a, b Try) int { return slices.Index(keys, a.Key) - slices.Index(keys, b.Key) })
	return out, nil
}

type tryID struct {
	key     string
	attempt int
}

// tries gathers entries by try.
type tries struct {
	list []*gathered
	at   map[tryID]int
}

type gathered struct {
	Try
	records []journal.Record // of Calls
}

// take takes an entry in.
func (g *tries) take(rec journal.Record) {
	id := tryID{rec.Key, rec.Attempt}
	i, ok := g.at[id]
	if !ok {
		i = len(g.list)
		g.at[id] = i
		g.list = append(g.list, &gathered{Try: Try{Key: rec.Key, Attempt: rec.Attempt, Calls: []InnerCall{}, Messages: []exchange.Message{}}})
	}
	t, c := g.list[i], newCall(rec)
	switch {
	case rec.Kind == journal.Episode:
		for _, other := range g.list { // the latest result counts
			other.Counts = other.Counts && other.Key != rec.Key
		}
		t.Counts, t.Code = true, rec.Code
	case c.InEpisode():
		rec.Result = nil
		t.Calls, t.records = append(t.Calls, InnerCall{Call: c, Ordinal: rec.Ordinal}), append(t.records, rec)
	default:
		t.Code = rec.Code
	}
}

// readTry reads what was said in the calls of a try.
func (r *Run) readTry(ctx context.Context, t *gathered) error {
	said, err := r.view.ReadExchanges(ctx, t.records)
	if err != nil {
		return r.wrapDamage(err)
	}
	var forms []exchange.Stored
	for _, s := range said {
		forms = append(forms, exchange.Stored{Form: exchange.Form{Body: s.Form, Texts: s.Texts}, Damage: s.Damage, None: s.Form == nil && s.Damage == nil})
	}
	conversation := exchange.Read(forms)
	for i := range t.Calls {
		t.Calls[i].Said = conversation.Calls[i]
	}
	t.Tools = conversation.Tools
	if conversation.Messages != nil {
		t.Messages = conversation.Messages
	}
	return nil
}
