package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
)

// outage reports that the run waits for an endpoint.
func (s *Session) outage(o caller.Outage) {
	s.Emit(event.Waiting{
		Endpoint: o.Endpoint, Model: o.Model, Reason: s.hide.Text(o.Err.Error()), FailingS: o.Failing.Seconds(), PatienceS: o.Patience.Seconds(),
	})
}

// Connect makes what the work needs over the open run: models behind their caller, what
// carries out tasks, the sinks of events. ctx is that of the whole run. What it has
// opened when it fails is closed by Close.
func (s *Session) Connect(ctx context.Context) error {
	err := s.ConnectCalls(ctx, func(o *caller.Options) { o.Lifetime, o.Waiting = ctx, s.outage })
	if err != nil {
		return err
	}
	for _, role := range s.Models.Roles() {
		if hear := s.Models.Of(role).Hear; hear != nil {
			hear(func(text string) { s.Emit(event.Warning{Text: s.hide.Text(text)}) })
		}
	}
	made := &episodes{Session: s, scorer: &scorer{Session: s, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}}
	episode, err := made.episode(ctx)
	if err != nil {
		return err
	}
	s.Runner = &rollout.Runner{Episode: episode, Extra: 2, Heard: heard(s)}
	s.watch()
	return nil
}

// ConnectCalls makes the caller of the models, and the sinks of events, over the open run.
// adjust changes how calls are made; nil: nothing.
func (s *Session) ConnectCalls(ctx context.Context, adjust func(*caller.Options)) (err error) {
	s.began, s.hide = s.Now(), s.Hidden()
	if s.telemetry, err = s.newTelemetry(); err != nil {
		return err
	}
	s.Emit = untilDone(s, serial(s.telemetry.sink(openLog(s))))
	s.Recorded = s.Run.Journal.Counts().Answers
	o := s.callerOptions()
	if shared := newOthers(s); shared != nil {
		o.Others = shared
		if !s.borrowed {
			if err := shared.open(ctx, s); err != nil {
				return err
			}
		}
	}
	if adjust != nil {
		adjust(&o)
	}
	follow := watchRequests(s, &o)
	if s.Caller, err = caller.New(o); err != nil {
		return Unheld(err)
	}
	s.usedBefore = s.Caller.Stats().Sum
	follow()
	return nil
}

func (s *Session) callerOptions() caller.Options {
	l := s.Config.Limits
	o := caller.Options{
		Journal: s.Run.Journal, RunName: s.Run.Manifest.Name, Roles: map[string]caller.Role{},
		Concurrency: l.Concurrency, Patience: l.Patience.Std(), Reuse: s.Config.Record.Reuse, Limits: Ceilings(InForce(s)),
		Forked: s.Run.Manifest.ForkedOf != "", JitterSeed: uint64(s.Config.Train.Seed), Known: s.known, Observe: s.telemetry.observe(),
	}
	for _, role := range s.Models.Roles() {
		o.Roles[role] = s.Models.Role(role)
	}
	if s.Config.Record.Episodes == config.EpisodesFull && s.Replay == nil {
		o.Redact = masker(s.hide, s.Loaded.Redactor())
	}
	if s.Replay != nil { // a nil pointer in an interface is not nil
		o.Replay = s.Replay
	}
	return o
}

// Ceilings maps the configuration to what the caller holds a run to.
func Ceilings(l config.Limits) caller.Limits {
	return caller.Limits{USD: l.USD, Tokens: l.Tokens, Calls: l.Calls}
}

// serial makes a sink safe to call from the many goroutines of a run: events
// arrive one at a time. A nil sink takes nothing.
func serial(sink event.Sink) event.Sink {
	if sink == nil {
		return func(event.Event) {}
	}
	var mu sync.Mutex
	return func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		sink(e)
	}
}

// reportLoss reports a reply that could not be used, and returns what of it stages may pass
// on, without what looks like a secret.
func (s *Session) reportLoss(key string, lost *caller.LostError) error {
	mask := masker(s.hide, s.Loaded.Redactor())
	s.Emit(event.Warning{Text: fmt.Sprintf("%s: no usable reply: %v", key, lost)})
	return &optimize.LostError{
		Key: key, Replies: lost.Replies, Reason: mask(lost.Err.Error()), Text: Excerpt(mask(lost.Text)), Inherited: lost.Inherited,
	}
}

const halvesSuffix = "/halves"

// halve records that a request is not sent again since its reply took too long.
func (s *Session) halve(ctx context.Context, key string, late *caller.TimeoutError) error {
	s.Emit(event.Warning{Text: fmt.Sprintf("%s: %v: it is asked in halves, as are later requests of its length; a longer timeout keeps them whole", key, late)})
	_, err := s.Caller.Decision(ctx, key+halvesSuffix, func() ([]byte, error) { return json.Marshal(late.Timeout.String()) })
	return cmp.Or(err, optimize.ErrTimeout)
}

// Ask returns the optimizer under a prefix of keys.
func (s *Session) Ask(prefix string) optimize.Ask {
	return func(ctx context.Context, q optimize.Request) (string, error) {
		key := prefix + "/" + q.Key
		if _, halved := s.Caller.Decided(key + halvesSuffix); halved {
			return "", optimize.ErrTimeout
		}
		seed := caller.Seed(s.Config.Train.Seed, key, 0)
		resp, err := s.Caller.Do(ctx, caller.Call{
			Key: key, Turn: 1, Role: model.Optimizer, Stage: q.Stage, Schema: q.Schema, Seed: &seed, Accept: q.Accept, Divisible: q.Divisible,
			Sampling: model.Sampling{Temperature: q.Temperature},
			Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
			Reask:    caller.Reask{Same: 8, WithError: 1},
		})
		var lost *caller.LostError
		if errors.As(err, &lost) {
			return "", s.reportLoss(key, lost)
		}
		var late *caller.TimeoutError
		if errors.As(err, &late) {
			return "", s.halve(ctx, key, late)
		}
		p := s.Usage()
		p.Stage = q.Stage
		s.Emit(p)
		return resp.Text, err
	}
}

// Health stops a run whose answers are cut or refused, and warns of refusals before that.
func (s *Session) Health() error {
	share, n := s.Caller.LengthShare(model.Target)
	if n >= minReplies && share > maxShare {
		return &lengthError{share: share, replies: n}
	}
	byCause, n := caller.CountRefused(s.Caller, model.Target)
	refused := score.Unanswered{Refused: byCause}
	share = float64(refused.NumRefused()) / float64(max(1, n))
	found := &refusedError{share: share, replies: n, words: refused.Words()}
	switch {
	case share <= warnShare:
	case n >= minReplies && share > maxShare && !s.Start.AcceptSeed && s.Replay == nil:
		return found
	case !s.noticed.refusals.Swap(true):
		s.Emit(event.Warning{Text: found.says() + "; each counts as a score of 0"})
	}
	return nil
}
