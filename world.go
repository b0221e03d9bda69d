package skillopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
)

// world is what a run works with: the models behind their caller, the
// environment, and the sinks of events and files.
type world struct {
	setup    *setup
	run      *run.Run
	caller   *caller.Caller
	runner   *rollout.Runner
	carrier  *rollout.Agent // nil: no agent carries tasks out
	events   event.Sink
	recorded int
	spending spending
	timedOut atomic.Bool
	began    time.Time
	closers  []func() error
	hide     *redact.Exact
	commands chan struct{} // bounds the commands of checks that run at once
	followed followed
	stopped  chan struct{}
	watched  chan struct{}
}

// world builds it over an open run. ctx is that of the whole run.
func (s *setup) world(ctx context.Context, r *run.Run) (*world, error) {
	w := &world{setup: s, run: r, stopped: make(chan struct{}), watched: make(chan struct{}), began: s.now(), commands: make(chan struct{}, runtime.GOMAXPROCS(0))}
	w.hide = s.hidden()
	var err error
	if w.followed, err = s.follow(r); err != nil {
		return nil, err
	}
	w.events = serial(w.followed.sink(s.options.events))
	w.recorded = r.Journal.Counts().Answers
	roles := map[string]caller.Role{}
	for name, b := range s.models {
		roles[name] = s.role(name, b)
		if b.Hear != nil {
			b.Hear(func(text string) { w.events(event.Warning{Text: w.hide.Text(text)}) })
		}
		if b.Close != nil {
			w.closers = append(w.closers, b.Close)
		}
	}
	l := s.cfg.Limits
	var cache caller.Cache
	if s.cfg.Cache.Dir != "" {
		cache = caller.DirCache{Dir: s.cfg.Cache.Dir}
	}
	if s.known != nil {
		cache = s.known.over(cache)
	}
	var replay caller.Replay
	if s.replay != nil { // a nil pointer in an interface is not nil
		replay = s.replay
	}
	c, err := caller.New(caller.Options{
		Cache: cache, Unkept: w.unkept, Replay: replay,
		Journal: r.Journal, RunName: r.Manifest.Name, Roles: roles,
		Concurrency: l.Concurrency, Patience: l.Patience.Std(), Reuse: s.cfg.Record.Reuse,
		Limits: ceilings(l),
		Forked: r.Manifest.ForkedOf != "", Lifetime: ctx, JitterSeed: uint64(s.cfg.Train.Seed), Waiting: w.outage, Observe: w.followed.observe(),
	})
	if err != nil {
		w.followed.close(nil, "failed")
		return nil, unheld(err)
	}
	w.caller = c
	episode, err := w.episode()
	if err != nil {
		w.followed.close(nil, "failed")
		return nil, err
	}
	w.runner = &rollout.Runner{Episode: episode, Extra: 2}
	go w.watch()
	return w, nil
}

// unheld tells ceilings that cannot be held, which are bad input, from what else keeps
// calls from being made.
func unheld(err error) error {
	var (
		open      *caller.UnboundedError
		uncounted *caller.UncountedError
	)
	if errors.As(err, &open) || errors.As(err, &uncounted) {
		return &inputError{err}
	}
	return fmt.Errorf("set up calls: %w", err)
}

// unkept tells that answers are not kept for other runs.
func (w *world) unkept(err error) {
	w.events(event.Warning{Text: fmt.Sprintf("answers are recorded in this run, but cannot be kept in cache.dir for others: %v", err)})
}

// outage tells that the run waits for an endpoint.
func (w *world) outage(o caller.Outage) {
	w.events(event.Waiting{
		Endpoint: o.Endpoint, Model: o.Model, Reason: w.hide.Text(o.Err.Error()), FailingS: o.Failing.Seconds(), PatienceS: o.Patience.Seconds(),
	})
}

// role maps a model's configuration to how its calls are made.
func (s *setup) role(name string, b wire.Built) caller.Role {
	m := s.model(name)
	r := caller.Role{
		Client: b.Client, Endpoint: b.Endpoint, Source: b.Source, Model: m.Model, Timeout: m.Timeout.Std(),
		Sampling: wire.Sampling(m),
	}
	r.Patient = b.Questions != nil
	if _, silent := b.Client.(noModel); silent || b.Simulated || b.Free {
		r.MaxOutput = simulatedOutput
		if !silent {
			r.Price = &caller.Price{} // so that it stands in the way of no ceiling; see cost
		}
		return r
	}
	if e, ok := s.priceOfModel(name, b); ok {
		r.Price = &caller.Price{Rates: caller.Rates(e.Price), UpTo: e.UpTo, Long: caller.Rates(e.Long)}
		r.MaxOutput = e.MaxOutput
	}
	return r
}

// elapsed is the time since the run was opened in this process.
func (w *world) elapsed() time.Duration { return w.setup.now().Sub(w.began) }

// watch stops the run softly when the user or the clock says so.
func (w *world) watch() {
	defer close(w.watched)
	var clock <-chan time.Time
	if limit := w.setup.cfg.Limits.Time; limit != nil {
		t := time.NewTimer(limit.Std())
		defer t.Stop()
		clock = t.C
	}
	select {
	case <-w.setup.stop:
	case <-clock:
		w.timedOut.Store(true)
	case <-w.stopped:
		return
	}
	w.caller.Stop()
}

func (w *world) close() {
	close(w.stopped)
	<-w.watched
	for _, c := range w.closers {
		if err := c(); err != nil {
			w.events(event.Warning{Text: err.Error()})
		}
	}
	w.followed.close(w.events, endedAs(w.run))
	_ = os.Remove(filepath.Join(w.run.Dir, workspaces)) // unless some are kept, or there are none
}

// episode chooses what carries out a task.
func (w *world) episode() (rollout.Episode, error) {
	s := w.setup
	switch {
	case s.cfg.Agent.Name != "":
		return w.agent()
	case s.env != nil:
		return w.bind(&rollout.Env{Env: s.env, Timeout: s.cfg.Env.Timeout.Std()})
	case len(s.cfg.Env.Command) > 0:
		return w.process()
	}
	return &rollout.Chat{
		Model: w.caller, Assess: w.assess, RunSeed: s.cfg.Train.Seed, Question: s.question(s.images),
	}, nil
}

// question is what a chat target is asked, with the pictures of the tasks or without.
func (s *setup) question(images *rollout.Images) *rollout.Question {
	return &rollout.Question{System: s.system, User: s.user, Images: images, Extras: s.cfg.Extras, Bare: s.cfg.Tasks.System == ""}
}

func (w *world) process() (rollout.Episode, error) {
	if w.setup.replay != nil {
		return w.bind(&rollout.Env{Program: sealedEnv{}, Assess: w.assessAnswer, Hide: w.hide})
	}
	p, _, err := w.setup.environment()
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, p.Close)
	return w.bind(&rollout.Env{
		Program: p, Assess: w.assessAnswer, Hide: w.hide, Slots: make(chan struct{}, w.setup.cfg.Limits.Concurrency),
	})
}

// environment makes the environment of env.command, which starts nothing, and
// returns the variables that its processes get.
func (s *setup) environment() (*env.Env, []string, error) {
	environ := env.Allowed(s.loaded.Lookup)
	for _, name := range s.cfg.Env.PassEnv {
		v, ok := s.loaded.Lookup(name)
		if !ok {
			return nil, nil, &inputError{fmt.Errorf("env.pass_env: the variable %s is not set; export it or take it off the list", name)}
		}
		environ = append(environ, name+"="+v)
	}
	p, err := env.New(env.Options{
		Command: s.cfg.Env.Command, Dir: s.loaded.Dir, Environ: environ, Slots: s.cfg.Limits.Concurrency,
		Timeout: s.cfg.Env.Timeout.Std(), Protocol: s.cfg.Env.Protocol, Extras: s.cfg.Extras, Hide: s.hidden(),
	})
	if err != nil {
		return nil, nil, &inputError{fmt.Errorf("env.command: %w", err)}
	}
	return p, environ, nil
}

// bind ties an environment to the record.
func (w *world) bind(e *rollout.Env) (rollout.Episode, error) {
	outcomeContext, err := w.setup.outcomeContext()
	if err != nil {
		return nil, err
	}
	e.Record, e.RunSeed, e.Context = w.caller, w.setup.cfg.Train.Seed, outcomeContext
	e.Patience, e.RawGold = w.setup.cfg.Limits.Patience.Std(), w.setup.rawGold()
	return e, nil
}

func (w *world) deps() (train.Deps, error) {
	s := w.setup
	measure, err := s.measure(w.run)
	if err != nil {
		return train.Deps{}, err
	}
	d := train.Deps{
		Data: s.data, Skill: s.skill, Roller: w.runner, Ask: w.ask, Record: w.caller, Prompts: s.prompts, Files: w.run,
		Told:   s.told(w.hide),
		Events: w.events, Usage: w.usage, Health: w.health, Pace: w.pace, Overlap: !limited(w.setup.cfg.Limits), Ahead: w.caller.Ahead,
		Look: s.seedLook(w.run, w.events), Measure: measure, Optimizer: s.changeable("models.optimizer."),
		// A replay gives what was recorded, to its end.
		Fruitless: w.run.Manifest.Rules >= run.FruitlessRule && s.replay == nil,
		LooksOnce: w.run.Manifest.Rules >= run.LookRule && s.replay == nil,
	}
	if reads := w.reads(s.data.Test); reads != nil {
		d.Before = reads.note
	}
	return d, nil
}

// changeable stands for the settings under a prefix that may change between sessions.
func (s *setup) changeable(prefix string) string {
	settings := s.settings()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if strings.HasPrefix(key, prefix) {
			fmt.Fprintf(&b, "%q=%q\n", key, settings[key])
		}
	}
	return digest([]byte(b.String()))
}

// lost tells of a reply that could not be used, and returns what of it stages may pass
// on, without what looks like a secret.
func (w *world) lost(key string, lost *caller.LostError) error {
	mask := func(text string) string { return w.setup.loaded.Redactor().Text(w.hide.Text(text)) }
	w.events(event.Warning{Text: fmt.Sprintf("%s: no usable reply: %v", key, lost)})
	return &optimize.LostError{
		Key: key, Replies: lost.Replies, Reason: mask(lost.Err.Error()), Text: excerpt(mask(lost.Text)), Inherited: lost.Inherited,
	}
}

// ask returns the optimizer under a prefix of keys.
func (w *world) ask(prefix string) optimize.Ask {
	return func(ctx context.Context, q optimize.Question) (string, error) {
		key := prefix + "/" + q.Key
		seed := caller.Seed(w.setup.cfg.Train.Seed, key, 0)
		resp, err := w.caller.Do(ctx, caller.Call{
			Key: key, Turn: 1, Role: model.Optimizer, Stage: q.Stage, Schema: q.Schema, Seed: &seed, Accept: q.Accept,
			Sampling: model.Sampling{Temperature: q.Temperature},
			Messages: []model.Message{{Role: model.System, Content: q.System}, {Role: model.User, Content: q.User}},
			Reask:    caller.Reask{Same: 8, WithError: 1},
		})
		var lost *caller.LostError
		if errors.As(err, &lost) {
			return "", w.lost(key, lost)
		}
		p := w.usage()
		p.Stage = q.Stage
		w.events(p)
		return resp.Text, err
	}
}

// maxLengthShare is the share of cut answers above which a run measures the
// output limit instead of the skill.
const (
	maxLengthShare = 0.20
	minLengthCount = 20
)

// lengthError says that too many answers were cut.
type lengthError struct {
	share   float64
	replies int
}

func (e *lengthError) Error() string {
	return fmt.Sprintf("%.0f %% of %d answers of the target were cut at the output limit: the scores would measure the limit; raise models.target.max_tokens", 100*e.share, e.replies)
}

// ChangesIdentity says that what helps makes another run of it.
func (e *lengthError) ChangesIdentity() bool { return true }

// health stops a run whose answers are cut.
func (w *world) health() error {
	share, n := w.caller.LengthShare(model.Target)
	if n >= minLengthCount && share > maxLengthShare {
		return &lengthError{share: share, replies: n}
	}
	return nil
}

// usage is what the run has used so far.
func (w *world) usage() event.Progress {
	sum := w.caller.Stats().Sum
	used := sum.Tokens()
	return event.Progress{Calls: sum.Calls, Input: used.Input, Output: used.Output, Cost: w.cost(sum)}
}

// account fills in what the run used, over all its sessions.
func (w *world) account(s *Summary) {
	_ = w.caller.Settle() // a record that cannot be written has ended the run, or will be told when it is closed
	stats := w.caller.Stats()
	sum := stats.Sum
	s.Calls = CallSummary{Total: sum.Calls, ByStage: map[string]int64{}, Faults: sum.Faults, Reused: sum.Reused, Inherited: sum.Inherited}
	s.Tokens = tokensOf(sum)
	s.CostUSD, s.Unknown = w.cost(sum), w.unknown(sum)
	if w.carrier != nil {
		s.LeftOut = w.carrier.LeftOut()
	}
	for _, st := range stats.Stages {
		s.Calls.ByStage[st.Stage] += st.Calls
		used := st.Tokens()
		s.Stages = append(s.Stages, StageSummary{
			Stage: st.Stage, Role: st.Role, Calls: st.Calls, Input: used.Input, Output: used.Output, Cached: used.Cached, CostUSD: w.cost(st),
		})
	}
}

func tokensOf(s caller.StageStats) TokenSummary {
	used := s.Tokens()
	return TokenSummary{Input: used.Input, Output: used.Output, Cached: used.Cached}
}

// unknown says what of the sums is no more than an estimate, nil if nothing is.
func (w *world) unknown(s caller.StageStats) *UnknownUsage {
	if w.setup.simulated() || s.Unknown == 0 && s.Failed == (journal.Spent{}) {
		return nil
	}
	u := &UnknownUsage{
		Calls: s.Unknown, Unbounded: s.Unbounded, Tokens: s.Bounded.Usage.Input + s.Bounded.Usage.Output,
		FailedTokens: s.Failed.Usage.Input + s.Failed.Usage.Output,
	}
	if s.Failed.CostNano > 0 {
		usd := float64(s.Failed.CostNano) / 1e9
		u.FailedUSD = &usd
	}
	return u
}

// cost is nil when a price is not known; a simulation has none.
func (w *world) cost(s caller.StageStats) *float64 {
	usd, all := s.USD()
	if !all || w.setup.simulated() {
		return nil
	}
	return &usd
}

// progress returns a function that counts finished rollouts and tells how far
// they are about fifty times.
func (w *world) progress(stage string, total int) func() {
	var done atomic.Int64
	every := int64(max(1, total/50))
	return func() {
		n := done.Add(1)
		if n%every == 0 || n == int64(total) {
			p := w.usage()
			p.Stage, p.Done, p.Total = stage, int(n), total
			w.events(p)
		}
	}
}
