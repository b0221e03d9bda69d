package schedule

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

func newCurriculum(t interface{ Fatal(...any) }, cfg CurriculumConfig) *Curriculum {
	c, err := NewCurriculum(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func strategy(s Strategy) CurriculumConfig {
	cfg := DefaultCurriculum()
	cfg.Strategy = s
	return cfg
}

// graded returns a curriculum of n tasks from easy (t000) to hard, and the keys.
func graded(t interface{ Fatal(...any) }, cfg CurriculumConfig, n int) (*Curriculum, []string) {
	c := newCurriculum(t, cfg)
	var keys []string
	for i := range n {
		key := fmt.Sprintf("t%03d", i)
		keys = append(keys, key)
		c.Update(key, 1-float64(i)/float64(n))
	}
	return c, keys
}

func TestCurriculumFollowsScores(t *testing.T) {
	t.Parallel()
	c := newCurriculum(t, DefaultCurriculum())
	c.Update("a", 1)
	c.UpdateBatch("a", []float64{0, 1})
	c.UpdateBatch("b", nil)
	got, known := c.Difficulty("a")
	if want := 0.3*0.5 + 0.7*1.0; math.Abs(got-want) > 1e-12 || !known {
		t.Errorf("mean of a = %v, %v; want %v", got, known, want)
	}
	if _, known := c.Difficulty("b"); known {
		t.Error("an empty list of scores made b known")
	}
	if got := c.Bin("b"); got != 2 {
		t.Errorf("an unknown task is in bin %d, not in the middle", got)
	}
}

func TestCurriculumRebinsEvery50Updates(t *testing.T) {
	t.Parallel()
	c := newCurriculum(t, DefaultCurriculum())
	for range 49 {
		c.Update("a", 0.5)
	}
	if s := c.State(); s.LastRebinCount != 0 || len(s.BinBoundaries) != 0 {
		t.Errorf("bins computed before update 50: %+v", s)
	}
	c.Update("b", 0.25)
	if s := c.State(); s.LastRebinCount != 50 || len(s.BinBoundaries) != 5 {
		t.Errorf("no bins at update 50: %+v", s)
	}
}

func TestRestoreRefusesWhatIsNoState(t *testing.T) {
	t.Parallel()
	c, _ := graded(t, DefaultCurriculum(), 20)
	c.Bin("t000")
	good := c.State()
	breakages := map[string]func(*CurriculumState){
		"strategy":   func(s *CurriculumState) { s.Strategy = "x" },
		"bins":       func(s *CurriculumState) { s.Bins = 0 },
		"boundaries": func(s *CurriculumState) { s.BinBoundaries = s.BinBoundaries[:2] },
		"no scores":  func(s *CurriculumState) { s.ItemScores["t000"] = [2]float64{0.5, 0} },
		"half score": func(s *CurriculumState) { s.ItemScores["t000"] = [2]float64{0.5, 1.5} },
	}
	for name, breakIt := range breakages {
		s := c.State()
		breakIt(&s)
		if _, err := RestoreCurriculum(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if diff := cmp.Diff(good, c.State()); diff != "" {
		t.Errorf("changing a state changed the curriculum (-want +got):\n%s", diff)
	}
}

func TestCurriculumResumes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := CurriculumConfig{
			Strategy:    rapid.SampledFrom([]Strategy{Uniform, EasyFirst, CompetenceBased}).Draw(t, "strategy"),
			Bins:        rapid.IntRange(1, 8).Draw(t, "bins"),
			Temperature: rapid.Float64Range(-1, 3).Draw(t, "temperature"),
			Alpha:       rapid.Float64Range(-0.5, 1.5).Draw(t, "alpha"),
		}
		a := newCurriculum(t, cfg)
		keys := []string{"a", "b", "c", "d", "e", "f", "g"}
		feed := func(c *Curriculum, label string) func(*Curriculum) {
			n := rapid.IntRange(0, 120).Draw(t, label)
			updates := rapid.SliceOfN(rapid.Float64Range(-1, 2), n, n).Draw(t, label+" scores")
			return func(c *Curriculum) {
				for i, score := range updates {
					c.Update(keys[i*i%len(keys)], score)
				}
			}
		}
		feed(a, "before")(a)
		saved, err := json.Marshal(a.State())
		if err != nil {
			t.Fatal(err)
		}
		var state CurriculumState
		if err := json.Unmarshal(saved, &state); err != nil {
			t.Fatal(err)
		}
		b, err := RestoreCurriculum(state)
		if err != nil {
			t.Fatal(err)
		}
		later := feed(a, "after")
		later(a)
		later(b)
		if diff := cmp.Diff(a.State(), b.State()); diff != "" {
			t.Fatalf("restored curriculum went elsewhere (-want +got):\n%s", diff)
		}
		at := Window{Step: 3, Total: 10}
		if diff := cmp.Diff(a.Draw(pyrand.New(1), keys, 9, at), b.Draw(pyrand.New(1), keys, 9, at)); diff != "" {
			t.Fatalf("restored curriculum draws differently (-want +got):\n%s", diff)
		}
	})
}

func TestProbabilitiesMoveWithProgress(t *testing.T) {
	t.Parallel()
	easy := newCurriculum(t, strategy(EasyFirst))
	start, end := easy.Probabilities(0, 10), easy.Probabilities(10, 10)
	if !slices.IsSortedFunc(start, func(a, b float64) int { return -cmpFloat(a, b) }) {
		t.Errorf("easy_first does not start with the easy: %v", start)
	}
	for _, p := range end {
		if math.Abs(p-0.2) > 1e-12 {
			t.Errorf("easy_first does not end uniform: %v", end)
		}
	}
	frontier := newCurriculum(t, strategy(CompetenceBased))
	for step, want := range map[int]int{0: 0, 5: 2, 10: 4, 99: 4, -1: 0} {
		p := frontier.Probabilities(step, 10)
		if got := slices.Index(p, slices.Max(p)); got != want {
			t.Errorf("frontier at step %d is bin %d, not %d", step, got, want)
		}
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestProbabilitiesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newCurriculum(t, CurriculumConfig{
			Strategy:    rapid.SampledFrom([]Strategy{Uniform, EasyFirst, CompetenceBased}).Draw(t, "strategy"),
			Bins:        rapid.IntRange(1, 30).Draw(t, "bins"),
			Temperature: rapid.Float64Range(0, 5).Draw(t, "temperature"),
		})
		step, total := rapid.IntRange(-5, 200).Draw(t, "step"), rapid.IntRange(0, 100).Draw(t, "total")
		for _, p := range [][]float64{c.Probabilities(step, total), c.applyTemperature(step, total)} {
			sum := 0.0
			for _, v := range p {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("probability %v", v)
				}
				sum += v
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%v add up to %v", p, sum)
			}
		}
	})
}

// The share of each bin in many draws must be its probability, within five
// standard errors.
func TestSampleBinFollowsProbabilities(t *testing.T) {
	t.Parallel()
	const draws = 20000
	for _, s := range []Strategy{Uniform, EasyFirst, CompetenceBased} {
		for _, temperature := range []float64{1, 0.5} {
			cfg := strategy(s)
			cfg.Temperature = temperature
			c := newCurriculum(t, cfg)
			want := c.applyTemperature(4, 10)
			rng := pyrand.New(7)
			counts := make([]int, cfg.Bins)
			for range draws {
				counts[c.SampleBin(rng, 4, 10)]++
			}
			for i, n := range counts {
				deviation := math.Sqrt(want[i] * (1 - want[i]) / draws)
				if got := float64(n) / draws; math.Abs(got-want[i]) > 5*deviation+1e-9 {
					t.Errorf("%s at temperature %v: bin %d came %.4f of the time, want %.4f", s, temperature, i, got, want[i])
				}
			}
		}
	}
}

func TestDrawDoesNotRepeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := strategy(rapid.SampledFrom([]Strategy{Uniform, EasyFirst, CompetenceBased}).Draw(t, "strategy"))
		cfg.Bins = rapid.IntRange(1, 8).Draw(t, "bins")
		c, keys := graded(t, cfg, rapid.IntRange(1, 40).Draw(t, "tracked"))
		for i := range rapid.IntRange(0, 10).Draw(t, "untracked") {
			keys = append(keys, fmt.Sprintf("new%d", i))
		}
		size := rapid.IntRange(0, 120).Draw(t, "size")
		seed := rapid.Int64().Draw(t, "seed")
		at := Window{Step: rapid.IntRange(0, 10).Draw(t, "step"), Total: 10}
		batch := c.Draw(pyrand.New(seed), keys, size, at)
		if len(batch) != size {
			t.Fatalf("%d of %d tasks", len(batch), size)
		}
		times := map[int]int{}
		for _, i := range batch {
			times[i]++
		}
		for i := range keys {
			if n := times[i]; n < size/len(keys) || n > (size+len(keys)-1)/len(keys) {
				t.Fatalf("task %d of %d came %d times in a batch of %d", i, len(keys), n, size)
			}
		}
		if diff := cmp.Diff(batch, c.Draw(pyrand.New(seed), keys, size, at)); diff != "" {
			t.Fatalf("the same seed draws differently:\n%s", diff)
		}
	})
}

func TestDrawPrefersByDifficulty(t *testing.T) {
	t.Parallel()
	c, keys := graded(t, strategy(CompetenceBased), 100)
	mean := func(step int) float64 {
		rng, sum, n := pyrand.New(3), 0, 0
		for range 50 {
			for _, i := range c.Draw(rng, keys, 10, Window{Step: step, Total: 10}) {
				sum += i
				n++
			}
		}
		return float64(sum) / float64(n)
	}
	early, middle, late := mean(0), mean(5), mean(10)
	if !(early < 25 && early < middle && middle < late && late > 55) {
		t.Errorf("mean rank of the tasks drawn: early %.1f, middle %.1f, late %.1f", early, middle, late)
	}
}

func TestDrawOfNothing(t *testing.T) {
	t.Parallel()
	c := newCurriculum(t, DefaultCurriculum())
	c.rebin()
	if got := c.State().BinBoundaries; len(got) != 0 {
		t.Errorf("bounds of nothing: %v", got)
	}
	if got := c.Draw(pyrand.New(1), nil, 5, Window{}); len(got) != 0 {
		t.Errorf("drew %v out of nothing", got)
	}
	if got := c.Draw(pyrand.New(1), []string{"a"}, -1, Window{}); len(got) != 0 {
		t.Errorf("drew %v for a negative size", got)
	}
}

func TestNearestFilled(t *testing.T) {
	t.Parallel()
	bins := [][]int{{1}, nil, nil, nil, {2}, nil}
	for from, want := range []int{0, 0, 0, 4, 4, 4} {
		if got := nearestFilled(bins, from); got != want {
			t.Errorf("nearest to %d is %d, want %d", from, got, want)
		}
	}
	if got := nearestFilled([][]int{nil, nil}, 1); got != 1 {
		t.Errorf("nothing is filled: %d", got)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	cfg := DefaultCurriculum()
	cfg.Bins = 2
	c := newCurriculum(t, cfg)
	if diff := cmp.Diff(map[string]float64{"curriculum/items_tracked": 0, "curriculum/strategy": 0}, c.Metrics()); diff != "" {
		t.Errorf("before any score (-want +got):\n%s", diff)
	}
	c.Update("a", 1)
	c.Update("b", 0)
	c.Update("c", 0.5)
	want := map[string]float64{
		"curriculum/items_tracked":   3,
		"curriculum/total_updates":   3,
		"curriculum/mean_difficulty": 0.5,
		"curriculum/max_difficulty":  1,
		"curriculum/min_difficulty":  0,
		"curriculum/bin_0_count":     1,
		"curriculum/bin_1_count":     2,
	}
	if diff := cmp.Diff(want, c.Metrics()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
