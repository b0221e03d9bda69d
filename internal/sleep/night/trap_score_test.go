package night_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// What is missing, no number or endless is unmeasured: it is null where it is told, in no mean, and neither won nor lost.
func TestTrap7AnOutcomeThatIsNone(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"missing", "nan", "endless", "negative", "large"} {
		t.Run(odd, func(t *testing.T) {
			t.Parallel()
			testOdd(t, odd)
		})
	}
}

func testOdd(t *testing.T, odd string) {
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, _ int) int {
		if name == "missing" && ruled {
			return -1
		}
		return right(ruled)
	}}
	names := []string{odd}
	for i := range 19 {
		names = append(names, fmt.Sprintf("task%02d", i))
	}
	pupilTasks(h, names...)
	r := p.explored(h, func(o *night.Options) {
		o.Explore = false
		o.With = append(o.With, skillopt.WithScorer("odd", oddScore))
	})
	got := r.Targets[0]
	seen := 0
	for _, d := range h.diagnostics(r.ID).Tasks {
		unmeasured := d.Arm == "proposed" && d.ID == odd
		if (d.Hard == nil) != unmeasured || (d.Soft == nil) != unmeasured || (d.Status == "unmeasured") != unmeasured {
			t.Errorf("%s of %s: %s, hard %s, soft %s, %s", d.ID, d.Arm, d.Status, num(d.Hard), num(d.Soft), d.Why)
		}
		if unmeasured {
			seen++
		}
	}
	l := got.Confirmed
	if l == nil || seen == 0 || got.Outcome != night.Supported || l.Losses != 0 || l.Ties != 0 || l.N != l.Wins || l.N != got.Groups.Tonight-1 || *l.Difference != 1 {
		t.Fatalf("%s: %s; %d of %d, %+v", got.Outcome, got.Reason, seen, got.Groups.Tonight, l)
	}
	if c := got.Consolidation; num(c.HoldoutBaseline) != "0.0000" || num(c.HoldoutCandidate) != "1.0000" || num(c.CandidateScore) != "1.0000" {
		t.Errorf("%+v", c)
	}
	for _, name := range []string{"night.json", "diagnostics.json"} { // JSON cannot say them: somebody would have written 0
		data, err := os.ReadFile(filepath.Join(night.Folder(h.dir, h.project, r.ID), name))
		var v any
		if err != nil || json.Unmarshal(data, &v) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// oddScore is by parts, but for tasks whose score is none once the rule is heeded.
func oddScore(answer string, k task.Task) score.Score {
	parts := float64(strings.Count(answer, "part"))
	if parts == 10 {
		switch k.ID {
		case "nan":
			return score.Score{Hard: math.NaN(), Soft: 1}
		case "endless":
			return score.Score{Hard: 1, Soft: math.Inf(1)}
		case "negative":
			return score.Score{Hard: 1, Soft: -0.1}
		case "large":
			return score.Score{Hard: 2, Soft: 1}
		}
	}
	return score.Score{Hard: math.Floor(parts / 10), Soft: parts / 10}
}

// said is a model that always says the same.
type said string

func (s said) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{Text: string(s), Finish: model.FinishStop}, nil
}

// A score of a check that is no number is an error of the check: nothing has a score, nothing is staged, nothing that the
// next night goes by has changed.
func TestTrap8AScoreThatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{`{"score": "high"}`, `{"score": null}`, `{"score": true}`, `{"score": [1]}`, `{"reason": "fine"}`, ``} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			p := &pupil{rules: []string{pupilRule}, parts: func(string, bool, int) int { return 3 }}
			var names []string
			for i := range 16 {
				names = append(names, fmt.Sprintf("task%02d", i))
			}
			pupilTasks(h, names...)
			for id, w := range h.miner.tasks {
				w.Task.Checks, w.Trust = []byte(`[{"type":"llm-rubric","criteria":"It is said in ten parts."}]`), wish.ByRubric
				h.miner.tasks[id] = w
			}
			h.cfg.Models.Judge.Provider, h.cfg.Models.Judge.World, h.cfg.Models.Judge.MaxTokens = "sim", h.cfg.Models.Target.World, 100
			r := p.explored(h, func(o *night.Options) {
				o.Explore = false
				o.With = append(o.With, skillopt.WithClient(model.Judge, "said", said(reply)))
			})
			got := r.Targets[0]
			if got.Outcome != night.ModelUnhealthy && got.Outcome != night.JudgeUnusable || !strings.Contains(got.Reason, "judge") {
				t.Errorf("%s: %s", got.Outcome, got.Reason)
			}
			c := got.Consolidation
			if got.Baseline != nil || got.Confirmed != nil || c.BaselineScore != nil || c.CandidateScore != nil || c.Accepted || got.Proposal != "" {
				t.Errorf("%+v", got)
			}
			for _, d := range h.diagnostics(r.ID).Tasks {
				if d.Hard != nil || d.Soft != nil {
					t.Errorf("%s of %s has a score", d.ID, d.Arm)
				}
			}
			if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something is staged: %v", err)
			}
			past, err := h.bank.Candidates(t.Context(), h.project, got.Target)
			clusters, err2 := h.bank.Clusters(t.Context(), h.project, "")
			if err := errors.Join(err, err2); err != nil || len(past) != 0 {
				t.Errorf("%v: %+v", err, past)
			}
			for _, k := range clusters {
				if k.Opened != "" {
					t.Errorf("the test cluster %d was opened", k.Number)
				}
			}
		})
	}
}

// A pattern that is none, of a task that is in the bank already, ends with its name, and not as a night of zeros.
func TestTrap22PatternOfATaskInTheBank(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 16} { // observed, and trained
		h := newHome(t, small())
		p := &pupil{rules: []string{pupilRule}, parts: func(_ string, ruled bool, _ int) int { return right(ruled) }}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("task%02d", i))
		}
		pupilTasks(h, names...)
		for id, w := range h.miner.tasks {
			if w.Task.ID == "task01" {
				w.Task.Checks = []byte(`[{"type":"regex","value":"(unclosed"}]`)
				h.miner.tasks[id] = w
			}
		}
		r := p.explored(h, func(o *night.Options) { o.Explore = false })
		got := r.Targets[0]
		if got.Outcome != night.Refused || !strings.Contains(got.Reason, "task01") || !strings.Contains(got.Reason, "(unclosed") || got.Baseline != nil || got.Confirmed != nil || len(p.asked) > 0 {
			t.Errorf("%d tasks: %s: %s, %+v, %d asked", n, got.Outcome, got.Reason, got.Baseline, len(p.asked))
		}
		if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is staged: %v", err)
		}
	}
}
