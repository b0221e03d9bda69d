package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// share reports for a share of all keys that they are among them.
func share(of float64, salt any) func(key string) bool {
	return func(key string) bool {
		h := fnv.New64a()
		fmt.Fprintf(h, "%v %s", salt, key) // never fails
		return float64(h.Sum64()%10_000)/10_000 < of
	}
}

// hard are options in which nearly everything can happen to the gate.
func hard() Options {
	o := fresh()
	o.BatchSize, o.Minibatch, o.Epochs, o.SlowUpdate, o.MetaSkill, o.Test, o.Deterministic, o.Cluster = 4, 2, 2, true, true, true, false, "doc"
	return o
}

// hardWorld is a world with chance, faults, documents and another model from some
// place on.
func hardWorld(salt any) *world {
	w := newWorld(8, 24, 8)
	w.seed = "# Skill\nrule d\n"
	w.lines = byAnalyst("rule a", "rule b", "harm c", "rule c\nnothing")
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}, 3: {"rule c"}, 4: {"rule d"}}
	w.guidance[2] = "be careful"
	w.forgets, w.fails = share(0.15, salt), share(0.01, fmt.Sprint("fault ", salt))
	w.served = func(key string) string {
		if strings.HasPrefix(key, "seed/") || strings.HasPrefix(key, "e1/s1/") {
			return "model-1"
		}
		return "model-2"
	}
	inClusters(w, 2, 3, 1, 4)
	return w
}

// byAnalyst lets the analysts of a step append lines of their own, in turn.
func byAnalyst(lines ...string) func(key string) []string {
	return func(key string) []string {
		var n int
		if _, err := fmt.Sscanf(key[strings.LastIndex(key, "/")+1:], "%d", &n); err != nil {
			panic(err)
		}
		if n >= len(lines) {
			return nil
		}
		return strings.Split(lines[n], "\n")
	}
}

// Answers may come in any order, however many are asked for at once.
func TestArrivalChangesNothing(t *testing.T) {
	t.Parallel()
	variants := map[string]func(*Options){
		"one candidate": func(*Options) {},
		"warm":          func(o *Options) { o.Warm = 8 },
		"second tries": func(o *Options) {
			o.SecondTry, o.BatchSize, o.Budget = true, 2, 3
		},
		"steady":        func(o *Options) { o.Deterministic = true },
		"no fresh pass": func(o *Options) { o.Fresh = false },
		"keep":          func(o *Options) { o.Keep, o.Cluster = true, "" },
		"rollouts":      func(o *Options) { o.Rollouts = 3 },
		"rollouts, warm": func(o *Options) {
			o.Rollouts, o.Warm = 2, 8
		},
		"in folds":                 func(*Options) {},
		"rollouts, keep, in folds": func(o *Options) { o.Rollouts, o.Keep = 2, true },
	}
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := hard()
			change(&o)
			for salt := range 6 {
				var files []map[string]string
				for _, n := range []int{1, 8, 64} {
					synctest.Test(t, func(t *testing.T) {
						w := hardWorld(salt)
						if strings.HasSuffix(name, "in folds") {
							w.data, w.fails = w.data.CrossFit(4, 1), nil
						}
						if _, err := w.jittered(t.Context(), o, n); err != nil {
							t.Fatal(err)
						}
						files = append(files, w.files)
					})
				}
				for i := 1; i < len(files); i++ {
					if diff := cmp.Diff(files[0], files[i]); diff != "" {
						t.Errorf("files of one worker and of many (-one +many):\n%s", diff)
					}
				}
			}
		})
	}
}

// jittered trains with so many rollouts at once, which take times that differ with
// their number; with more than one the next part is begun beside the last. It is called in a synctest bubble.
func (w *world) jittered(ctx context.Context, o Options, n int) (*Result, error) {
	slots := make(chan struct{}, n)
	d := w.deps(&rollout.Runner{Extra: 2, Episode: episode(func(ctx context.Context, p rollout.Place, tk task.Task, s skill.Skill) (trajectory.Outcome, error) {
		slots <- struct{}{}
		defer func() { <-slots }()
		h := fnv.New64a()
		fmt.Fprint(h, n, p.Key(tk)) // never fails
		wait := time.NewTimer(time.Duration(1+h.Sum64()%500) * time.Millisecond)
		defer wait.Stop()
		select {
		case <-wait.C:
			return w.Run(ctx, p, tk, s)
		case <-ctx.Done():
			return trajectory.Outcome{}, context.Cause(ctx)
		}
	})})
	d.Overlap = overlaps(n > 1)
	return Run(ctx, o, d)
}

type episode func(context.Context, rollout.Place, task.Task, skill.Skill) (trajectory.Outcome, error)

func (e episode) Run(ctx context.Context, p rollout.Place, tk task.Task, s skill.Skill) (trajectory.Outcome, error) {
	return e(ctx, p, tk, s)
}

func (w *world) deps(r Roller) Deps {
	seed, scope := w.skillOf()
	return Deps{Data: w.data, Skill: seed, Scope: scope, Roller: r, Ask: w.ask, Record: w, Prompts: prompt.Default(), Files: w, Events: w.event}
}

// tape is a world with a record: what was answered is not asked again, and a session
// ends after some number of answers.
type tape struct {
	*world
	left int // answers until the session ends

	mu       sync.Mutex
	outcomes map[string]trajectory.Outcome
	answers  map[string]string
	given    map[string]bool
	without  map[string][]byte
}

var errEnds = errors.New("the session ends")

// spend takes one answer from what is left.
func (r *tape) spend() error {
	if r.left--; r.left < 0 {
		return errEnds
	}
	return nil
}

func (r *tape) Run(ctx context.Context, p rollout.Place, tk task.Task, s skill.Skill) (trajectory.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := p.Key(tk)
	if r.given[key] {
		return trajectory.Outcome{}, caller.Unmeasurable(errors.New("given up"))
	}
	if out, ok := r.outcomes[key]; ok {
		return out, nil
	}
	if err := r.spend(); err != nil {
		return trajectory.Outcome{}, err
	}
	out, err := r.world.Run(ctx, p, tk, s)
	if err == nil {
		r.outcomes[key] = out
	}
	return out, err
}

func (r *tape) ask(prefix string) optimize.Ask {
	ask := r.world.ask(prefix)
	return func(ctx context.Context, q optimize.Request) (string, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if text, ok := r.answers[prefix+"/"+q.Key]; ok {
			return text, nil
		}
		if err := r.spend(); err != nil {
			return "", err
		}
		text, err := ask(ctx, q)
		if err == nil {
			r.answers[prefix+"/"+q.Key] = text
		}
		return text, err
	}
}

// Unmeasured implements Recorder: a decision that is recorded must be the same.
func (r *tape) Unmeasured(_ context.Context, key string, decision []byte, keys []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok := r.without[key]; ok && !bytes.Equal(was, decision) {
		return fmt.Errorf("%s was decided otherwise:\n%s\n%s", key, was, decision)
	}
	r.without[key] = decision
	for _, k := range keys {
		if _, ok := r.outcomes[k]; !ok {
			r.given[k] = true
		}
	}
	return nil
}

// A run can end anywhere and go on from its record: what it has decided stays, also
// where what could not be measured could be by now.
func TestResumeAtAnyPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := hard()
		if rapid.Bool().Draw(rt, "warm") {
			o.Warm = 8
		}
		if rapid.Bool().Draw(rt, "second tries") {
			o.SecondTry, o.BatchSize = true, rapid.IntRange(1, 4).Draw(rt, "batch")
		}
		o.Gate = rapid.SampledFrom([]gate.Mode{"strict", "strict", "observe"}).Draw(rt, "gate")
		o.Fresh = rapid.Bool().Draw(rt, "fresh")
		o.Deterministic, o.SlowGated = rapid.Bool().Draw(rt, "steady"), rapid.Bool().Draw(rt, "gated")
		o.Keep, o.Rollouts = rapid.Bool().Draw(rt, "keep"), rapid.IntRange(1, 3).Draw(rt, "rollouts")
		salt := rapid.IntRange(0, 1000).Draw(rt, "world")
		r := &tape{
			world: hardWorld(salt), outcomes: map[string]trajectory.Outcome{}, answers: map[string]string{}, given: map[string]bool{}, without: map[string][]byte{},
		}
		if rapid.Bool().Draw(rt, "floor") {
			r.seed = "# Skill\n"
		}
		r.folder = rapid.Bool().Draw(rt, "files")
		if o.Gate != gate.ModeObserve && rapid.Bool().Draw(rt, "folds") {
			r.data = r.data.CrossFit(4, 1)
		}
		var before result.History
		for session := 0; ; session++ {
			r.left = rapid.IntRange(1, 400).Draw(rt, "answers")
			r.fails = share(0.05, fmt.Sprint(salt, session))
			d := r.deps(&rollout.Runner{Extra: 1, Episode: r})
			d.Ask, d.Record, d.Overlap = r.ask, r, overlaps(session%2 == 0)
			d.Pace = func(p Unit) (int, error) { // the ceiling is another one in each session
				if within := p.Name == UnitSecondTry || p.Name == UnitMore; within && session%3 == 0 {
					return 0, nil
				}
				return p.Tasks, nil
			}
			result, err := Run(t.Context(), o, d)
			var nothing *NothingMeasuredError
			if err != nil && !errors.Is(err, errEnds) && !errors.As(err, &nothing) {
				rt.Fatal(err)
			}
			if result != nil {
				rt.Log(session, err, actions(result))
				sameSoFar(rt, before, result.History)
				before = result.History
			}
			if err == nil {
				break
			}
		}
	})
}

// sameSoFar fails if a session decided otherwise than the one before it.
func sameSoFar(t *rapid.T, before, now result.History) {
	for i := range min(len(before.Steps), len(now.Steps)) {
		a, _ := json.Marshal(before.Steps[i])
		b, _ := json.Marshal(now.Steps[i])
		if !bytes.Equal(a, b) {
			t.Fatalf("step %d:\n%s\n%s", i, a, b)
		}
	}
	if a, b := before.Noise, now.Noise; a != nil && b != nil && a.At == b.At {
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
	}
	for i := range min(len(before.Epochs), len(now.Epochs)) {
		if diff := cmp.Diff(before.Epochs[i], now.Epochs[i]); diff != "" {
			t.Fatal(diff)
		}
	}
}
