package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/answers"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// others answers from the other runs of a folder what may be answered from them. Without
// an index it only says what may.
type others struct {
	kind      result.Kind
	test      map[string]bool   // ids of test tasks
	endpoints map[string]string // by role; a role that is not there is always asked
	warn      func(text string)

	index *answers.Index // nil: nothing is looked up
	once  sync.Once      // that the index failed is reported once
	mu    sync.Mutex
	taken map[string]int // answers taken, by the model that was asked for
}

var _ caller.Others = (*others)(nil)

// sharesAnswers reports whether the run may be answered from others, and answer others: not
// a replay, nor one in which equal requests are all sent.
func sharesAnswers(s *Session) bool {
	return s.Replay == nil && s.Config.Record.Reuse != caller.ReuseNever
}

// newOthers returns the others of a session, nil for a run that shares no answers.
func newOthers(s *Session) *others {
	if !sharesAnswers(s) {
		return nil
	}
	o := &others{
		kind: s.Kind, test: map[string]bool{}, endpoints: map[string]string{}, taken: map[string]int{},
		warn: func(text string) { s.Emit(event.Warning{Text: text}) },
	}
	for _, t := range s.Set.Split(task.Test) {
		o.test[t.ID] = true
	}
	for _, role := range s.Models.Roles() {
		if endpoint, ok := endpointKey(s, role); ok {
			o.endpoints[role] = endpoint
		}
	}
	return o
}

// endpointKey returns all that an answer depends on apart from the request: where the model of a
// role is asked, and how. ok is false where no one can report whether it is the same.
func endpointKey(s *Session, role string) (name string, ok bool) {
	b := s.Models.Of(role)
	switch {
	case b.Kind == wiring.None || b.Kind == wiring.Recorded:
		return "", false
	case b.Kind == wiring.Own && s.Names["client."+role] == "":
		return "", false
	}
	c := s.Config.Models.Of(role)
	parts := append([]string{string(b.Kind), b.Source, b.Endpoint}, c.Endpoints...)
	return strings.Join(append(parts, "headers "+s.Settings()["models."+role+".headers"]), "\n"), true
}

// open notes in the record who is asked from now on, and opens the index. That it
// cannot be opened costs money and nothing else.
func (o *others) open(ctx context.Context, s *Session) error {
	if err := answers.Announce(ctx, s.Run, o.endpoints); err != nil {
		return err
	}
	s.announced = true
	if s.Kind == result.Evaluate && s.Passes > 1 {
		return nil // passes show how much answers vary: each is asked now, under equal conditions
	}
	folder, err := filepath.Abs(s.Config.Run.Dir)
	if err == nil {
		o.index, err = answers.Open(ctx, folder, s.Run.Manifest.RunID, s.Now)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.unindexed = true
		s.Emit(event.Warning{Text: fmt.Sprintf("nothing is taken from other runs, all is asked: %v", err)})
		return nil
	}
	s.closers = append(s.closers, o.index.Close)
	return nil
}

// indexing is how long a run may take to be added to the index.
const indexing = 30 * time.Second

// addToIndex adds the run to the index of its folder once it is closed. If that fails the next
// command does it.
func addToIndex(s *Session, dir string) error {
	folder, err := filepath.Abs(s.Config.Run.Dir)
	if err != nil || !s.announced || filepath.Dir(dir) != folder {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), indexing)
	defer cancel()
	return answers.Add(ctx, folder, dir, s.Now)
}

// May implements caller.Others.
func (o *others) May(key, role string) bool {
	if o.endpoints[role] == "" {
		return false
	}
	at, may := answers.Place(o.kind, key, role)
	return may && !o.test[at.Task]
}

// Find implements caller.Others.
func (o *others) Find(ctx context.Context, q caller.Question) ([]byte, journal.Origin, bool) {
	at, may := answers.Place(o.kind, q.Key, q.Role)
	if o.index == nil || !may {
		return nil, journal.Origin{}, false
	}
	a, found := o.index.Find(ctx, answers.Question{Endpoint: o.endpoints[q.Role], Role: q.Role, Model: q.Model, Input: q.Input, Digest: q.Digest, Sample: at.Sample})
	if err := o.index.Failed(); err != nil {
		o.once.Do(func() { o.warn(fmt.Sprintf("nothing more is taken from other runs, all is asked: %v", err)) })
	}
	if found {
		o.mu.Lock()
		o.taken[o.endpoints[q.Role]+"\x00"+q.Model]++
		o.mu.Unlock()
	}
	return a.Result, a.Origin, found
}

// Answered implements caller.Others.
func (o *others) Answered(role, model, served string) {
	if o.index == nil || o.endpoints[role] == "" {
		return
	}
	before, other := o.index.Served(o.endpoints[role], model, served)
	if !other {
		return
	}
	o.mu.Lock()
	n := o.taken[o.endpoints[role]+"\x00"+model]
	o.taken[o.endpoints[role]+"\x00"+model] = 0
	o.mu.Unlock()
	if n > 0 {
		o.warn(fmt.Sprintf("%s is answered by %s now, and was by %s: nothing more is taken from runs that the other one answered. %d answers of it were taken before that was seen; record.reuse: never asks for all", model, displayName(served), displayName(before), n))
	}
}

// displayName returns a name for people.
func displayName(served string) string {
	if served == "" {
		return "a model without a name"
	}
	return served
}

// closeRun closes the run, and adds it to the index of its folder.
func closeRun(s *Session) error {
	dir := s.Run.Dir
	err := s.Run.Close()
	s.Run = nil
	if err != nil {
		return fmt.Errorf("close run: %w", err)
	}
	if err := addToIndex(s, dir); err != nil && !s.unindexed { // what keeps it from being used was reported
		return s.tell(fmt.Errorf("the run is complete in itself, but not in the index of answers, which the next command sees to: %w", err))
	}
	return nil
}
