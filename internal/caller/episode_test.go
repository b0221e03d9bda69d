package caller_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func episode(key string) caller.EpisodeCall {
	return caller.EpisodeCall{
		Key: key, Stage: model.StageRollout, Role: model.Target, Seed: 9,
		Shared: [][]byte{[]byte("the skill"), []byte("the environment")}, Own: []byte(`{"id":"item1"}`),
	}
}

func result(text string) caller.EpisodeResult { return caller.EpisodeResult{Data: []byte(text)} }

// talk asks the model n times and returns what it said last.
func talk(n int) func(context.Context, model.Client) (caller.EpisodeResult, error) {
	return func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		var text string
		for i := range n {
			resp, err := client.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: fmt.Sprint("turn ", i)}}})
			if err != nil {
				return caller.EpisodeResult{}, err
			}
			text = resp.Text
		}
		return result(text), nil
	}
}

// What was cut within an episode counts the same whether it was made now or in an
// earlier session; what was cut in a try that failed counts in neither.
func TestCutRepliesOfEpisodesCountAfterAResume(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
		resp := model.Response{Text: "half", Finish: model.FinishStop}
		if n%2 == 0 {
			resp.Finish = model.FinishLength
		}
		return resp, nil
	}), nil)
	failed := errors.New("the ground gave way")
	_, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
		_, err := talk(2)(ctx, c)
		return caller.EpisodeResult{}, errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	for _, session := range []string{"first", "resumed"} {
		if _, err := b.Episode(t.Context(), episode("ep"), talk(4)); err != nil {
			t.Fatal(err)
		}
		if share, n := b.LengthShare(model.Target); share != 0.5 || n != 4 {
			t.Errorf("%s: %v of %d replies were cut, want 0.5 of 4", session, share, n)
		}
		b.resume(nil)
	}
}

func TestAnEpisodeIsRecordedAsAWhole(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	runs := 0
	for range 2 {
		got, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
			runs++
			return talk(3)(ctx, c)
		})
		if err != nil || string(got) != "re: turn 2" {
			t.Fatalf("%q, %v", got, err)
		}
		b.resume(nil)
	}
	if runs != 1 || client.Count() != 3 {
		t.Errorf("%d runs with %d requests, want 1 with 3", runs, client.Count())
	}
	if req := client.Calls()[0].Request; *req.Seed != 9 || req.Model != "m" || req.Tags.Stage != "rollout" {
		t.Errorf("sent %+v", req)
	}
	sum := b.Stats().Sum
	if sum.Calls != 3 || sum.Episodes != 1 || sum.Lost.Calls != 0 || sum.Usage.Input != 300 {
		t.Errorf("stats %+v", sum)
	}
	for name, change := range map[string]func(*caller.EpisodeCall){
		"shared part 1":       func(c *caller.EpisodeCall) { c.Shared = [][]byte{[]byte("new skill"), c.Shared[1]} },
		"the episode's input": func(c *caller.EpisodeCall) { c.Own = []byte("item2") },
		"seed":                func(c *caller.EpisodeCall) { c.Seed = 10 },
	} {
		call := episode("ep")
		change(&call)
		_, err := b.Episode(t.Context(), call, talk(1))
		var diverged *caller.DivergedError
		if !errors.As(err, &diverged) || !strings.Contains(diverged.Part, name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAFailedEpisodeIsRunAgainAndItsSpendLost(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	broken := errors.New("the workspace broke")
	for try := range 3 {
		_, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
			if _, err := talk(2)(ctx, c); err != nil {
				return caller.EpisodeResult{}, err
			}
			if try < 2 {
				return caller.EpisodeResult{}, broken
			}
			return result("done"), nil
		})
		if try < 2 && !errors.Is(err, broken) || try == 2 && err != nil {
			t.Fatalf("try %d: %v", try, err)
		}
		if try == 1 {
			b.resume(nil)
		}
	}
	if sum := b.Stats().Sum; sum.Calls != 6 || sum.Lost.Calls != 4 || sum.Lost.Usage.Input != 400 {
		t.Errorf("stats %+v", sum)
	}
}

// An environment that turns a failure of infrastructure into a score has
// measured nothing.
func TestAnEpisodeThatHidesAFailureIsNotRecorded(t *testing.T) {
	t.Parallel()
	hide := func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
		_, _ = talk(1)(ctx, c)
		return result(`{"hard":0}`), nil
	}
	tests := []struct {
		name   string
		client model.Client
		want   error
	}{
		{"empty answers", modeltest.Always(""), caller.ErrUnmeasured},
		{"refused key", modeltest.Script(modeltest.Fails(model.Auth)), &caller.StoppedError{}},
	}
	for _, tt := range tests {
		b := setup(t, tt.client, nil)
		_, err := b.Episode(t.Context(), episode("ep"), hide)
		var stopped *caller.StoppedError
		if !errors.Is(err, tt.want) && !errors.As(err, &stopped) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if ok := b.journal.Has("ep"); ok {
			t.Errorf("%s: it was recorded", tt.name)
		}
	}
}

// Whoever stops the run hard cuts a request off: an environment that makes a score
// of that has measured nothing either.
func TestAnEpisodeThatHidesAStopIsNotRecorded(t *testing.T) {
	t.Parallel()
	life, stop := context.WithCancel(t.Context())
	b := setup(t, modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
		stop()
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	}), func(o *caller.Options) { o.Lifetime = life })
	_, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
		_, _ = talk(1)(ctx, c)
		return result(`{"hard":0}`), nil
	})
	if !errors.Is(err, context.Canceled) || b.Recorded("ep") {
		t.Errorf("got %v; recorded: %v", err, b.Recorded("ep"))
	}
}

func TestLimitsOfTheTaskAreTheEpisodesBusiness(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.Script(modeltest.Fails(model.ContextLength), modeltest.Text(""), modeltest.Text("x")), nil)
	got, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
		_, err := c.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: "long"}}})
		var limit *caller.TaskLimitError
		if !errors.As(err, &limit) || model.CodeOf(err) != model.ContextLength {
			t.Errorf("got %v", err)
		}
		return talk(1)(ctx, c)
	})
	if err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if ok := b.journal.Has("ep"); !ok {
		t.Error("it was not recorded")
	}
}

func TestAnEpisodeUnderWayMayFinishAfterStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if n == 1 {
				return model.Response{}, fail(model.Server)
			}
			return slow(time.Second)(ctx, n, req)
		})
		b := setup(t, client, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.Episode(t.Context(), episode("ep"), talk(4)); err != nil {
				t.Errorf("the episode under way: %v", err)
			}
		})
		synctest.Wait()
		b.Stop()
		if _, err := b.Episode(t.Context(), episode("new"), talk(1)); !errors.Is(err, caller.ErrStopping) {
			t.Errorf("a new episode: %v", err)
		}
		wg.Wait()
	})
}

func TestTheDeadlineOfAnEpisodeIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modeltest.New(slow(time.Hour)), nil)
		got, err := b.Episode(t.Context(), episode("ep"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if _, err := talk(1)(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			return result("out of time"), nil
		})
		if err != nil || string(got) != "out of time" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Tokens that went past the client count for the sums and the ceilings, unless
// the client has counted them.
func TestReportedTokensOfAnEpisodeCount(t *testing.T) {
	t.Parallel()
	reports := func(n int) func(context.Context, model.Client) (caller.EpisodeResult, error) {
		return func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
			res, err := talk(n)(ctx, c)
			res.Usage = trajectory.Usage{Input: 600, Output: 50, Cached: 100}
			return res, err
		}
	}
	ceiling := int64(1300)
	b := setup(t, modeltest.New(echo), nil)
	b.resume(func(o *caller.Options) {
		o.Limits.Tokens = &ceiling
		b.role(model.Target, func(r *caller.Role) { r.Price = &caller.Price{Rates: caller.Rates{Input: 2, Output: 10, Cached: 1}} })(o)
	})
	if _, err := b.Episode(t.Context(), episode("through the client"), reports(1)); err != nil {
		t.Fatal(err)
	}
	if sum := b.Stats().Sum; sum.Usage.Input != 100 || sum.Calls != 1 {
		t.Errorf("counted twice: %+v", sum)
	}
	for _, key := range []string{"a", "b", "b"} { // the last is answered from the record
		if _, err := b.Episode(t.Context(), episode(key), reports(0)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		sum := b.Stats().Sum
		// 100 tokens in, 40 of them cached, and 10 out; twice 600, 100 cached, and 50.
		want := int64(1000 * (2*60 + 40 + 10*10 + 2*(2*500+100+10*50)))
		if sum.Usage.Input != 1300 || sum.Usage.Output != 110 || sum.CostNano != want || sum.Unpriced != 0 || sum.Calls != 1 || sum.Episodes != 3 {
			t.Errorf("stats %+v, want a cost of %d", sum, want)
		}
		var budget *caller.BudgetError
		if _, err := b.Episode(t.Context(), episode("c"), reports(0)); !errors.As(err, &budget) || budget.Limit != "limits.tokens" || budget.Used != 1410 {
			t.Errorf("beyond the ceiling: %v", err)
		}
		b.resume(nil)
	}
}

func TestTheClientOfAnEpisodeEndsWithIt(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(echo), nil)
	var kept model.Client
	if _, err := b.Episode(t.Context(), episode("ep"), func(_ context.Context, c model.Client) (caller.EpisodeResult, error) {
		kept = c
		return result("done"), nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := talk(1)(t.Context(), kept); err == nil {
		t.Error("a call after the end of the episode was made")
	}
}

func TestGivenUpItemsStayGivenUp(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	b := setup(t, client, nil)
	decide := func(text string) error {
		return b.Unmeasured(t.Context(), "e1/s1/gate/decision", []byte(text), []string{"e1/s1/gate/item1", "e1/s1/gate/ep", "e1/s1/gate/item1"}[:2])
	}
	for range 2 {
		if err := decide("without two"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.do(ask("e1/s1/gate/item1", "q")); !errors.Is(err, caller.ErrUnmeasured) {
			t.Errorf("call: %v", err)
		}
		if _, err := b.Episode(t.Context(), episode("e1/s1/gate/ep"), talk(1)); !errors.Is(err, caller.ErrUnmeasured) {
			t.Errorf("episode: %v", err)
		}
		b.resume(nil)
	}
	if client.Count() != 0 {
		t.Errorf("%d requests were sent", client.Count())
	}
	// An id may hold slashes, which make it no part of another item.
	for _, key := range []string{"e1/s1/gate/item10", "e1/s1/gate/item1/2", "e1/s1/gate", "x"} {
		if _, err := b.do(ask(key, "q")); err != nil {
			t.Errorf("%s was not given up: %v", key, err)
		}
	}
	var diverged *caller.DivergedError
	if err := decide("without three"); !errors.As(err, &diverged) {
		t.Errorf("another decision under the same key: %v", err)
	}
}

// An episode may be on record when its item is given up: its score could not be
// had. In a fork it may be one that was taken over and does not fit. In the next
// session the item is given up all the same, and in a fork it can be had again.
func TestAnItemWithARecordedEpisodeStaysGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(echo), nil)
	if _, err := b.Episode(t.Context(), episode("ep"), talk(1)); err != nil {
		t.Fatal(err)
	}
	for session := range 3 {
		if err := b.Unmeasured(t.Context(), "decision", []byte("without ep"), []string{"ep"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Episode(t.Context(), episode("ep"), talk(1)); !errors.Is(err, caller.ErrUnmeasured) {
			t.Errorf("session %d: %v", session, err)
		}
		b.resume(nil)
	}
	fork := filepath.Join(t.TempDir(), "fork.db")
	if err := b.journal.CopyTo(t.Context(), fork, b.journal.HighWater()); err != nil {
		t.Fatal(err)
	}
	b.path = fork
	b.resume(func(o *caller.Options) { o.Forked = true })
	if _, err := b.Episode(t.Context(), episode("ep"), nil); err != nil {
		t.Errorf("the fork does not have the episode: %v", err)
	}
	other := episode("ep")
	other.Own = []byte("another item")
	if err := b.Unmeasured(t.Context(), "decision", []byte("without ep"), []string{"ep"}); err != nil {
		t.Fatal(err)
	}
	b.resume(nil)
	if _, err := b.Episode(t.Context(), other, talk(1)); !errors.Is(err, caller.ErrUnmeasured) {
		t.Errorf("the fork resumed: %v", err)
	}
}

func TestADecisionIsMadeOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, modeltest.New(echo), nil)
	made := 0
	decide := func() ([]byte, error) {
		made++
		return fmt.Appendf(nil, "decision %d", made), nil
	}
	broken := errors.New("no clock")
	if _, err := b.Decision(t.Context(), "d", func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		got, err := b.Decision(t.Context(), "d", decide)
		if err != nil || string(got) != "decision 1" {
			t.Errorf("%q, %v", got, err)
		}
		b.resume(nil)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Decision(done, "e", decide); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := b.Unmeasured(done, "f", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestUnmeasurable(t *testing.T) {
	t.Parallel()
	plain := errors.New("the process died")
	if err := caller.Unmeasurable(plain); !errors.Is(err, caller.ErrUnmeasured) || !errors.Is(err, plain) {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{nil, &caller.StoppedError{Err: plain}, &caller.BudgetError{}, caller.ErrStopping, &caller.UnmeasuredError{Key: "k", Err: plain}} {
		if got := caller.Unmeasurable(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// Time in queues and between tries is told apart from that of the model.
func TestEpisodesKnowHowLongTheyWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := false
		b := setup(t, modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
			<-time.After(10 * time.Second)
			if !failed {
				failed = true
				return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: time.Minute, Err: errors.New("later")}
			}
			return model.Response{Text: "a", Finish: model.FinishStop}, nil
		}), func(o *caller.Options) { o.Patience = time.Hour })
		var waited time.Duration
		_, err := b.Episode(t.Context(), caller.EpisodeCall{Key: "k", Role: model.Target, Own: []byte("{}")}, func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
			_, err := c.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: "q"}}})
			waited = c.(interface{ Waited() time.Duration }).Waited()
			return caller.EpisodeResult{Data: []byte("{}")}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if waited < 70*time.Second || waited > 3*time.Minute {
			t.Errorf("waited %s: one failed try of 10s and a minute after it", waited)
		}
	})
}
