package train

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/caller"
)

// overlapping is a world with three epochs of three steps: the guidance of the
// second epoch goes in, that of the third does not.
func overlapping() (*world, Options) {
	w := newWorld(9, 40, 4)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"harm a"}, 3: {"rule b"}, 4: {"rule c"}, 6: {"harm b"}, 7: {"harm c"}}
	w.guidance = map[int]string{2: "rule d", 3: "harm d"}
	w.overlap = true
	o := standard()
	o.Epochs, o.BatchSize, o.SlowUpdate, o.SlowSamples, o.Test = 3, 3, true, 4, true
	return w, o
}

// TestTheNextPartDoesNotWaitForStragglers keeps one answer of a comparison back
// until all rollouts of the next part have begun. A run that waits for it first
// would wait for ever, which the bubble notices.
func TestTheNextPartDoesNotWaitForStragglers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, straggler string
		next            map[string]int // prefix of what begins meanwhile -> rollouts
		with, without   string         // lines of the skill that it is made with
	}{
		{name: "the first step", straggler: "seed/selection/s05/", next: map[string]int{"e1/s1/mb0/rollout/": 3}, without: "rule a"},
		{name: "accepted", straggler: "e1/s1/gate/cand/s05/", next: map[string]int{"e1/s2/mb0/rollout/": 3}, with: "rule a"},
		{name: "rejected", straggler: "e1/s2/gate/cand/s05/", next: map[string]int{"e1/s3/mb0/rollout/": 3}, with: "rule a", without: "harm a"},
		{name: "another epoch", straggler: "e1/s3/gate/cand/s05/", next: map[string]int{"e2/s4/mb0/rollout/": 3}, with: "rule b"},
		{name: "end of an epoch", straggler: "e2/s6/gate/cand/s05/", next: map[string]int{"e2/end/compare/curr/": 4, "e2/end/compare/prev/": 4}},
		{name: "guidance that goes in", straggler: "e2/end/gate/cand/s05/", next: map[string]int{"e3/s7/mb0/rollout/": 3}, with: "rule d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, o := overlapping()
				var begun sync.WaitGroup
				for _, n := range tt.next {
					begun.Add(n)
				}
				w.rolling = func(key string) {
					for prefix := range tt.next {
						if strings.HasPrefix(key, prefix) {
							begun.Done()
						}
					}
					if strings.HasPrefix(key, tt.straggler) {
						begun.Wait()
					}
				}
				w.must(t, o)
				for key, text := range w.skills {
					if _, ok := tt.next[key[:strings.Index(key, "/t")+1]]; !ok {
						continue
					}
					if !strings.Contains(text, tt.with) || tt.without != "" && strings.Contains(text, tt.without) {
						t.Errorf("%s was made with\n%s\nwant %q in it and not %q", key, text, tt.with, tt.without)
					}
				}
			})
		})
	}
}

// TestOverlapChangesNothing holds runs that begin early against those that wait,
// with answers that come in any order, some late, some never.
func TestOverlapChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		salt := rapid.StringN(1, 8, -1).Draw(rt, "salt")
		lost := rapid.SampledFrom([]uint32{0, 10, 40}).Draw(rt, "lost of a thousand")
		gate := rapid.SampledFrom([]gate.Mode{"strict", "observe", "off"}).Draw(rt, "gate")
		keep, rollouts := rapid.Bool().Draw(rt, "keep"), rapid.IntRange(1, 3).Draw(rt, "rollouts")
		second := rapid.Bool().Draw(rt, "second tries")
		propose := map[int][]string{}
		for step := range 9 {
			propose[step+1] = rapid.SliceOfN(rapid.SampledFrom([]string{"rule a", "rule b", "rule c", "harm a", "harm b", "half d", "talk"}), 0, 2).Draw(rt, "edits")
		}
		train := func(overlap bool) (*world, *Result, error) {
			w, o := overlapping()
			w.propose, w.overlap = propose, overlap
			o.Gate, o.Alpha, o.Keep, o.Rollouts = gate, 0.05, keep, rollouts
			o.SecondTry = second
			w.rolling = func(key string) { time.Sleep(time.Duration(hashed(salt, key)%100) * time.Millisecond) }
			w.fails = func(key string) bool { return hashed(salt+"lost", key)%1000 < lost }
			r, err := w.run(context.Background(), o)
			return w, r, err
		}
		synctest.Test(t, func(t *testing.T) {
			early, re, errEarly := train(true)
			late, rl, errLate := train(false)
			if (errEarly == nil) != (errLate == nil) {
				t.Fatalf("early: %v, late: %v", errEarly, errLate)
			}
			if diff := cmp.Diff(encode(rl.History), encode(re.History)); diff != "" {
				t.Fatalf("the history differs (-late +early):\n%s", diff)
			}
			if errLate != nil {
				return
			}
			if diff := cmp.Diff(late.files, early.files); diff != "" {
				t.Errorf("the files differ (-late +early):\n%s", diff)
			}
			if diff := cmp.Diff(late.decisions, early.decisions); diff != "" {
				t.Errorf("the decisions differ (-late +early):\n%s", diff)
			}
			slices.Sort(early.rollouts)
			slices.Sort(late.rollouts)
			if diff := cmp.Diff(late.rollouts, early.rollouts); diff != "" {
				t.Errorf("other rollouts were made (-late +early):\n%s", diff)
			}
			if diff := cmp.Diff(late.skills, early.skills); diff != "" {
				t.Errorf("rollouts were made with other skills (-late +early):\n%s", diff)
			}
		})
	})
}

func hashed(salt, key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(salt))
	h.Write([]byte(key))
	return h.Sum32()
}

// TestWhatIsNotReachedIsGivenUp ends runs while rollouts of the next part are
// under way: nothing goes on after them, and what waits for answers has asked for
// all.
func TestWhatIsNotReachedIsGivenUp(t *testing.T) {
	t.Parallel()
	t.Run("the comparison fails", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w, o := overlapping()
			w.rolling = func(key string) {
				if strings.HasPrefix(key, "e1/s1/gate/cand/s05/") {
					time.Sleep(time.Second)
				}
			}
			w.breaks = func(key string) error {
				if strings.HasPrefix(key, "e1/s1/gate/cand/s05/") {
					return errors.New("the disk is full")
				}
				return nil
			}
			_, err := w.run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("error %v", err)
			}
			if n := w.rolled("e1/s2/"); n != 3 {
				t.Errorf("%d rollouts of the next step were begun, want 3", n)
			}
		})
	})
	t.Run("answers come later", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w, o := overlapping()
			w.breaks = func(key string) error {
				if strings.HasPrefix(key, "e1/s1/gate/cand/s05/") || strings.HasPrefix(key, "e1/s2/mb0/") {
					return &caller.WaitingError{Key: key, Err: errors.New("no answer yet")}
				}
				return nil
			}
			_, err := w.run(t.Context(), o)
			var waiting *caller.WaitingError
			if !errors.As(err, &waiting) {
				t.Errorf("error %v", err)
			}
			if n := w.rolled("e1/s2/"); n != 3 {
				t.Errorf("%d questions of the next step were put, want 3", n)
			}
		})
	})
	t.Run("the loop ends early", func(t *testing.T) {
		t.Parallel()
		w, o := overlapping()
		o.EndAfter = new(int)
		*o.EndAfter = 2
		w.must(t, o)
		if n := w.rolled("e1/s3/"); n != 0 {
			t.Errorf("%d rollouts of a step that is left out", n)
		}
	})
}

// TestEarlyOutcomesAreCounted: progress tells of all rollouts of a stage.
func TestEarlyOutcomesAreCounted(t *testing.T) {
	t.Parallel()
	late, o := overlapping()
	late.overlap = false
	late.must(t, o)
	early, _ := overlapping()
	early.must(t, o)
	if diff := cmp.Diff(progressOf(late), progressOf(early)); diff != "" {
		t.Errorf("progress differs (-late +early):\n%s", diff)
	}
}

// progressOf returns how often each stage was told to be complete.
func progressOf(w *world) map[string]int {
	out := map[string]int{}
	for _, e := range w.events {
		if p, ok := e.(event.Progress); ok && p.Total > 0 && p.Done == p.Total {
			out[p.Stage]++
		}
	}
	return out
}
