package gate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// world answers draws by a function of item, arm and sample: the hard score, or
// NaN for what is never measured.
type world func(item int, arm Arm, sample int) float64

func (w world) measure(_ context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
	y := w(item, arm, sample)
	if math.IsNaN(y) {
		return trajectory.Outcome{ID: fmt.Sprintf("i%d", item), Status: score.Unmeasured}, nil
	}
	return trajectory.Outcome{ID: fmt.Sprintf("i%d", item), Status: score.OK, Hard: y, Soft: y}, nil
}

// noisy is a world in which items succeed with the given chances, equal for
// equal seeds, items, arms and samples.
func noisy(seed uint64, candidate, incumbent []float64) world {
	return func(item int, arm Arm, sample int) float64 {
		p, stream := candidate, uint64(1)
		if arm == Incumbent {
			p, stream = incumbent, 2
		}
		rng := rand.New(rand.NewPCG(seed, uint64(item)<<20|uint64(sample)<<2|stream))
		if rng.Float64() < p[item] {
			return 1
		}
		return 0
	}
}

// fromWords answers by words, whatever the sample: digits are tenths, 1 is 1.
func fromWords(candidate, incumbent string) world {
	return func(item int, arm Arm, _ int) float64 {
		word := candidate
		if arm == Incumbent {
			word = incumbent
		}
		switch word[item] {
		case '1':
			return 1
		case 'x':
			return math.NaN()
		default:
			return float64(word[item]-'0') / 10
		}
	}
}

func run(t interface {
	Helper()
	Fatal(...any)
}, trial Trial, p Policy, w world,
) Result {
	t.Helper()
	got, err := Run(context.Background(), trial, p, w.measure)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNoWorse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		candidate string
		incumbent string
		known     string
		trial     func(*Trial)
		action    Action
		draws     map[Arm]int
		reason    string
		left      []string
	}{
		{
			name: "does no harm", candidate: "1010101010101010", known: "1010101010101010",
			action: Accept, draws: map[Arm]int{Candidate: 16},
			reason: "0.5000 against the current 0.5000 (difference +0.0000, standard error 0.0000) on 16 items: no more than a standard error behind",
		}, {
			name: "one item lost does no harm", candidate: "1010101010101000", known: "1010101010101010",
			action: Accept, draws: map[Arm]int{Candidate: 16},
			reason: "0.4375 against the current 0.5000 (difference -0.0625, standard error 0.0625) on 16 items: no more than a standard error behind",
		}, {
			name: "two items lost do", candidate: "1010101010100000", known: "1010101010101010",
			action: RejectEarly, draws: map[Arm]int{Candidate: 15},
			reason: "0.4000 against the current 0.5333 (difference -0.1333, standard error 0.0909) on 15 items: more than a standard error behind",
		}, {
			name: "two of ten items lost do", candidate: "1111000000", known: "1111100001",
			action: Reject, draws: map[Arm]int{Candidate: 10},
			reason: "0.4000 against the current 0.6000 (difference -0.2000, standard error 0.1333) on 10 items: more than a standard error behind",
		}, {
			name: "clearly behind", candidate: strings.Repeat("0", 40), known: strings.Repeat("1000", 10), trial: func(t *Trial) { t.Seed = 3 },
			action: RejectEarly, draws: map[Arm]int{Candidate: 12},
			reason: "0.0000 against the current 0.4167 (difference -0.4167, standard error 0.1486) on 12 items",
		}, {
			name: "the incumbent is measured where it is not known", candidate: "0000000000", incumbent: "1111111111",
			action: Reject, draws: map[Arm]int{Candidate: 10, Incumbent: 10}, reason: "0.0000 against the current 1.0000",
		}, {
			name: "one item is missing", candidate: "x111111111", known: "0001111111",
			action: Accept, draws: map[Arm]int{Candidate: 10}, left: []string{"i0"},
			reason: "1.0000 against the current 0.7778 (difference +0.2222, standard error 0.1470) on 9 items: no more than a standard error behind (without i0)",
		}, {
			name: "two items are missing", candidate: "xx11111111", known: "0001111111",
			action: Indecisive, left: []string{"i0", "i1"}, reason: "2 of 10 items could not be measured (without i0, i1)",
		}, {
			name: "a single item", candidate: "1", known: "0", action: Indecisive, reason: "1 of 1 pairs are too few to decide by",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			trial := Trial{Items: ids(len(tt.candidate)), Projection: hard()}
			if tt.known != "" {
				trial.Incumbent = outcomes(tt.known)
			}
			if tt.trial != nil {
				tt.trial(&trial)
			}
			v := run(t, trial, NoWorse{}, fromWords(tt.candidate, tt.incumbent)).Verdict
			if v.Action != tt.action || !strings.HasPrefix(v.Reason, tt.reason) {
				t.Errorf("%s: %s\nwant %s: %s", v.Action, v.Reason, tt.action, tt.reason)
			}
			if diff := cmp.Diff(tt.draws, v.Draws); diff != "" && tt.draws != nil {
				t.Errorf("draws (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, v.Unmeasured); diff != "" && tt.action != Indecisive {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

// Strict has the difference with its standard error, and counts a cluster once.
func TestClustersCountOnce(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Items: ids(8), Projection: hard(), Incumbent: outcomes("00000111"),
		Clusters: []string{"a", "a", "a", "a", "a", "", "b", ""},
	}
	// Five wins of one document against two losses elsewhere: as items the
	// candidate would be far ahead.
	v := run(t, trial, Strict{}, fromWords("11111001", "")).Verdict
	if !v.Action.Rejected() || math.Abs(*v.Difference+0.25) > 1e-12 || *v.Candidate-*v.Current != *v.Difference {
		t.Errorf("%s: %s, difference %v", v.Action, v.Reason, *v.Difference)
	}
	trial.Clusters = nil
	if v := run(t, trial, Strict{}, fromWords("11111001", "")).Verdict; v.Action != AcceptNewBest || *v.Difference != 0.375 || v.SE == nil || v.Draws[Candidate] != 8 {
		t.Errorf("as items: %s: %s", v.Action, v.Reason)
	}
}

func TestOrderIsStratified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		trial := Trial{Items: ids(n), Seed: rapid.Int64().Draw(t, "seed"), Types: make([]string, n)}
		total := map[string]int{}
		for i := range trial.Types {
			trial.Types[i] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "type")
			total[trial.Types[i]]++
		}
		seen, count := map[int]bool{}, map[string]int{}
		order := stratifyUnits(trial)
		for m, u := range order {
			seen[u[0]] = true
			count[trial.Types[u[0]]]++
			for typ, all := range total {
				share := float64(all) * float64(m+1) / float64(n)
				if math.Abs(float64(count[typ])-share) > 2.5 {
					t.Fatalf("after %d of %d: %d of type %s, even would be %.1f", m+1, n, count[typ], typ, share)
				}
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d items in the order", len(seen), n)
		}
		if diff := cmp.Diff(order, stratifyUnits(trial)); diff != "" {
			t.Fatalf("another order for the same seed:\n%s", diff)
		}
	})
}

// drawTrial makes a trial and a noisy world out of nothing.
func drawTrial(t *rapid.T) (Trial, Policy, []float64, []float64) {
	n := rapid.IntRange(3, 30).Draw(t, "n")
	chance := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n)
	trial := Trial{Items: ids(n), Projection: hard(), Seed: rapid.Int64().Draw(t, "order")}
	p := rapid.SampledFrom([]Policy{NoWorse{}, Strict{}, Strict{OrEqual: true}, Keep{Strict{}}}).Draw(t, "policy")
	return trial, p, chance.Draw(t, "candidate"), chance.Draw(t, "incumbent")
}

// Whatever order outcomes arrive in, and whatever was missing at first, a policy
// reads the same and decides the same.
func TestNoPolicyDependsOnArrival(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		trial, p, candidate, incumbent := drawTrial(rt)
		seed := rapid.Uint64().Draw(rt, "world")
		w := noisy(seed, candidate, incumbent)
		want := run(rt, trial, p, w)
		for arrival := range uint64(3) {
			synctest.Test(t, func(t *testing.T) {
				got, err := Run(t.Context(), trial, p, late(w, arrival))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("another arrival (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// late answers as w does, each draw after its own time and some only when asked
// again.
func late(w world, seed uint64) Measure {
	var mu sync.Mutex
	tries := map[Draw]int{}
	return func(ctx context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error) {
		mu.Lock()
		d := Draw{item, arm, sample}
		tries[d]++
		try := tries[d]
		mu.Unlock()
		rng := rand.New(rand.NewPCG(seed, uint64(item)<<20|uint64(sample)<<4|uint64(len(arm))))
		timer := time.NewTimer(time.Duration(rng.IntN(1000)) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return trajectory.Outcome{}, ctx.Err()
		}
		if try <= rng.IntN(6)-3 {
			return trajectory.Outcome{Status: score.Unmeasured}, nil
		}
		return w.measure(ctx, item, arm, sample)
	}
}

// What is not measured never counts: the verdict is that of the trial without
// the item, up to its name in the report.
func TestMissingItemsNeverCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trial, p, candidate, incumbent := drawTrial(t)
		n := len(trial.Items)
		w := noisy(rapid.Uint64().Draw(t, "world"), candidate, incumbent)
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		arm := rapid.SampledFrom([]Arm{Candidate, Incumbent}).Draw(t, "arm")
		got := run(t, trial, p, func(item int, a Arm, sample int) float64 {
			if item == gone && a == arm {
				return math.NaN()
			}
			return w(item, a, sample)
		})
		v := got.Verdict
		known := trial.Past[arm] != nil && trial.Past[arm][gone].N > 0
		if p := got.Pooled[arm][gone]; !known && (p != Pooled{}) || known && p != trial.Past[arm][gone] {
			t.Fatalf("an item that nobody measured has %+v", p)
		}
		if !known && v.N >= n {
			t.Fatalf("%d of %d items count though one was not measured", v.N, n)
		}
		asked := false
		for _, reading := range got.Readings {
			asked = asked || !reading.Outcome.Status.Measured()
		}
		if named := len(v.Unmeasured) > 0; asked && !named && v.Action != RejectEarly {
			t.Fatalf("the missing item is not named: %+v", v)
		}
	})
}

func TestImpossibleEvidenceIsRefused(t *testing.T) {
	t.Parallel()
	for name, trial := range map[string]Trial{
		"types":    {Types: []string{"a"}},
		"clusters": {Clusters: []string{"a"}},
		"past":     {Past: map[Arm][]Pooled{Incumbent: {{1, 1}}}},
		"next":     {Next: map[Arm][]int{Candidate: {1}}},
		"nan":      {Past: map[Arm][]Pooled{Incumbent: {{math.NaN(), 1}, {0, 1}}}},
		"no n":     {Past: map[Arm][]Pooled{Candidate: {{1, 0}, {0, 1}}}},
		"minus":    {Past: map[Arm][]Pooled{Candidate: {{1, -1}, {0, 1}}}},
	} {
		trial.Items = ids(2)
		if _, err := Run(t.Context(), trial, NoWorse{}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
