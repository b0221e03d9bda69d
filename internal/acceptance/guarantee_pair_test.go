package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/skill"
)

// pairs counts what a run shows of its tasks.
type pairs struct {
	shown   int // with the reply
	unasked int // measured, and answered elsewhere in the run
}

// shownRight looks at all evaluations of all tasks of a run. What is shown beside a score is
// the reply that it was extracted from, and what was sent the skill of that place.
func shownRight(t *testing.T, cfg config.Config, dir string) (found pairs) {
	t.Helper()
	r, err := record.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	sheets, err := r.Sheets()
	if err != nil || len(sheets) == 0 {
		t.Fatalf("%d sheets, %v", len(sheets), err)
	}
	ids, want := map[string]bool{}, 0
	for _, s := range sheets {
		all, err := r.Outcomes(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if o.ID != "" {
				ids[o.ID] = true
				want++
			}
		}
	}
	answers, err := check.ParseExtract(cfg.Tasks.Extract)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for id := range ids {
		all, err := r.Task(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Outcome == nil {
				continue
			}
			if seen++; e.Key == "" {
				notElsewhere(t, r, dir, e, all)
			}
			if e.Key == "" {
				if e.Outcome.Status.Measured() {
					found.unasked++
				}
				continue
			}
			said, err := r.ReadConversation(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			found.shown++
			where := fmt.Sprintf("%s of %s (%s)", e.Where, id, e.Key)
			answer, _, err := answers.Extract(said.Reply.Text)
			if err != nil || answer != e.Outcome.Answer {
				t.Fatalf("%s: %q is shown, of which %q was extracted, and %q was scored: %v", where, said.Reply.Text, answer, e.Outcome.Answer, err)
			}
			if text := skillAt(t, dir, e); !wasSent(said, text) {
				t.Fatalf("%s: another skill was sent than\n%s", where, text)
			}
		}
	}
	if seen != want {
		t.Errorf("%d outcomes are shown, the files have %d", seen, want)
	}
	return found
}

// notElsewhere fails where a candidate was asked in its step, and an outcome of it is shown as
// one that was not asked for.
func notElsewhere(t *testing.T, r *record.Run, dir string, unasked record.Evaluation, all []record.Evaluation) {
	t.Helper()
	text := skillAt(t, dir, unasked)
	for _, e := range all {
		if text == "" || e.Outcome != nil || e.Step != unasked.Step || e.Epoch != unasked.Epoch || e.Sample != 0 || !unasked.Outcome.Status.Measured() {
			continue
		}
		said, err := r.ReadConversation(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if wasSent(said, text) && strings.HasSuffix(e.At, "gate/cand") {
			t.Fatalf("%s of %s was asked for at %s", unasked.Where, e.Task, e.Key)
		}
	}
}

// skillAt is the skill of an evaluation in a step, "" where none is written down for it.
func skillAt(t *testing.T, dir string, e record.Evaluation) string {
	t.Helper()
	var name string
	switch {
	case e.Step > 0 && e.Arm == "candidate":
		name = fmt.Sprintf("steps/step_%04d/candidate_skill.md", e.Step)
	case e.Arm == "seed":
		name = "skills/skill_v0000.md"
	case e.Arm == "best":
		name = "best_skill.md"
	case e.Arm == "a" || e.Arm == "b":
		name = "skill_" + e.Arm + ".md"
	default:
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wasSent reports whether a model was told the body of a skill.
func wasSent(c caller.Conversation, text string) bool {
	if _, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n"); ok {
		text = body
	}
	for _, m := range c.Messages {
		if strings.Contains(m.Text, strings.TrimSpace(text)) {
			return true
		}
	}
	return false
}

// What a run shows of a task is the reply that was scored there, with the prompt of that skill,
// of all of its candidates, tries and passes.
func TestShownRepliesAreThoseThatWereScored(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  []string
		has  string // of the history: what makes the run prove something
		some bool   // an equal request may have been answered elsewhere in the run
	}{
		"one candidate": {},
		"second try":    {set: []string{"train.second_try=true", "train.seed=6", "train.batch_size=10", "train.warm=off"}, has: `"second_try"`},
		"accumulation":  {set: []string{"train.accumulation=2", "train.batch_size=10"}},
		"slow updates":  {set: []string{"train.epochs=3", "train.stop.perfect=false", "train.stop.patience=0", "slow_update.gated=true", "models.target.temperature=0.8"}, has: `"slow_update_score"`},
		"solved":        {set: []string{"train.epochs=3", "train.stop.perfect=false"}, some: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.LoadFile("../../examples/quickstart", append([]string{"train.epochs=1", "train.batch_size=20", "train.seed=1", "record.reuse=never"}, tt.set...)...)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "run")
			trained(t, cfg, dir)
			if history := results(t, dir)["history.json"]; !strings.Contains(history, tt.has) {
				t.Errorf("the history has no %s: the run proves less than it should", tt.has)
			}
			if found := shownRight(t, cfg, dir); found.shown == 0 || found.unasked > 0 && !tt.some {
				t.Errorf("%+v", found)
			}
		})
	}
}

// So it is in folds, and in the passes of eval and compare.
func TestShownRepliesOfPassesAndFolds(t *testing.T) {
	t.Parallel()
	load := func(set ...string) config.Config {
		cfg, err := config.LoadFile("../../examples/quickstart", append([]string{"models.target.temperature=0.8", "record.reuse=never"}, set...)...)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	for name, tt := range map[string]struct {
		cfg config.Config
		do  func(cfg config.Config, dir string) error
	}{
		"folds": {fewConfig(t, config.AutoCount, 0), func(cfg config.Config, dir string) error {
			_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed())
			return err
		}},
		"eval": {load(), func(cfg config.Config, dir string) error {
			_, err := skillopt.Evaluate(t.Context(), cfg, "selection", skillopt.WithRunDir(dir), skillopt.WithPasses(3))
			return err
		}},
		"compare": {load(), func(cfg config.Config, dir string) error {
			text, err := os.ReadFile(cfg.Skill)
			if err != nil {
				return err
			}
			a, b := skill.New(string(text)), skill.New("---\nname: other\ndescription: Another skill.\n---\n# Other\n\nAnswer in full.\n")
			_, err = skillopt.Compare(t.Context(), cfg, a, b, skillopt.WithRunDir(dir), skillopt.WithPasses(3))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			if err := tt.do(tt.cfg, dir); err != nil {
				t.Fatal(err)
			}
			if found := shownRight(t, tt.cfg, dir); found.shown == 0 || found.unasked > 0 && name != "folds" {
				t.Errorf("%+v", found)
			}
		})
	}
}
