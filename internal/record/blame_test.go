package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/skill"
)

// fixture is a copy of the recorded run, which a test may damage.
func fixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "report", "testdata", "run"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir string) *Training {
	t.Helper()
	r, err := ReadTraining(dir, "runs/small-1")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// origins are the words of a blame for the lines that are not blank.
func origins(b Blame) []string {
	var out []string
	for _, l := range b.Lines {
		if strings.TrimSpace(l.Text) != "" {
			out = append(out, Describe(l.Origin)+": "+l.Text)
		}
	}
	return out
}

func TestBlameOfARun(t *testing.T) {
	t.Parallel()
	r := read(t, fixture(t))
	b := r.Blame("best", r.Best)
	want := []string{
		"step 1, edit 1: - Money is written with EUR in front of the number.",
		"step 1, edit 2: - When a field is absent from the card, the answer is NOT ON FILE.",
		"step 5, edit 1: - Write dates as YYYY-MM-DD.",
		"step 5, edit 2: - Give times on the 24-hour clock, without am or pm.",
		"slow update, epoch 2: <!-- SLOW_UPDATE_START -->",
		"slow update, epoch 2: Before answering, check the form of the answer against every rule that fits the task.",
		"slow update, epoch 2: - Convert a weight to grams before answering, with g behind the number.",
		"slow update, epoch 3: - Never give out a home address, date of birth or private number; answer REFER TO DATA OFFICE.",
		"slow update, epoch 2: <!-- SLOW_UPDATE_END -->",
	}
	got := origins(b)
	if diff := cmp.Diff(want, got[len(got)-len(want):]); diff != "" {
		t.Error(diff)
	}
	for _, line := range got[:len(got)-len(want)] {
		if !strings.HasPrefix(line, "seed: ") {
			t.Errorf("not of the seed: %s", line)
		}
	}
	if len(b.Problems) > 0 || !b.Simulated {
		t.Errorf("problems %v, simulated %v", b.Problems, b.Simulated)
	}
	var said []string
	for _, s := range b.Sources {
		said = append(said, Describe(s.Origin)+": "+s.Gate.String())
	}
	if diff := cmp.Diff([]string{
		"seed: not judged",
		"step 1, edit 1: accept_new_best, 0.364 -> 0.636 (+0.273) on 11 items",
		"step 1, edit 2: accept_new_best, 0.364 -> 0.636 (+0.273) on 11 items",
		"step 5, edit 1: accept_new_best, 0.636 -> 0.727 (+0.091) on 11 items",
		"step 5, edit 2: accept_new_best, 0.636 -> 0.727 (+0.091) on 11 items",
		"slow update, epoch 2: accept_new_best, 0.727 -> 0.818 (+0.091)",
		"slow update, epoch 3: accept_new_best, 0.818 -> 0.909 (+0.091)",
	}, said); diff != "" {
		t.Error(diff)
	}
	money := b.Sources[1]
	if diff := cmp.Diff(&provenance.Reason{
		Link: provenance.Verbatim, Source: "failure", Support: 1, Tasks: []string{"total-09", "missing-05"},
		Patterns: []provenance.Pattern{{Name: "rule_missing", Count: 1, Description: "the skill does not say: Put EUR and a space before amounts of money."}},
		Replies:  []string{"mb0/analyst_error/0"}, Why: []string{"each change accounts for a difference between what was answered and what was expected"},
	}, money.Reason); diff != "" || money.Edit.Content != "- Money is written with EUR in front of the number." {
		t.Errorf("%v: %s", money.Edit, diff)
	}
}

// Every version that the run wrote is one that blame knows.
func TestBlameKnowsEveryVersion(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	r := read(t, dir)
	files, err := filepath.Glob(filepath.Join(dir, "skills", "*.md"))
	if err != nil || len(files) != 10 {
		t.Fatalf("%d versions, %v", len(files), err)
	}
	for step, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.Blame("", skill.New(string(text))).Lines {
			if l.Origin.Kind == provenance.Outside || l.Origin.Step > step {
				t.Errorf("version %d, line %d: %+v", step, l.Number, l.Origin)
			}
		}
	}
}

// What is missing makes a blame less exact, never wrong without a word.
func TestBlameOfADamagedRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		damage  func(t *testing.T, dir string)
		problem string // in the problems
		line    string // who wrote the first line of step 1
	}{
		{"no reports of edits", remove("steps/step_0001/edit_apply_report.json"), "", "step 1, rewrite"},
		{"no proposals", remove("steps/step_0001/patches.json"), "", "step 1, edit 1"},
		{"no candidate", remove("steps/step_0001/candidate_skill.md"), "the candidate of step 1 is missing", "step 5, rewrite"},
		{"another candidate", write("steps/step_0001/candidate_skill.md", "# Other\n"), "step_0001/candidate_skill.md does not hold the skill", "step 5, rewrite"},
		{"damaged proposals", write("steps/step_0001/patches.json", "[{"), "steps/step_0001/patches.json is damaged", "step 1, edit 1"},
		{"a link that leads out", func(t *testing.T, dir string) {
			t.Helper()
			remove("steps/step_0001/candidate_skill.md")(t, dir)
			out := filepath.Join(t.TempDir(), "out.md")
			if err := os.WriteFile(out, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(out, filepath.Join(dir, "steps", "step_0001", "candidate_skill.md")); err != nil {
				t.Skip(err)
			}
		}, "read steps/step_0001/candidate_skill.md", "step 5, rewrite"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := fixture(t)
			tt.damage(t, dir)
			r := read(t, dir)
			b := r.Blame("best", r.Best)
			if all := strings.Join(b.Problems, "\n"); !strings.Contains(all, tt.problem) || tt.problem == "" && all != "" {
				t.Errorf("problems: %s", all)
			}
			for _, l := range origins(b) {
				if who, text, _ := strings.Cut(l, ": "); strings.HasPrefix(text, "- Money") && who != tt.line {
					t.Errorf("the first line is of %s, want %s", who, tt.line)
				}
			}
		})
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(*testing.T, string)
		want   string
	}{
		"no manifest":      {remove("manifest.json"), "is no run directory: it has no manifest.json"},
		"damaged manifest": {write("manifest.json", "{"), "manifest.json is damaged"},
		"another format":   {write("manifest.json", `{"format": 99}`), "manifest.json has format 99, and this program reads format 2"},
		"damaged history":  {write("history.json", "{"), "history.json is damaged"},
	} {
		dir := fixture(t)
		tt.damage(t, dir)
		if _, err := ReadTraining(dir, "x"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadTraining(filepath.Join(t.TempDir(), "absent"), "x"); err == nil || !strings.Contains(err.Error(), "x: there is no such folder; `skillopt runs list` shows runs") {
		t.Errorf("got %v", err)
	}
}
