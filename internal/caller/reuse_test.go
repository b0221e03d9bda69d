package caller_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func TestEqualCallsShareAnAnswer(t *testing.T) {
	t.Parallel()
	hot := 0.7
	tests := []struct {
		name   string
		change func(i int, c *caller.Call)
		mode   string
		sent   int
		again  int // requests of a second session with other keys
	}{
		{"equal", func(int, *caller.Call) {}, caller.ReuseAuto, 1, 0},
		{"never", func(int, *caller.Call) {}, caller.ReuseNever, 5, 5},
		{"not deterministic", func(_ int, c *caller.Call) { c.Sampling.Temperature = &hot }, caller.ReuseAuto, 5, 5},
		{"other seeds", func(i int, c *caller.Call) { s := int64(i); c.Seed = &s }, caller.ReuseAuto, 5, 0},
		{"other questions", func(i int, c *caller.Call) { c.Messages[1].Content = fmt.Sprint(i) }, caller.ReuseAuto, 5, 0},
		{"other roles", func(i int, c *caller.Call) {
			if i%2 == 0 {
				c.Role = model.Optimizer
			}
		}, caller.ReuseAuto, 2, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := modeltest.New(slow(time.Second))
				b := setup(t, client, func(o *caller.Options) { o.Reuse = tt.mode })
				want := tt.sent
				for session := range 2 {
					var wg sync.WaitGroup
					for i := range 5 {
						wg.Go(func() {
							call := ask(fmt.Sprintf("s%d/k%d", session, i), "q")
							tt.change(i, &call)
							if _, err := b.do(call); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					if client.Count() != want {
						t.Errorf("session %d: %d requests, want %d", session, client.Count(), want)
					}
					if got := b.Stats().Sum; int(got.Calls) != want || (session == 0 && int(got.Reused) != 5-tt.sent) {
						t.Errorf("session %d: %+v", session, got)
					}
					want += tt.again
					b.resume(nil)
				}
			})
		})
	}
}

func TestReasksAreNotAnsweredByTheReplyTheyWantAnotherOf(t *testing.T) {
	t.Parallel()
	client := modeltest.Script(modeltest.Text(""), modeltest.Text("one"), modeltest.Text("two"))
	b := setup(t, client, nil)
	for key, want := range map[string]string{"a": "one"} {
		if text, err := b.do(ask(key, "q")); err != nil || text != want {
			t.Errorf("%s: %q, %v", key, text, err)
		}
	}
	b.resume(nil)
	// The equal call finds the empty reply and asks for itself.
	if text, err := b.do(ask("b", "q")); err != nil || text != "two" {
		t.Errorf("b: %q, %v", text, err)
	}
}

func TestAnEqualCallGoesOnWhenTheOtherIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(slow(time.Second))
		b := setup(t, client, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = b.Do(ctx, ask("first", "q")) })
		synctest.Wait()
		wg.Go(func() {
			if text, err := b.do(ask("second", "q")); err != nil || text != "re: q" {
				t.Errorf("second: %q, %v", text, err)
			}
		})
		third, stop := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := b.Do(third, ask("third", "q")); !errors.Is(err, context.Canceled) {
				t.Errorf("third: %v", err)
			}
		})
		synctest.Wait()
		stop()
		cancel(errors.New("a sibling failed"))
		wg.Wait()
		if client.Count() != 2 {
			t.Errorf("%d requests, want 2", client.Count())
		}
	})
}

func TestEqualCallsShareAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, _ int, _ model.Request) (model.Response, error) {
			<-time.After(time.Second)
			return model.Response{}, fail(model.Auth)
		})
		b := setup(t, client, nil)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				var stopped *caller.StoppedError
				if _, err := b.do(ask(fmt.Sprint("k", i), "q")); !errors.As(err, &stopped) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if client.Count() != 1 {
			t.Errorf("%d requests, want 1", client.Count())
		}
	})
}

// Whichever equal call goes first, in whatever order and company, whatever fails on
// the way, and wherever the run is cut in two: with a deterministic model every
// call gets the same answer, and no answer is paid for twice.
func TestResultsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		questions := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 25).Draw(rt, "questions")
		order := rapid.Permutation(indices(len(questions))).Draw(rt, "order")
		p := plan{
			concurrency: rapid.IntRange(1, 8).Draw(rt, "concurrency"),
			faults:      rapid.IntRange(0, 2).Draw(rt, "faults"),
			cut:         rapid.IntRange(0, len(questions)).Draw(rt, "cut"),
		}
		want := make(map[string]string)
		distinct := make(map[int]bool)
		for i, q := range questions {
			want[key(i)] = wise(fmt.Sprint("q", q))
			distinct[q] = true
		}
		got, paid := p.run(t, rt, questions, order)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("answers (-want +got):\n%s", diff)
		}
		if paid != len(distinct) {
			rt.Errorf("%d answers were paid for, want %d", paid, len(distinct))
		}
	})
}

// plan is how a property run is carried out.
type plan struct {
	concurrency int
	faults      int // failures before each answer
	cut         int // the run is resumed after so many calls
}

func (p plan) run(t *testing.T, rt *rapid.T, questions, order []int) (map[string]string, int) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		rt.Fatal(err)
	}
	got := make(map[string]string)
	paid := 0
	synctest.Test(t, func(t *testing.T) {
		client := &moody{faults: p.faults, tries: map[string]int{}}
		for _, part := range [][]int{order[:p.cut], order} {
			p.session(t, filepath.Join(dir, "run.db"), client, part, questions, got)
		}
		paid = client.paid
	})
	return got, paid
}

func (p plan) session(t *testing.T, path string, client model.Client, part, questions []int, got map[string]string) {
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	c, err := caller.New(caller.Options{Journal: j, Concurrency: p.concurrency, Roles: map[string]caller.Role{
		model.Target: {Client: client, Endpoint: "server", Model: "m", Sampling: model.Sampling{Temperature: &zero}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, i := range part {
		wg.Go(func() {
			resp, err := c.Do(t.Context(), ask(key(i), fmt.Sprint("q", questions[i])))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[key(i)] = resp.Text
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// moody fails a number of times before it answers a request.
type moody struct {
	faults int

	mu    sync.Mutex
	tries map[string]int
	paid  int
}

func (m *moody) Generate(_ context.Context, req model.Request) (model.Response, error) {
	<-time.After(10 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	q := last(req)
	m.tries[q]++
	if m.tries[q] <= m.faults {
		return model.Response{}, fail(model.Server)
	}
	m.paid++
	return model.Response{Text: wise(q), Finish: model.FinishStop}, nil
}

func wise(q string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(q)))[:12] }

func key(i int) string { return fmt.Sprintf("e1/s1/rollout/item%d/sample0", i) }

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A call that waited for an equal one is told of its failure under its own key.
func TestAFailureThatIsSharedHasTheKeyOfTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if _, err := slow(time.Second)(ctx, n, req); err != nil {
				return model.Response{}, err
			}
			return model.Response{}, fail(model.Waiting)
		}), nil)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				_, err := b.do(ask(fmt.Sprint("k", i), "q"))
				var later *caller.WaitingError
				if want := fmt.Sprintf("k%d/attempt0/turn0", i); !errors.As(err, &later) || later.Key != want {
					t.Errorf("got %v, want a *WaitingError of %s", err, want)
				}
			})
		}
		wg.Wait()
	})
}
