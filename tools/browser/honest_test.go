package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is what `runs show --json` says, as far as it is compared here.
type shown struct {
	Summary *struct {
		Calls struct {
			Total int64 `json:"total"`
		} `json:"calls"`
		CostUSD *float64 `json:"cost_usd"`
		Test    *struct {
			Seed, Best *measured
			Refused    bool
		} `json:"test"`
		Best struct {
			Selection *measured `json:"selection"`
		} `json:"best"`
		Certificate *struct {
			Difference *float64 `json:"difference"`
			AtLeast    *float64 `json:"at_least"`
			Wins       int      `json:"wins"`
			Losses     int      `json:"losses"`
		} `json:"certificate"`
	} `json:"summary"`
	History struct {
		Steps []struct {
			Step      int      `json:"step"`
			Candidate *float64 `json:"candidate_gate_score"`
			Action    string   `json:"action"`
		} `json:"steps"`
	} `json:"history"`
	Evaluation *struct {
		Splits map[string]measured `json:"splits"`
	} `json:"evaluation"`
	Comparison *struct {
		Difference *float64 `json:"difference"`
		Pairs      int      `json:"pairs"`
	} `json:"comparison"`
	Noise *struct {
		First, Second float64
		Floor         float64 `json:"minimum_detectable_effect"`
		Low           float64 `json:"minimum_detectable_low"`
		High          float64 `json:"minimum_detectable_high"`
	} `json:"noise"`
}

type measured struct {
	Hard float64 `json:"hard"`
	Low  float64 `json:"hard_low"`
	High float64 `json:"hard_high"`
	N    int     `json:"n"`
}

// Runs of different kinds, one whose test stayed closed among them: every figure that the page shows of them is one that
// `runs show --json` has.
func TestFiguresOfThePageAreThoseOfTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	quick := filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart")
	broken := brokenWorld(t, dir)
	seed, best := filepath.Join(quick, "SKILL.md"), "runs/plain/best_skill.md"
	for _, args := range [][]string{
		{"train", quick, "--run", "runs/plain"},
		{"train", quick, "--run", "runs/ceiling", "--set", "limits.calls=300"},
		{"train", quick, "--run", "runs/strict", "--set", "gate.mode=strict"},
		{"train", quick, "--run", "runs/folds", "--set", "split.cross_fit=3", "--accept-seed"},
		{"train", quick, "--run", "runs/no-test", "--set", "eval.test=false"},
		{"train", broken, "--run", "runs/unmeasured", "--set", "train.epochs=1"},
		{"train", quick, "--run", "runs/second", "--set", "train.second_try=true", "--set", "train.seed=5"},
		{"train", quick, "--run", "runs/plain", "--fork", "runs/refused", "--set", "tasks.threshold=0.5"},
		{"doctor", quick, "--noise", "--set", "run.dir=" + filepath.Join(dir, "noise")},
		{"eval", quick, "--run", "runs/eval"},
		{"compare", seed, best, "--config", quick, "--run", "runs/compare"},
	} {
		p := begin(t, dir, append(args, "--yes")...)
		if code := p.wait(); code != 0 && code != 4 && code != 5 {
			t.Fatalf("skillopt %s: exit code %d\n%s", strings.Join(args, " "), code, p.out)
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "noise", "*-noise-*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.Rename(found[0], filepath.Join(dir, "runs", "noise")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	for _, name := range []string{"plain", "ceiling", "strict", "folds", "no-test", "unmeasured", "second", "refused", "eval", "compare", "noise"} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			var of shown
			if err := json.Unmarshal([]byte(run(t, dir, "runs", "show", "runs/"+name, "--json")), &of); err != nil {
				t.Fatal(err)
			}
			p.goTo("#/run/runs:" + name)
			p.shows(name)
			p.settled()
			p.has("overview", of.overview()...)
			if closed := of.Summary != nil && of.Summary.Test != nil && of.Summary.Test.Refused; closed != (name == "refused") {
				t.Fatalf("the test stayed closed: %v", closed)
			} else if closed {
				p.shows("stayed closed")
			}
			if len(of.History.Steps) > 0 {
				p.goTo("#/run/runs:" + name + "/steps")
				p.shows("step")
				p.settled()
				p.has("steps", of.steps()...)
			}
			p.goTo("#/run/runs:" + name + "/cost")
			p.settled()
			p.has("cost", of.cost()...)
		})
	}
	p.clean()
}

// overview are the figures that the first view of a run has to show.
func (s shown) overview() (out []string) {
	if s.Summary != nil && s.Summary.Test != nil {
		for _, m := range []*measured{s.Summary.Test.Seed, s.Summary.Test.Best} {
			if m != nil {
				out = append(out, share(m.Hard), share(m.Low), share(m.High))
			}
		}
	}
	if s.Summary != nil && (s.Summary.Test == nil || s.Summary.Test.Refused) && s.Summary.Best.Selection != nil {
		m := s.Summary.Best.Selection
		out = append(out, share(m.Hard), share(m.Low), share(m.High))
	}
	if s.Noise != nil {
		out = append(out, share(s.Noise.First), share(s.Noise.Second))
		for _, v := range []float64{s.Noise.Floor, s.Noise.Low, s.Noise.High} {
			out = append(out, inPoints(v)[1:])
		}
	}
	if s.Summary != nil && s.Summary.Certificate != nil && s.Summary.Certificate.Difference != nil {
		out = append(out, inPoints(*s.Summary.Certificate.Difference))
	}
	if s.Evaluation != nil {
		for _, m := range s.Evaluation.Splits {
			out = append(out, share(m.Hard), share(m.Low), share(m.High), fmt.Sprint(m.N))
		}
	}
	if s.Comparison != nil && s.Comparison.Difference != nil {
		out = append(out, inPoints(*s.Comparison.Difference))
	}
	return out
}

// steps are the scores of all candidates.
func (s shown) steps() (out []string) {
	for _, step := range s.History.Steps {
		if step.Candidate != nil {
			out = append(out, share(*step.Candidate))
		}
	}
	return out
}

func (s shown) cost() []string {
	if s.Summary == nil {
		return nil
	}
	return []string{fmt.Sprint(s.Summary.Calls.Total)}
}

// has fails for figures that the view does not show.
func (p *tab) has(view string, figures ...string) {
	p.t.Helper()
	for _, f := range figures {
		p.until(fmt.Sprintf("the figure %s in %s", f, view),
			fmt.Sprintf(`document.body.innerText.replaceAll("\u2212", "-").replace(/(\d)[\u2009\u202f,](?=\d)/g, "$1").includes(%s)`, quoted(f)))
	}
}

// share is a score as people read it: three decimals, more where that would say 0 or 1 of what is neither.
func share(v float64) string {
	for digits := 3; digits < 6; digits++ {
		text := fmt.Sprintf("%.*f", digits, v)
		if v == 0 || v == 1 || strings.Trim(text, "0.") != "" && !strings.HasPrefix(text, "1") {
			return text
		}
	}
	return fmt.Sprint(v)
}

func inPoints(v float64) string {
	sign := "+"
	if v < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%.1f", sign, math.Abs(100*v))
}

// brokenWorld is the quick start with a server that often fails for good.
func brokenWorld(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(dir, "broken")
	if err := os.CopyFS(to, os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, "world.yaml")
	world, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	world = []byte(strings.NewReplacer("errors: 0.02", "errors: 0.55", "latency_ms: 8", "latency_ms: 0").Replace(string(world)))
	if err := os.WriteFile(path, world, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
