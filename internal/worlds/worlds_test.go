package worlds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
)

func calm(p Params) Params {
	p.Noise, p.Flip = 0, 0
	return p
}

// Whatever is asked for within the bounds gives a world that its own parser
// takes, with tasks that the starting skill fails exactly where a rule applies.
func TestEveryWorldIsOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := calm(Default())
		p.Seed = rapid.Uint64().Draw(t, "seed")
		p.Tasks = rapid.IntRange(10, 60).Draw(t, "tasks")
		p.Depth = rapid.IntRange(1, MaxDepth).Draw(t, "depth")
		p.Rules = rapid.IntRange(1, MaxRules(p.Depth)).Draw(t, "rules")
		p.Plain = rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "plain")
		p.Skew = rapid.Float64Range(0, 3).Draw(t, "skew")
		w, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(w.Perfect, "\n- ") - 1; n != p.Rules {
			t.Fatalf("%d rules, want %d", n, p.Rules)
		}
		parsed, err := sim.Parse("world.yaml", w.YAML)
		if err != nil {
			t.Fatal(err)
		}
		c := sim.New(parsed)
		ids := map[string]bool{}
		for _, it := range w.Items {
			got, err := solve(c, string(w.Skill), it.Prompt)
			if err != nil || got == "unknown" || it.Gold == "" {
				t.Fatalf("%s: %q, %v, expected %q", it.ID, got, err, it.Gold)
			}
			plain := strings.Contains(strings.Join(plainNouns(), " "), it.Type)
			if (got == it.Gold) != plain {
				t.Fatalf("%s without rules: got %q, expected %q", it.ID, got, it.Gold)
			}
			ids[it.ID] = true
		}
		if len(ids) != p.Tasks {
			t.Fatalf("%d ids of %d tasks", len(ids), p.Tasks)
		}
	})
}

func TestEqualParametersGiveEqualFiles(t *testing.T) {
	t.Parallel()
	files := func(p Params) map[string][]byte {
		w, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.Files()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, again := files(Default()), files(Default())
	if diff := cmp.Diff(one, again); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	p := Default()
	p.Seed++
	if other := files(p); string(other["tasks.jsonl"]) == string(one["tasks.jsonl"]) {
		t.Error("another seed gives the same tasks")
	}
}

func TestValidateNamesTheParameter(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Params){
		"tasks: found 9, allowed is 10 to 20000":               func(p *Params) { p.Tasks = 9 },
		"rules: found 0, allowed is 1 to 80":                   func(p *Params) { p.Rules = 0 },
		"rules: found 81, allowed is 1 to 80":                  func(p *Params) { p.Rules = 81 },
		"depth: found 4, allowed is 1 to 3":                    func(p *Params) { p.Depth = 4 },
		"noise: found 1.5, allowed is 0 to 1":                  func(p *Params) { p.Noise = 1.5 },
		"skew: found -1, allowed is 0 to 3":                    func(p *Params) { p.Skew = -1 },
		`optimizer: found "lazy", allowed is one of perfect, `: func(p *Params) { p.Optimizer = "lazy" },
		`name: found "a b", a word without spaces`:             func(p *Params) { p.Name = "a b" },
	} {
		p := Default()
		change(&p)
		if _, err := New(p); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("error %v, want %s", err, name)
		}
	}
}

func TestTheFilesNameTheOptimizer(t *testing.T) {
	t.Parallel()
	p := Default()
	p.Optimizer = "needs-3"
	w, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	files, err := w.Files()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(w.YAML), "\noptimizer: # proposes a rule only if three failures of a prompt miss it\n  need: 3\n") || !strings.Contains(string(files["config.yaml"]), ",optimizer=needs-3,seed=") {
		t.Errorf("%s\n%s", w.YAML[:600], files["config.yaml"])
	}
}

func TestNoiseCannotBeSolved(t *testing.T) {
	t.Parallel()
	p := Default()
	p.Noise, p.Flip, p.Tasks = 0.2, 0, 1000
	w, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := sim.Parse("world.yaml", w.YAML)
	if err != nil {
		t.Fatal(err)
	}
	c, failed := sim.New(parsed), 0
	for _, it := range w.Items {
		got, err := solve(c, w.Perfect, it.Prompt)
		if err != nil {
			t.Fatal(err)
		}
		if got != it.Gold {
			failed++
		}
	}
	if failed < 150 || failed > 250 { // 200 expected, deviation 13
		t.Errorf("%d of 1000 tasks fail with every rule stated, want about 200", failed)
	}
}
