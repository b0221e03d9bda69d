package schedule

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseMode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want Mode
		ok   bool
	}{
		{"constant", Constant, true},
		{" Cosine ", Cosine, true},
		{"autonomous", Unlimited, true},
		{"unlimited", Unlimited, true},
		{"exp", "", false},
		{"", "", false},
		{"model", "", false},
	}
	for _, tt := range tests {
		got, err := ParseMode(tt.name)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseMode(%q) = %q, %v", tt.name, got, err)
		}
	}
}

func TestBudgetSteps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  BudgetConfig
		want []int
	}{
		{"constant", BudgetConfig{Constant, 4, 2, 3}, []int{4, 4, 4, 4}},
		{"linear", BudgetConfig{Linear, 29, 19, 5}, []int{27, 25, 23, 21, 19, 19}},
		{"cosine", BudgetConfig{Cosine, 32, 0, 5}, []int{29, 21, 11, 3, 0, 0}},
		{"halves round to even", BudgetConfig{Linear, 4, 0, 8}, []int{4, 3, 2, 2, 2, 1, 0, 0}},
		{"one step", BudgetConfig{Cosine, 4, 2, 1}, []int{4, 4}},
		{"unlimited", BudgetConfig{Unlimited, 4, 2, 3}, []int{NoLimit, NoLimit}},
	}
	for _, tt := range tests {
		b, err := NewBudget(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for range tt.want {
			got = append(got, b.Step())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if b.At(0) != b.At(-3) {
			t.Errorf("%s: step -3 differs from step 0", tt.name)
		}
	}
	if b, err := NewBudget(BudgetConfig{Mode: "autonomous"}); err == nil {
		t.Errorf("an alias is taken for a mode: %v", b)
	}
}

func TestBudgetResumes(t *testing.T) {
	t.Parallel()
	cfg := BudgetConfig{Cosine, 20, 2, 9}
	a, _ := NewBudget(cfg)
	a.Step()
	a.Step()
	b, _ := NewBudget(cfg)
	b.Restore(a.State())
	for range 8 {
		if x, y := a.Step(), b.Step(); x != y {
			t.Fatalf("restored schedule gives %d, the original %d", y, x)
		}
	}
}

func TestBudgetStaysInBoundsAndFalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(0, 50).Draw(t, "min")
		cfg := BudgetConfig{
			Mode:  rapid.SampledFrom([]Mode{Constant, Linear, Cosine}).Draw(t, "mode"),
			Min:   low,
			Max:   rapid.IntRange(low, 100).Draw(t, "max"),
			Total: rapid.IntRange(0, 300).Draw(t, "total"),
		}
		b, err := NewBudget(cfg)
		if err != nil {
			t.Fatal(err)
		}
		last := cfg.Max
		for step := range cfg.Total + 2 {
			got := b.At(step)
			if got < cfg.Min || got > last {
				t.Fatalf("%+v: %d at step %d after %d", cfg, got, step, last)
			}
			last = got
		}
		if cfg.Mode != Constant && cfg.Total > 1 && last != cfg.Min {
			t.Fatalf("%+v ends at %d", cfg, last)
		}
	})
}

func TestCoerceBudget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want int
		ok   bool
	}{
		{nil, 0, false},
		{true, 0, false},
		{7, 7, true},
		{-7, 0, true},
		{2.9, 2, true},
		{-2.9, 0, true},
		{math.NaN(), 0, false},
		{math.Inf(1), 0, false},
		{1e300, math.MaxInt, true},
		{json.Number("12"), 12, true},
		{json.Number("2.5"), 2, true},
		{json.Number("1e3"), 1000, true},
		{json.Number("1e999"), 0, false},
		{json.Number("99999999999999999999"), math.MaxInt, true},
		{"about 3 or 4", 3, true},
		{"minus -3", 0, true},
		{"none", 0, false},
		{"\u0663", 3, true},
		{"\U0001d7d8\U0001d7e3", 1, true}, // two styles of mathematical digits: 0, then 1
		{[]any{1}, 0, false},
	}
	for _, tt := range tests {
		got, ok := CoerceBudget(tt.in)
		if got != tt.want || ok != tt.ok {
			t.Errorf("CoerceBudget(%#v) = %d, %v; want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseControl(t *testing.T) {
	t.Parallel()
	tests := map[string]Control{
		"": Fixed, "manual": Fixed, "Scheduler": Fixed, "scheduled\n\x1f": Fixed, "fixed": Fixed, "autonomous": Autonomous, "auto": Autonomous, "optimizer": Autonomous, " NONE": None, "no_lr": None, "off": None,
	}
	for name, want := range tests {
		if got, err := ParseControl(name); got != want || err != nil {
			t.Errorf("ParseControl(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"x", " ", "schedule"} {
		if got, err := ParseControl(name); err == nil {
			t.Errorf("ParseControl(%q) = %q", name, got)
		}
	}
}

func FuzzCoerceBudget(f *testing.F) {
	for _, seed := range []string{"", "4", "-1", "--4", "a-1b2", "\u0663\uff10", "99999999999999999999", "1e3", "\xff9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := CoerceBudget(text); n < 0 || !ok && n != 0 {
			t.Errorf("CoerceBudget(%q) = %d, %v", text, n, ok)
		}
	})
}
