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

func race(t interface {
	Helper()
	Fatal(...any)
}, trial Trial, r Race, w world,
) Result {
	t.Helper()
	got, err := Run(context.Background(), trial, r, w.measure)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		candidate string
		incumbent string
		known     string
		race      Race
		trial     func(*Trial)
		action    Action
		phase     Phase
		draws     map[Arm]int
		reason    string
		left      []string
	}{
		{
			name: "ahead everywhere", candidate: "1111111111111111", known: "0000000000000000",
			action: AcceptNewBest, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 20, Incumbent: 4},
			incumbent: "0000000000000000",
			reason:    "1.0000 against the current 0.0000 (difference +1.0000, standard error 0.0000) on 16 items: ahead by more than 2.5 standard errors",
		}, {
			name: "ahead everywhere, answers alike", candidate: "1111111111111111", known: "0000000000000000",
			trial:  func(t *Trial) { t.Deterministic = true },
			action: AcceptNewBest, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "1.0000 against the current 0.0000 (difference +1.0000, standard error 0.0000) on 16 items: the bar is 0 standard errors",
		}, {
			name: "does nothing", candidate: "1010101010101010", known: "1010101010101010",
			action: Reject, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "0.5000 against the current 0.5000 (difference +0.0000, standard error 0.0000) on 16 items: not ahead",
		}, {
			name: "does no harm", candidate: "1010101010101010", known: "1010101010101010", race: Race{NonInferior: true},
			action: Accept, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "0.5000 against the current 0.5000 (difference +0.0000, standard error 0.0000) on 16 items: no more than a standard error behind",
		}, {
			name: "one item lost does no harm", candidate: "1010101010101000", known: "1010101010101010", race: Race{NonInferior: true},
			action: Accept, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "0.4375 against the current 0.5000 (difference -0.0625, standard error 0.0625) on 16 items: no more than a standard error behind",
		}, {
			name: "two items lost do", candidate: "1010101010100000", known: "1010101010101010", race: Race{NonInferior: true},
			action: RejectEarly, phase: PhaseRace, draws: map[Arm]int{Candidate: 15},
			reason: "0.4000 against the current 0.5333 (difference -0.1333, standard error 0.0909) after 15 of 16 items: too far behind to catch up",
		}, {
			name: "two of ten items lost do", candidate: "1111000000", known: "1111100001", race: Race{NonInferior: true},
			action: Reject, phase: PhaseRace, draws: map[Arm]int{Candidate: 10},
			reason: "0.4000 against the current 0.6000 (difference -0.2000, standard error 0.1333) on 10 items: more than a standard error behind",
		}, {
			name: "clearly behind", candidate: strings.Repeat("0", 40), known: strings.Repeat("1000", 10), trial: func(t *Trial) { t.Seed = 3 },
			action: RejectEarly, phase: PhaseRace, draws: map[Arm]int{Candidate: 12},
			reason: "0.0000 against the current 0.4167 (difference -0.4167, standard error 0.1486) after 12 of 40 items: too far behind to catch up",
		}, {
			name: "cannot win any more", candidate: "0000000000", known: "1111111111",
			action: RejectEarly, phase: PhaseRace, draws: map[Arm]int{Candidate: 1},
			reason: "0.0000 against the current 1.0000 (difference -1.0000) after 1 of 10 items: even a perfect rest would not put it ahead",
		}, {
			name: "the incumbent is measured where it is not known", candidate: "0000000000", incumbent: "1111111111",
			action: RejectEarly, phase: PhaseRace, draws: map[Arm]int{Candidate: 5, Incumbent: 5},
			reason: "0.0000 against the current 1.0000 (difference -1.0000, standard error 0.0000) after 5 of 10 items: even a perfect rest would not put it ahead",
		}, {
			name: "only where they differ", candidate: "1111110000", known: "0001110000", incumbent: "0001110000", race: Race{Confirm: ConfirmDiscordant, Risk: 0.5},
			action: AcceptNewBest, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 13, Incumbent: 3},
			reason: "0.6000 against the current 0.3000 (difference +1.0000, standard error 0.5774) on 10 items: the bar is 0.5 standard errors",
		}, {
			name: "a lucky race is not confirmed", candidate: "1111110000", known: "0001110000", incumbent: "1111110000", race: Race{Confirm: ConfirmDiscordant},
			action: Reject, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 13, Incumbent: 3},
			reason: "0.6000 against the current 0.4500 (difference +0.0000, standard error 0.0000) on 10 items: the bar is 0 standard errors",
		}, {
			name: "dropped by fresh samples of the incumbent", candidate: "1111110000", known: "0000000000", incumbent: "1111111111",
			action: Reject, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 20, Incumbent: 10}, trial: func(t *Trial) {
				t.Past = map[Arm][]Pooled{Incumbent: past("1111000000", 1)}
			},
			reason: "0.6000 against the current 0.7000 (difference -0.1000, standard error 0.1247) on 10 items: behind with fresh samples",
		}, {
			name: "measured noise: decisive in the race", candidate: "1111111111111111", known: "1111111111100000", race: Race{Confirm: ConfirmMeasured, Risk: 0.5},
			action: AcceptNewBest, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "1.0000 against the current 0.6875 (difference +0.3125, standard error 0.1197) on 16 items: ahead by more than 2 standard errors",
		}, {
			name: "measured noise: not decisive", candidate: "1111111111111111", known: "1111111111111000", incumbent: "1111111111111111", race: Race{Confirm: ConfirmMeasured, Risk: 0.5},
			action: AcceptNewBest, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 32, Incumbent: 16},
			reason: "1.0000 against the current 0.9062 (difference +0.0938, standard error 0.0504) on 16 items: the bar is 0.5 standard errors",
		}, {
			name: "measured noise: there was none", candidate: "1111111111111111", known: "1111111111111100", race: Race{Confirm: ConfirmMeasured, Risk: 0.5},
			trial:  func(t *Trial) { t.Quiet = true },
			action: AcceptNewBest, phase: PhaseRace, draws: map[Arm]int{Candidate: 16},
			reason: "1.0000 against the current 0.8750 (difference +0.1250, standard error 0.0854) on 16 items: the bar is 0.5 standard errors",
		}, {
			name: "one item is missing", candidate: "x111111111", known: "0001111111", race: Race{Confirm: ConfirmNone},
			action: AcceptNewBest, phase: PhaseRace, draws: map[Arm]int{Candidate: 10}, left: []string{"i0"},
			reason: "1.0000 against the current 0.7778 (difference +0.2222, standard error 0.1470) on 9 items: the bar is 0 standard errors (without i0)",
		}, {
			name: "two items are missing", candidate: "xx11111111", known: "0001111111", race: Race{Confirm: ConfirmNone},
			action: Indecisive, phase: PhaseRace, left: []string{"i0", "i1"},
			reason: "2 of 10 items could not be measured (without i0, i1)",
		}, {
			name: "no fresh sample of one item", candidate: "1111111110", known: "0001111110", incumbent: "0x01111110", race: Race{Risk: 0.5},
			action: AcceptNewBest, phase: PhaseConfirm, draws: map[Arm]int{Candidate: 20, Incumbent: 10}, left: []string{"i1"},
			reason: "0.9000 against the current 0.6000 (difference +0.3000, standard error 0.1528) on 10 items: the bar is 0.5 standard errors (without i1)",
		}, {
			name: "nothing answers any more", candidate: "1111111110", known: "0001111110", incumbent: "xxxxxxxxxx", race: Race{Risk: 0.5},
			action: Indecisive, phase: PhaseConfirm, reason: "3 of 10 items could not be measured afresh",
			left: nil,
		}, {
			name: "a single item", candidate: "1", known: "0",
			action: Indecisive, phase: PhaseRace, reason: "1 of 1 pairs are too few to decide by",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			trial := Trial{Items: ids(len(tt.candidate)), Projection: hard()}
			if tt.known != "" {
				trial.Incumbent = outcomes(tt.known)
			}
			if tt.trial != nil {
				tt.trial(&trial)
			}
			got := race(t, trial, tt.race, fromWords(tt.candidate, tt.incumbent))
			v := got.Verdict
			if v.Action != tt.action || v.Phase != tt.phase || !strings.HasPrefix(v.Reason, tt.reason) {
				t.Errorf("%s in the %s: %s\nwant %s in the %s: %s", v.Action, v.Phase, v.Reason, tt.action, tt.phase, tt.reason)
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

// past turns a word into n equal evaluations an item.
func past(word string, n int) []Pooled {
	out := make([]Pooled, len(word))
	for i, mark := range word {
		if mark != 'x' {
			out[i] = Pooled{N: n}
		}
		if mark == '1' {
			out[i].Sum = float64(n)
		}
	}
	return out
}

func TestRacePoolsAndNumbersSamples(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Items: ids(4), Projection: hard(), Incumbent: outcomes("0001"),
		Past: map[Arm][]Pooled{Incumbent: {{1, 4}, {0, 4}, {0, 4}, {4, 4}}},
		Next: map[Arm][]int{Incumbent: {4, 7, 4, 4}, Candidate: {0, 2, 0, 0}},
	}
	got := race(t, trial, Race{Confirm: ConfirmFull}, fromWords("1101", "0001"))
	want := map[Arm][]Pooled{
		Candidate: {{2, 2}, {2, 2}, {0, 2}, {2, 2}},
		Incumbent: {{1, 5}, {0, 5}, {0, 5}, {5, 5}},
	}
	if diff := cmp.Diff(want, got.Pooled); diff != "" {
		t.Errorf("pooled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[Arm][]int{Candidate: {2, 4, 2, 2}, Incumbent: {5, 8, 5, 5}}, got.Next); diff != "" {
		t.Errorf("sample numbers (-want +got):\n%s", diff)
	}
	if v := got.Verdict; *v.Candidate != 0.75 || *v.Current != 0.3 || math.Abs(*v.Difference-0.45) > 1e-12 || *v.Mean != (score.Pair{Hard: 0.75, Soft: 0.75}) {
		t.Errorf("%+v", v)
	}
	seen := map[Draw]bool{}
	for i, r := range got.Readings {
		if seen[r.Draw] {
			t.Errorf("drawn twice: %+v", r.Draw)
		}
		seen[r.Draw] = true
		if i >= 4 && (r.Arm == Candidate) != (i%2 == 0) {
			t.Errorf("the arms do not take turns: %+v at %d", r.Draw, i)
		}
	}
	if got.Candidate[1].Status != score.OK {
		t.Errorf("the first sample known of an item is not its outcome: %+v", got.Candidate[1])
	}
	if diff := cmp.Diff([]Pooled{{1, 4}, {0, 4}, {0, 4}, {4, 4}}, trial.Past[Incumbent]); diff != "" {
		t.Errorf("the trial was changed:\n%s", diff)
	}
}

func TestRaceAgainstTheBest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		best string
		past []Pooled
		want Action
		at   float64
	}{
		{"1100", nil, AcceptNewBest, 0.5},
		{"1111", nil, Accept, 1},
		{"1111", past("1000", 3), AcceptNewBest, 0.25},
		{"xxxx", nil, AcceptNewBest, math.NaN()},
	} {
		trial := Trial{Items: ids(4), Projection: hard(), Incumbent: outcomes("1000"), Best: outcomes(tt.best)}
		if tt.past != nil {
			trial.Past = map[Arm][]Pooled{BestSkill: tt.past}
		}
		v := race(t, trial, Race{Confirm: ConfirmNone}, fromWords("1110", "")).Verdict
		if v.Action != tt.want {
			t.Errorf("best %s: %s, want %s", tt.best, v.Action, tt.want)
		}
		if (v.Best == nil) != math.IsNaN(tt.at) || v.Best != nil && *v.Best != tt.at {
			t.Errorf("best %s: score %v, want %v", tt.best, v.Best, tt.at)
		}
	}
}

func TestRaceWeighsDensity(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Items: ids(2), Incumbent: outcomes("10"), Deterministic: true,
		Projection: score.Projection{Metric: score.Hard, DensityWeight: 1},
		Density:    Density{Candidate: 0.25, Incumbent: 0.125},
	}
	v := race(t, trial, Race{}, fromWords("10", "")).Verdict
	if v.Action != AcceptNewBest || *v.Candidate != 0.75 || *v.Current != 0.625 || *v.Difference != 0.125 {
		t.Errorf("%s: %v", v.Action, v.Reason)
	}
}

func TestClustersCountOnce(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Items: ids(8), Projection: hard(), Incumbent: outcomes("00000111"), Deterministic: true,
		Clusters: []string{"a", "a", "a", "a", "a", "", "b", ""},
	}
	// Five wins of one document against two losses elsewhere: as items the
	// candidate would be far ahead.
	v := race(t, trial, Race{}, fromWords("11111001", "")).Verdict
	if !v.Action.Rejected() {
		t.Errorf("%s: %s", v.Action, v.Reason)
	}
	trial.Clusters = nil
	if v := race(t, trial, Race{}, fromWords("11111001", "")).Verdict; v.Action != AcceptNewBest || *v.Difference != 0.375 {
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
		order := stratified(trial)
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
		if diff := cmp.Diff(order, stratified(trial)); diff != "" {
			t.Fatalf("another order for the same seed:\n%s", diff)
		}
	})
}

// drawTrial makes a trial and a noisy world out of nothing.
func drawTrial(t *rapid.T) (Trial, Race, []float64, []float64) {
	n := rapid.IntRange(3, 30).Draw(t, "n")
	chance := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n)
	trial := Trial{Items: ids(n), Projection: hard(), Seed: rapid.Int64().Draw(t, "order")}
	if rapid.Bool().Draw(t, "known") {
		trial.Past = map[Arm][]Pooled{Incumbent: make([]Pooled, n)}
		for i := range n {
			k := rapid.IntRange(0, 3).Draw(t, "evaluations")
			trial.Past[Incumbent][i] = Pooled{Sum: float64(rapid.IntRange(0, k).Draw(t, "sum")), N: k}
		}
	}
	r := Race{
		Risk:        rapid.SampledFrom([]float64{0, 0.5, 1.5}).Draw(t, "risk"),
		Confirm:     rapid.SampledFrom([]Confirm{ConfirmFull, ConfirmDiscordant, ConfirmNone, ConfirmAuto}).Draw(t, "confirm"),
		NonInferior: rapid.Bool().Draw(t, "non-inferior"),
	}
	return trial, r, chance.Draw(t, "candidate"), chance.Draw(t, "incumbent")
}

// Whatever order outcomes arrive in, and whatever was missing at first, a race
// reads the same and decides the same.
func TestRaceDoesNotDependOnArrival(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		trial, r, candidate, incumbent := drawTrial(rt)
		seed := rapid.Uint64().Draw(rt, "world")
		w := noisy(seed, candidate, incumbent)
		want := race(rt, trial, r, w)
		for arrival := range uint64(3) {
			synctest.Test(t, func(t *testing.T) {
				got, err := Run(t.Context(), trial, r, late(w, arrival))
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

// Before all items are read a race rejects or goes on, and it never accepts a
// candidate that is not ahead.
func TestRaceOnlyRejects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trial, r, candidate, incumbent := drawTrial(t)
		v := race(t, trial, r, noisy(rapid.Uint64().Draw(t, "world"), candidate, incumbent)).Verdict
		switch {
		case v.Action == RejectEarly && (v.Phase != PhaseRace || *v.Difference >= 0 && *v.Candidate > *v.Current):
			t.Fatalf("rejected early: %+v", v)
		case v.Action.Accepted() && (v.N != len(trial.Items) || v.Draws[Candidate] < v.N):
			t.Fatalf("accepted after %d of %d items", v.N, len(trial.Items))
		case v.Action.Accepted() && !r.NonInferior && *v.Difference <= 0:
			t.Fatalf("accepted behind: %+v", v)
		}
	})
}

func TestDoingNothingIsRejected(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trial, r, scores, _ := drawTrial(t)
		trial.Past, r.NonInferior = nil, false
		trial.Deterministic = rapid.Bool().Draw(t, "alike")
		k := rapid.IntRange(0, 4).Draw(t, "evaluations")
		if k > 0 {
			trial.Past = map[Arm][]Pooled{Incumbent: make([]Pooled, len(scores))}
		}
		for i, y := range scores { // summed up as they came, with all rounding
			for range k {
				trial.Past[Incumbent][i].Sum += y
				trial.Past[Incumbent][i].N++
			}
		}
		v := race(t, trial, r, func(item int, _ Arm, _ int) float64 { return scores[item] }).Verdict
		if v.Action != Reject && v.Action != RejectEarly {
			t.Fatalf("%s: %s", v.Action, v.Reason)
		}
	})
}

// What is not measured never counts: the verdict is that of the trial without
// the item, up to its name in the report.
func TestMissingItemsNeverCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trial, r, candidate, incumbent := drawTrial(t)
		n := len(trial.Items)
		w := noisy(rapid.Uint64().Draw(t, "world"), candidate, incumbent)
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		arm := rapid.SampledFrom([]Arm{Candidate, Incumbent}).Draw(t, "arm")
		got := race(t, trial, r, func(item int, a Arm, sample int) float64 {
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
		"nan":      {Past: map[Arm][]Pooled{BestSkill: {{math.NaN(), 1}, {0, 1}}}},
		"no n":     {Past: map[Arm][]Pooled{Candidate: {{1, 0}, {0, 1}}}},
		"minus":    {Past: map[Arm][]Pooled{Candidate: {{1, -1}, {0, 1}}}},
	} {
		trial.Items = ids(2)
		if _, err := Run(t.Context(), trial, Race{}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkRace(b *testing.B) {
	const n = 2000
	p := make([]float64, n)
	for i := range p {
		p[i] = 0.5
	}
	trial := Trial{Items: ids(n), Past: map[Arm][]Pooled{Incumbent: past(strings.Repeat("10", n/2), 1)}, Projection: hard()}
	w := noisy(1, p, p)
	for b.Loop() {
		if _, err := Run(b.Context(), trial, Race{NonInferior: true}, w.measure); err != nil {
			b.Fatal(err)
		}
	}
}
