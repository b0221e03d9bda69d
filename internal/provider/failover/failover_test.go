package failover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// farm is a client over fakes that answer with their names.
type farm struct {
	*Client
	fakes []*modeltest.Fake

	mu     sync.Mutex
	events []string
}

// behaviour is what an endpoint does with its nth request.
type behaviour func(ctx context.Context, n int) (time.Duration, error)

func well(context.Context, int) (time.Duration, error) { return 0, nil }

func fails(codes ...model.Code) behaviour {
	return func(_ context.Context, n int) (time.Duration, error) {
		if n >= len(codes) || codes[n] == "" {
			return 0, nil
		}
		return 0, &model.Error{Code: codes[n], Endpoint: "host", Err: errors.New("scripted")}
	}
}

func always(code model.Code, hint time.Duration) behaviour {
	return func(context.Context, int) (time.Duration, error) {
		return 0, &model.Error{Code: code, RetryAfter: hint, Endpoint: "host", Err: errors.New("scripted")}
	}
}

func hangs(ctx context.Context, _ int) (time.Duration, error) {
	<-ctx.Done()
	return 0, model.Interrupted(ctx, "host")
}

func newFarm(t *testing.T, o Options, all ...behaviour) *farm {
	t.Helper()
	f := &farm{}
	for i, b := range all {
		name := string(rune('a' + i))
		fake := modeltest.New(func(ctx context.Context, n int, _ model.Request) (model.Response, error) {
			pause, err := b(ctx, n)
			if err != nil {
				return model.Response{}, err
			}
			return model.Response{Text: name, Finish: model.FinishStop, Pause: pause}, nil
		})
		f.fakes = append(f.fakes, fake)
		o.Endpoints = append(o.Endpoints, Endpoint{Name: name, Client: fake})
	}
	o.Warn = func(e Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.events = append(f.events, e.String())
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.Client = c
	return f
}

// ask makes n requests and returns who answered, or the classes of failures.
func (f *farm) ask(t *testing.T, n int) string {
	t.Helper()
	var got []string
	for range n {
		resp, err := f.Generate(t.Context(), model.Request{Model: "m"})
		if err != nil {
			got = append(got, string(model.CodeOf(err)))
			continue
		}
		got = append(got, resp.Text)
	}
	return strings.Join(got, " ")
}

func (f *farm) counts() []int {
	var n []int
	for _, fake := range f.fakes {
		n = append(n, fake.Count())
	}
	return n
}

func TestTurns(t *testing.T) {
	t.Parallel()
	f := newFarm(t, Options{}, well, well, well)
	if got := f.ask(t, 7); got != "a b c a b c a" {
		t.Errorf("answered by %s", got)
	}
	if one := newFarm(t, Options{}, well); one.ask(t, 2) != "a a" {
		t.Error("one endpoint has no turn")
	}
}

func TestTheNextOneIsAsked(t *testing.T) {
	t.Parallel()
	for _, code := range []model.Code{
		model.RateLimit, model.Overloaded, model.Server, model.Network, model.Timeout, model.Truncated, model.Malformed,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFarm(t, Options{}, fails(code), well)
			if got := f.ask(t, 1); got != "b" {
				t.Errorf("%s: answered by %s", code, got)
			}
			if diff := cmp.Diff([]int{1, 1}, f.counts()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", code, diff)
			}
		})
	}
}

func TestWhatTheNextOneWouldSayToo(t *testing.T) {
	t.Parallel()
	for _, code := range []model.Code{
		model.BadRequest, model.ContextLength, model.ContentFilter, model.Empty, model.Budget, model.Waiting,
	} {
		f := newFarm(t, Options{}, fails(code), well)
		if got := f.ask(t, 1); got != string(code) || f.fakes[1].Count() != 0 || len(f.events) != 0 {
			t.Errorf("%s: got %s, %d requests at the next one, events %v", code, got, f.fakes[1].Count(), f.events)
		}
	}
	odd := errors.New("not classified")
	f := newFarm(t, Options{}, func(context.Context, int) (time.Duration, error) { return 0, odd }, well)
	if _, err := f.Generate(t.Context(), model.Request{}); !errors.Is(err, odd) {
		t.Errorf("error %v", err)
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, fails(model.Server, model.Server, model.Server), well)
		start := time.Now()
		var tries []time.Duration // when a was asked
		for range 60 {
			before := f.fakes[0].Count()
			if got := f.ask(t, 1); got != "a" && got != "b" {
				t.Fatalf("got %s", got)
			}
			if f.fakes[0].Count() > before {
				tries = append(tries, time.Since(start))
			}
			<-time.After(250 * time.Millisecond)
		}
		// After one, two and four seconds, at the next request whose turn it is.
		want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}
		if diff := cmp.Diff(want, tries[:4]); diff != "" {
			t.Errorf("a was asked at (-want +got):\n%s", diff)
		}
		if len(tries) < 12 {
			t.Errorf("a was asked %d times: it does not get its turn again", len(tries))
		}
		wantEvents := []string{
			"a rests for 1s: server from host: scripted", "a rests for 2s: server from host: scripted", "a rests for 4s: server from host: scripted",
		}
		if diff := cmp.Diff(wantEvents, f.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestRestIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, always(model.Network, 0))
		for range 100 {
			_, err := f.Generate(t.Context(), model.Request{})
			var failure *model.Error
			if !errors.As(err, &failure) || failure.RetryAfter <= 0 || failure.RetryAfter > MaxRest {
				t.Fatalf("error %+v", err)
			}
			<-time.After(failure.RetryAfter)
		}
		if n := f.fakes[0].Count(); n != 100 {
			t.Errorf("asked %d times of 100", n)
		}
	})
}

func TestTheHintWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, always(model.RateLimit, 20*time.Second), well)
		f.ask(t, 1)
		<-time.After(19 * time.Second)
		f.ask(t, 5)
		if n := f.fakes[0].Count(); n != 1 {
			t.Errorf("asked %d times while it rests", n)
		}
		<-time.After(time.Second)
		f.ask(t, 2)
		if n := f.fakes[0].Count(); n != 2 {
			t.Errorf("asked %d times after its rest", n)
		}
	})
}

func TestAllFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, always(model.RateLimit, 9*time.Second), always(model.Overloaded, 4*time.Second))
		for i := range 3 { // the second and third find nobody to ask
			_, err := f.Generate(t.Context(), model.Request{})
			var failure *model.Error
			if !errors.As(err, &failure) || failure.Code != model.Overloaded || failure.RetryAfter != 4*time.Second || failure.Endpoint != "host" {
				t.Errorf("request %d: error %+v, want the hint of the first that is back", i, err)
			}
		}
		if diff := cmp.Diff([]int{1, 1}, f.counts()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestRetired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, fails(model.Auth), well, fails(model.NotFound))
		if got := f.ask(t, 5); got != "b b b b b" {
			t.Errorf("answered by %s", got)
		}
		if diff := cmp.Diff([]int{1, 5, 1}, f.counts()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		want := []string{"a is out: auth from host: scripted", "c is out: not_found from host: scripted"}
		if diff := cmp.Diff(want, f.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		h := f.Health()
		if h[0].Retired == nil || h[1].Retired != nil || h[2].Retired == nil {
			t.Errorf("health %+v", h)
		}
	})
}

func TestNoneIsLeft(t *testing.T) {
	t.Parallel()
	f := newFarm(t, Options{}, fails(model.NotFound), fails(model.Auth))
	for range 2 {
		_, err := f.Generate(t.Context(), model.Request{})
		if model.CodeOf(err) != model.Auth || !strings.Contains(err.Error(), "a: not_found") || !strings.Contains(err.Error(), "b: auth") {
			t.Errorf("error %v", err)
		}
	}
	if diff := cmp.Diff([]int{1, 1}, f.counts()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A retired endpoint beside one that rests is no reason to end the run.
func TestRetiredBesideResting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, fails(model.Server), fails(model.Auth))
		for range 2 {
			_, err := f.Generate(t.Context(), model.Request{})
			var failure *model.Error
			if !errors.As(err, &failure) || failure.Code != model.Server || failure.RetryAfter != DefaultRest {
				t.Errorf("error %+v", err)
			}
		}
		<-time.After(DefaultRest)
		if got := f.ask(t, 1); got != "a" {
			t.Errorf("answered by %s", got)
		}
	})
}

func TestPauseStallsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pauses := func(d time.Duration) behaviour {
			return func(context.Context, int) (time.Duration, error) { return d, nil }
		}
		f := newFarm(t, Options{}, pauses(10*time.Second), pauses(4*time.Second), well)
		var got []string
		for range 4 {
			resp, err := f.Generate(t.Context(), model.Request{})
			if err != nil || resp.Pause != 0 {
				t.Errorf("pause %s, %v, though c is well", resp.Pause, err)
			}
			got = append(got, resp.Text)
		}
		if want := []string{"a", "b", "c", "c"}; !slices.Equal(got, want) {
			t.Errorf("answered by %v, want %v", got, want)
		}
		both := newFarm(t, Options{}, pauses(10*time.Second), pauses(4*time.Second))
		first, _ := both.Generate(t.Context(), model.Request{})
		second, _ := both.Generate(t.Context(), model.Request{})
		if first.Pause != 0 || second.Pause != 4*time.Second {
			t.Errorf("pauses %s and %s, want none and that of the first that is back", first.Pause, second.Pause)
		}
		_, err := both.Generate(t.Context(), model.Request{})
		var failure *model.Error
		if !errors.As(err, &failure) || failure.Code != model.RateLimit || failure.RetryAfter != 4*time.Second {
			t.Errorf("error %+v", err)
		}
	})
}

func TestCutAnswersAreNoReasonToRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, fails(model.Truncated, model.Truncated, model.Truncated), well)
		for range 6 {
			if got := f.ask(t, 1); got != "b" && got != "a" {
				t.Fatalf("got %s", got)
			}
			<-time.After(time.Millisecond)
		}
		if diff := cmp.Diff([]int{3, 6}, f.counts()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if len(f.events) != 1 || !strings.HasPrefix(f.events[0], "a rests for 4s") {
			t.Errorf("events %v", f.events)
		}
	})
}

func TestTimeoutOfOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{Timeout: 3 * time.Second}, hangs, well)
		began := time.Now()
		if got := f.ask(t, 1); got != "b" || time.Since(began) != 3*time.Second {
			t.Errorf("answered by %s after %s", got, time.Since(began))
		}
	})
}

func TestTheCallersDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Options{}, hangs, well)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Generate(ctx, model.Request{})
		if model.CodeOf(err) != model.Timeout || f.fakes[1].Count() != 0 || len(f.events) != 0 {
			t.Errorf("error %v, events %v", err, f.events)
		}
		gone, stop := context.WithCancel(t.Context())
		stop()
		if _, err := f.Generate(gone, model.Request{}); !errors.Is(err, context.Canceled) || model.CodeOf(err) != "" {
			t.Errorf("error %v", err)
		}
		if h := f.Health(); h[0].Failures+h[1].Failures > 0 {
			t.Errorf("the caller's own deadline counts as a failure: %+v", h)
		}
	})
}

// Requests that were under way together and fail together are one failure.
func TestAVolleyIsOneFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := func(context.Context, int) (time.Duration, error) {
			<-time.After(time.Second)
			return 0, &model.Error{Code: model.Overloaded, Err: errors.New("busy")}
		}
		f := newFarm(t, Options{}, slow, well)
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() { _, _ = f.Generate(t.Context(), model.Request{}) })
		}
		wg.Wait()
		if h := f.Health(); h[0].Failures != 1 || len(f.events) != 1 {
			t.Errorf("%d failures, events %v", h[0].Failures, f.events)
		}
	})
}

func TestConcurrentRequestsAreAllAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flaky := func(_ context.Context, n int) (time.Duration, error) {
			<-time.After(10 * time.Millisecond)
			if n%7 == 3 {
				return 0, &model.Error{Code: model.Network, Err: errors.New("reset")}
			}
			return 0, nil
		}
		f := newFarm(t, Options{}, flaky, flaky, well)
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for range 10 {
					if _, err := f.Generate(t.Context(), model.Request{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestEveryAnswerIsFound: as long as one endpoint is well, requests are
// answered, and no endpoint is asked while it rests or after it is out.
func TestEveryAnswerIsFound(t *testing.T) {
	t.Parallel()
	codes := []model.Code{"", model.RateLimit, model.Server, model.Truncated, model.Auth}
	rapid.Check(t, func(rt *rapid.T) {
		script := func(name string) []model.Code {
			return rapid.SliceOfN(rapid.SampledFrom(codes), 0, 30).Draw(rt, name)
		}
		a, b := script("a"), script("b")
		steps := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 60).Draw(rt, "steps")
		run := func() string {
			var log []string
			now := time.Unix(0, 0)
			f := newFarm(t, Options{Now: func() time.Time { return now }}, fails(a...), fails(b...), well)
			for _, ms := range steps {
				resting := f.Health()
				before := f.counts()
				got := f.ask(t, 1)
				if len(got) != 1 {
					rt.Errorf("a request was not answered, though c is well: %s", got)
				}
				log = append(log, got)
				for i, n := range f.counts() {
					if n > before[i] && (resting[i].Retired != nil || now.Before(resting[i].Rests)) {
						rt.Errorf("%s was asked while it rests: %+v", resting[i].Name, resting[i])
					}
				}
				now = now.Add(time.Duration(ms) * time.Millisecond)
			}
			return fmt.Sprint(log, f.events)
		}
		first := run()
		if second := run(); second != first {
			rt.Errorf("two runs differ:\n%s\n%s", first, second)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	ok := Endpoint{Name: "a", Client: modeltest.Always("x")}
	for name, o := range map[string]Options{
		"none":     {},
		"no name":  {Endpoints: []Endpoint{{Client: ok.Client}}},
		"no one":   {Endpoints: []Endpoint{{Name: "a"}}},
		"twice":    {Endpoints: []Endpoint{ok, ok}},
		"timeout":  {Endpoints: []Endpoint{ok}, Timeout: -1},
		"no rest ": {Endpoints: []Endpoint{ok}, Rest: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
