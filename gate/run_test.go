package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ids(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("i%d", i)
	}
	return items
}

// outcomes turns a word into outcomes: 1 and 0 are hard scores, a is a failure
// of the agent, anything else is missing.
func outcomes(word string) []trajectory.Outcome {
	list := make([]trajectory.Outcome, len(word))
	for i, mark := range word {
		o := trajectory.Outcome{ID: fmt.Sprintf("i%d", i), Status: score.Unmeasured}
		switch mark {
		case '1':
			o.Status, o.Hard, o.Soft = score.OK, 1, 1
		case '0':
			o.Status, o.Soft = score.OK, 0.5
		case 'a':
			o.Status = score.AgentError
		}
		list[i] = o
	}
	return list
}

// bench measures from words, as outcomes reads them, and writes down what it
// was asked for.
type bench struct {
	candidate, incumbent string
	available            int // missing items are there from this try on; 0: never

	mu    sync.Mutex
	tries map[Draw]int
}

func (b *bench) measure(_ context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tries == nil {
		b.tries = map[Draw]int{}
	}
	d := Draw{item, arm, sample}
	b.tries[d]++
	word := b.candidate
	if arm == Incumbent {
		word = b.incumbent
	}
	o := outcomes(word)[item]
	if !o.Status.Measured() && b.available > 0 && b.tries[d] >= b.available {
		o.Status, o.Hard, o.Soft = score.OK, 1, 1
	}
	return o, nil
}

func (b *bench) calls() int {
	n := 0
	for _, tries := range b.tries {
		n += tries
	}
	return n
}

func hard() score.Projection { return score.Projection{Metric: score.Hard} }

func number(f float64) *float64 { return &f }

func TestStrict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		candidate string // as measured
		known     string // outcomes of the incumbent from before
		incumbent string // as measured, where it is
		best      string
		orEqual   bool
		want      Verdict
		calls     int
	}{
		{
			name: "better", candidate: "1110", known: "1100",
			want:  Verdict{Action: AcceptNewBest, Candidate: number(0.75), Current: number(0.5), Best: number(0.5), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.5000 on 4 items"},
			calls: 4,
		}, {
			name: "better, not the best", candidate: "1110", known: "1100", best: "1110",
			want:  Verdict{Action: Accept, Candidate: number(0.75), Current: number(0.5), Best: number(0.75), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.5000 on 4 items"},
			calls: 4,
		}, {
			name: "tie", candidate: "1010", known: "1100",
			want:  Verdict{Action: Reject, Candidate: number(0.5), Current: number(0.5), Best: number(0.5), Mean: &score.Pair{Hard: 0.5, Soft: 0.75}, N: 4, Reason: "0.5000 is not above the current 0.5000 on 4 items"},
			calls: 4,
		}, {
			name: "tie that may pass", candidate: "1010", known: "1100", orEqual: true,
			want:  Verdict{Action: Accept, Candidate: number(0.5), Current: number(0.5), Best: number(0.5), Mean: &score.Pair{Hard: 0.5, Soft: 0.75}, N: 4, Reason: "0.5000 is no worse than the current 0.5000 on 4 items"},
			calls: 4,
		}, {
			name: "a failure of the agent scores 0", candidate: "aa00", known: "1100",
			want:  Verdict{Action: Reject, Candidate: number(0), Current: number(0.5), Best: number(0.5), Mean: &score.Pair{Hard: 0, Soft: 0.25}, N: 4, Reason: "0.0000 is not above the current 0.5000 on 4 items"},
			calls: 4,
		}, {
			name: "zero against zero", candidate: "0000", known: "0000",
			want:  Verdict{Action: Reject, Candidate: number(0), Current: number(0), Best: number(0), Mean: &score.Pair{Hard: 0, Soft: 0.5}, N: 4, Reason: "0.0000 is not above the current 0.0000 on 4 items"},
			calls: 4,
		}, {
			name: "incumbent never measured", candidate: "1110", incumbent: "1000",
			want:  Verdict{Action: AcceptNewBest, Candidate: number(0.75), Current: number(0.25), Best: number(0.25), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.2500 on 4 items"},
			calls: 8,
		}, {
			name: "only what the incumbent lacks is measured", candidate: "1110", known: "1x00", incumbent: "0100",
			want:  Verdict{Action: AcceptNewBest, Candidate: number(0.75), Current: number(0.5), Best: number(0.5), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.5000 on 4 items"},
			calls: 5,
		}, {
			name: "both on what both have", candidate: "111x", known: "1001",
			want:  Verdict{Action: AcceptNewBest, Candidate: number(1), Current: number(1. / 3), Best: number(1. / 3), Mean: &score.Pair{Hard: 1, Soft: 1}, N: 3, Unmeasured: []string{"i3"}, Reason: "1.0000 is above the current 0.3333 on 3 items (without i3)"},
			calls: 6,
		}, {
			name: "a missing item can turn the verdict", candidate: "x011", known: "0111",
			want:  Verdict{Action: Reject, Candidate: number(2. / 3), Current: number(1), Best: number(1), Mean: &score.Pair{Hard: 2. / 3, Soft: 2.5 / 3}, N: 3, Unmeasured: []string{"i0"}, Reason: "0.6667 is not above the current 1.0000 on 3 items (without i0)"},
			calls: 6,
		}, {
			name: "too much is missing", candidate: "xx11", known: "0000",
			want:  Verdict{Action: Indecisive, Candidate: number(1), Current: number(0), Best: number(0), Mean: &score.Pair{Hard: 1, Soft: 1}, N: 2, Unmeasured: []string{"i0", "i1"}, Reason: "only 2 of 4 items were measured (without i0, i1)"},
			calls: 8,
		}, {
			name: "missing in different arms adds up", candidate: "x111", known: "000x", incumbent: "000x",
			want:  Verdict{Action: Indecisive, Candidate: number(1), Current: number(0), Best: number(0), Mean: &score.Pair{Hard: 1, Soft: 1}, N: 2, Unmeasured: []string{"i0", "i3"}, Reason: "only 2 of 4 items were measured (without i0, i3)"},
			calls: 9,
		}, {
			name: "nothing is there", candidate: "xxxxxxx", known: "1111111",
			want:  Verdict{Action: Indecisive, Unmeasured: ids(7), Reason: "only 0 of 7 items were measured (without i0, i1, i2, i3, i4 and 2 more)"},
			calls: 21,
		}, {
			name: "best is compared where both were measured", candidate: "1110", known: "1000", best: "111x",
			want:  Verdict{Action: Accept, Candidate: number(0.75), Current: number(0.25), Best: number(1), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.2500 on 4 items"},
			calls: 4,
		}, {
			name: "best was never measured", candidate: "1110", known: "1000", best: "xxxx",
			want:  Verdict{Action: AcceptNewBest, Candidate: number(0.75), Current: number(0.25), Mean: &score.Pair{Hard: 0.75, Soft: 0.875}, N: 4, Reason: "0.7500 is above the current 0.2500 on 4 items"},
			calls: 4,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{candidate: tt.candidate, incumbent: tt.incumbent}
			trial := Trial{Items: ids(len(tt.candidate)), Projection: hard()}
			if tt.known != "" {
				trial.Incumbent = outcomes(tt.known)
			}
			if tt.best != "" {
				trial.Best = outcomes(tt.best)
			}
			got, err := Run(t.Context(), trial, Strict{OrEqual: tt.orEqual}, b.measure)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Verdict, cmpopts.EquateApprox(0, 1e-12), cmpopts.IgnoreFields(Verdict{}, "Difference", "SE", "Draws")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if b.calls() != tt.calls {
				t.Errorf("%d measurements, want %d", b.calls(), tt.calls)
			}
			if diff := cmp.Diff(outcomes(tt.candidate), got.Candidate); diff != "" {
				t.Errorf("outcomes of the candidate (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, candidate, known, best string
		action                       Action
		reason                       string
	}{
		{"the first is the best", "0000", "", "", AcceptNewBest, "scored 0.0000 on 4 items; every candidate is accepted"},
		{"better", "1100", "1000", "", AcceptNewBest, "scored 0.5000 on 4 items; every candidate is accepted"},
		{"tie", "1000", "1000", "", Accept, "scored 0.2500 on 4 items; every candidate is accepted"},
		{"worse", "0000", "1000", "", Accept, "scored 0.0000 on 4 items; every candidate is accepted"},
		{"better than current only", "1100", "1000", "1110", Accept, "scored 0.5000 on 4 items; every candidate is accepted"},
		{"one item is missing", "x111", "1000", "", AcceptNewBest, "scored 1.0000 on 3 items; every candidate is accepted (without i0)"},
		{"too lucky to be the best", "xx11", "1000", "", Accept, "only 2 of 4 items were measured (without i0, i1); accepted without a claim"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{candidate: tt.candidate}
			trial := Trial{Items: ids(4), Projection: hard()}
			if tt.known != "" {
				trial.Incumbent = outcomes(tt.known)
			}
			if tt.best != "" {
				trial.Best = outcomes(tt.best)
			}
			got, err := Run(t.Context(), trial, Observe{}, b.measure)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict.Action != tt.action || got.Verdict.Reason != tt.reason {
				t.Errorf("%s: %s", got.Verdict.Action, got.Verdict.Reason)
			}
			for d := range b.tries {
				if d.Arm != Candidate {
					t.Errorf("measured the incumbent: %+v", d)
				}
			}
		})
	}
}

func TestOffMeasuresNothing(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), Trial{Items: ids(3)}, Off{}, func(context.Context, int, Arm, int) (trajectory.Outcome, error) {
		t.Error("something was measured")
		return trajectory.Outcome{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Verdict{Action: AcceptNewBest, Reason: "not scored; every candidate is accepted"}
	if diff := cmp.Diff(want, got.Verdict); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if draws := (Off{}).Next(nil); len(draws) != 0 {
		t.Errorf("asks for %v", draws)
	}
}

func TestMissingIsDrawnAgain(t *testing.T) {
	t.Parallel()
	for from, wantN := range map[int]int{1: 4, 2: 4, 3: 4, 4: 3} {
		b := &bench{candidate: "1x11", available: from}
		got, err := Run(t.Context(), Trial{Items: ids(4), Projection: hard(), Incumbent: outcomes("0000")}, Strict{}, b.measure)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict.N != wantN {
			t.Errorf("there from try %d on: decided on %d items, want %d", from, got.Verdict.N, wantN)
		}
		if tries := b.tries[Draw{1, Candidate, 0}]; tries != min(from, 1+MaxRedraws) {
			t.Errorf("there from try %d on: drawn %d times", from, tries)
		}
		if tries := b.tries[Draw{0, Candidate, 0}]; tries != 1 {
			t.Errorf("an item that was there was drawn %d times", tries)
		}
	}
}

func TestScoreOfAnUnmeasuredOutcomeIsNotKept(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), Trial{Items: ids(3), Projection: hard()}, Observe{}, func(_ context.Context, item int, _ Arm, _ int) (trajectory.Outcome, error) {
		o := trajectory.Outcome{Status: score.OK}
		if item == 1 {
			o = trajectory.Outcome{Status: score.Unmeasured, Hard: 1, Soft: 1, FailReason: "server: gone"}
		}
		return o, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if *got.Verdict.Candidate != 0 || got.Verdict.N != 2 {
		t.Errorf("%+v", got.Verdict)
	}
	if r := got.Readings[1].Outcome; r.Hard != 0 || r.FailReason != "server: gone" {
		t.Errorf("reading of the missing item: %+v", r)
	}
}

func TestDensityWeighsIn(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Items:      ids(2),
		Incumbent:  outcomes("10"),
		Projection: score.Projection{Metric: score.Hard, DensityWeight: 1},
		Density:    Density{Candidate: 0.25, Incumbent: 0.125, Best: 0.5},
	}
	got, err := Run(t.Context(), trial, Strict{}, (&bench{candidate: "01"}).measure)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Action != AcceptNewBest || *v.Candidate != 0.75 || *v.Current != 0.625 || *v.Best != 0.625 {
		t.Errorf("%s: %v against %v and %v", v.Action, *v.Candidate, *v.Current, *v.Best)
	}
	trial.Best = outcomes("10")
	got, err = Run(t.Context(), trial, Strict{}, (&bench{candidate: "01"}).measure)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Action != Accept || *v.Best != 1 {
		t.Errorf("%s against a best of %v", v.Action, *v.Best)
	}
}

func TestErrorEndsTheTrial(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	_, err := Run(t.Context(), Trial{Items: ids(50), Projection: hard()}, Strict{}, func(ctx context.Context, item int, _ Arm, _ int) (trajectory.Outcome, error) {
		if item == 7 {
			return trajectory.Outcome{}, broken
		}
		<-ctx.Done() // the others learn of it
		return trajectory.Outcome{}, ctx.Err()
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `item "i7"`) {
		t.Errorf("error: %v", err)
	}
}

// later says that an outcome comes later.
type later struct{}

func (later) Error() string { return "no answer yet" }
func (later) ComesLater()   {}

func TestWhatComesLaterEndsTheTrialWhenAllIsAsked(t *testing.T) {
	t.Parallel()
	const n = 20
	var asked atomic.Int64
	all := make(chan struct{})
	_, err := Run(t.Context(), Trial{Items: ids(n), Projection: hard()}, Strict{}, func(ctx context.Context, item int, _ Arm, _ int) (trajectory.Outcome, error) {
		if asked.Add(1) == 2*n { // both arms
			close(all)
		}
		if item < 3 {
			return trajectory.Outcome{}, later{}
		}
		select {
		case <-all: // which they only are when nobody was ended
		case <-ctx.Done():
			return trajectory.Outcome{}, ctx.Err()
		}
		return outcomes("1")[0], nil
	})
	if !errors.As(err, new(later)) || asked.Load() != 2*n {
		t.Errorf("error %v after %d draws, want all %d and one that comes later", err, asked.Load(), 2*n)
	}
}

func TestCancelledContextEndsTheTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stopped) })
		_, err := Run(ctx, Trial{Items: ids(3), Projection: hard()}, Strict{}, func(ctx context.Context, _ int, _ Arm, _ int) (trajectory.Outcome, error) {
			<-ctx.Done()
			return trajectory.Outcome{}, context.Cause(ctx)
		})
		if !errors.Is(err, stopped) {
			t.Errorf("error: %v", err)
		}
	})
}

func TestEarlierOutcomesMustFit(t *testing.T) {
	t.Parallel()
	swapped := outcomes("10")
	swapped[0], swapped[1] = swapped[1], swapped[0]
	nameless := outcomes("10")
	nameless[0].ID = ""
	tests := []struct {
		name  string
		trial Trial
		ok    bool
	}{
		{"too many", Trial{Incumbent: outcomes("100")}, false},
		{"mixed up", Trial{Incumbent: swapped}, false},
		{"mixed up candidate", Trial{Candidate: swapped}, false},
		{"mixed up best", Trial{Best: swapped}, false},
		{"without ids", Trial{Incumbent: nameless}, true},
	}
	for _, tt := range tests {
		tt.trial.Items = ids(2)
		_, err := Run(t.Context(), tt.trial, Off{}, nil)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestNoItemsIsIndecisive(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), Trial{Projection: hard()}, Strict{}, nil)
	if err != nil || got.Verdict.Action != Indecisive || got.Verdict.Candidate != nil {
		t.Errorf("%+v, %v", got.Verdict, err)
	}
}

// firstFailure rejects at the first failure in the order of its draws.
type firstFailure struct{ rounds int }

func (p firstFailure) Next(e *Evidence) []Draw {
	draws := e.OpenDraws(Candidate)
	return draws[:min(len(draws), (len(e.Trial.Items)+p.rounds-1)/p.rounds)]
}

func (p firstFailure) Judge(e *Evidence) (Verdict, bool) {
	n := len(e.Readings)
	if n > 0 && e.Readings[n-1].Outcome.Hard == 0 {
		return Verdict{Action: Reject, N: n}, true
	}
	return Verdict{Action: Accept, N: n}, e.Open(Candidate) == 0
}

// Whatever order outcomes arrive in, a policy that stops early reads the same
// prefix, and what comes after it neither counts nor stays in flight.
func TestVerdictDoesNotDependOnArrival(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		word   string
		want   Verdict
		rounds int
	}{
		{"1110110", Verdict{Action: Reject, N: 4}, 1},
		{"1110110", Verdict{Action: Reject, N: 4}, 3},
		{"11111111", Verdict{Action: Accept, N: 8}, 3},
		{"1x11110", Verdict{Action: Reject, N: 2}, 1},
	} {
		for seed := range int64(20) {
			synctest.Test(t, func(t *testing.T) {
				rng := pyrand.New(seed)
				delays := make([]time.Duration, len(tt.word))
				for i := range delays {
					delays[i] = time.Duration(rng.RandBelow(1000)) * time.Millisecond
				}
				b := &bench{candidate: tt.word}
				got, err := Run(t.Context(), Trial{Items: ids(len(tt.word))}, firstFailure{tt.rounds}, func(ctx context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
					timer := time.NewTimer(delays[item])
					defer timer.Stop()
					select {
					case <-timer.C:
					case <-ctx.Done():
						return trajectory.Outcome{}, ctx.Err()
					}
					return b.measure(ctx, item, arm, sample)
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got.Verdict, cmpopts.IgnoreFields(Verdict{}, "Difference", "SE", "Draws")); diff != "" {
					t.Errorf("%s, seed %d (-want +got):\n%s", tt.word, seed, diff)
				}
				if len(got.Readings) != tt.want.N {
					t.Errorf("%s, seed %d: %d readings", tt.word, seed, len(got.Readings))
				}
			})
		}
	}
}

// One draw at a time, none is made in vain; several at once, no more than these.
func TestAtOnceBoundsWhatIsDrawnInVain(t *testing.T) {
	t.Parallel()
	for atOnce, most := range map[int]int{1: 1, 3: 3, 700: 700, 0: DefaultAtOnce} {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{candidate: "0" + strings.Repeat("1", 999)}
			var asked atomic.Int64
			got, err := Run(t.Context(), Trial{Items: ids(1000), AtOnce: atOnce}, firstFailure{1}, func(ctx context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
				asked.Add(1)
				if item > 0 { // the first one decides
					<-ctx.Done()
					return trajectory.Outcome{}, ctx.Err()
				}
				synctest.Wait()
				return b.measure(ctx, item, arm, sample)
			})
			if err != nil || got.Verdict.Action != Reject {
				t.Fatalf("%+v, %v", got.Verdict, err)
			}
			if asked.Load() != int64(most) {
				t.Errorf("%d at once: %d draws, want %d", atOnce, asked.Load(), most)
			}
		})
	}
}

// repeated asks for a second sample of the first item.
type repeated struct{}

func (repeated) Next(*Evidence) []Draw { return []Draw{{0, Candidate, 0}, {0, Candidate, 1}} }
func (repeated) Judge(e *Evidence) (Verdict, bool) {
	return Verdict{Action: Reject, N: len(e.Readings)}, len(e.Readings) == 2
}

func TestSamplesOfAnItem(t *testing.T) {
	t.Parallel()
	b := &bench{candidate: "10"}
	got, err := Run(t.Context(), Trial{Items: ids(2)}, repeated{}, b.measure)
	if err != nil || len(b.tries) != 2 || got.Readings[1].Sample != 1 {
		t.Errorf("%+v, %v", got.Readings, err)
	}
	if got.Candidate[1].Status != score.Unmeasured {
		t.Errorf("an item that nobody drew: %+v", got.Candidate[1])
	}
}

// fixed asks for the same draws for ever.
type fixed []Draw

func (f fixed) Next(*Evidence) []Draw             { return f }
func (fixed) Judge(*Evidence) (_ Verdict, _ bool) { return }

func TestImpossibleDrawsAreRefused(t *testing.T) {
	t.Parallel()
	for _, p := range []fixed{nil, {{Item: 2, Arm: Candidate}}, {{Item: -1, Arm: Candidate}}, {{Arm: "third"}}, {{Arm: Incumbent, Sample: -1}}} {
		if _, err := Run(t.Context(), Trial{Items: ids(2)}, p, (&bench{candidate: "11"}).measure); err == nil {
			t.Errorf("%v: no error", p)
		}
	}
}

// Turning a failure of the candidate into a success never makes the verdict
// worse, and an unmeasured item is never read as a score.
func TestStrictIsMonotone(t *testing.T) {
	t.Parallel()
	rank := map[Action]int{Reject: 0, Accept: 1, AcceptNewBest: 2}
	marks := rapid.SampledFrom([]rune{'0', '1', 'a'})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		word := func(name string) []rune { return rapid.SliceOfN(marks, n, n).Draw(t, name) }
		candidate, trial := word("candidate"), Trial{
			Items:      ids(n),
			Incumbent:  outcomes(string(word("incumbent"))),
			Best:       outcomes(string(word("best"))),
			Projection: hard(),
		}
		decide := func(w []rune) Verdict {
			got, err := Run(context.Background(), trial, Strict{}, (&bench{candidate: string(w)}).measure)
			if err != nil {
				t.Fatal(err)
			}
			return got.Verdict
		}
		before := decide(candidate)
		i := rapid.IntRange(0, n-1).Draw(t, "improved")
		improved := append([]rune{}, candidate...)
		improved[i] = '1'
		if after := decide(improved); rank[after.Action] < rank[before.Action] {
			t.Fatalf("one more success turns %s into %s", before.Action, after.Action)
		}
		improved[i] = 'x'
		if after := decide(improved); after.Candidate != nil && (after.N != n-1 || len(after.Unmeasured) != 1) {
			t.Fatalf("a missing item counts: %+v", after)
		}
	})
}

func BenchmarkStrict(b *testing.B) {
	const n = 2000
	trial := Trial{Items: ids(n), Incumbent: outcomes(strings.Repeat("10", n/2)), Projection: hard()}
	one := trajectory.Outcome{Status: score.OK, Hard: 1, Soft: 1}
	for b.Loop() {
		_, err := Run(b.Context(), trial, Strict{}, func(context.Context, int, Arm, int) (trajectory.Outcome, error) { return one, nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}
