package acceptance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// testdata/before holds runs of the last build whose manifests say no kind: a finished
// one, one that a ceiling of calls has stopped, and a comparison; and in expected what
// that build made of the stopped one when it went on.

// before copies a run of the build before to where it can be opened.
func before(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "before", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func small(t *testing.T) config.Config {
	t.Helper()
	cfg, err := config.LoadFile(filepath.Join("testdata", "before", "small"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Dir = t.TempDir()
	return cfg
}

// sameFiles compares files of a run with those of a folder, byte by byte.
func sameFiles(t *testing.T, dir, want string, names ...string) {
	t.Helper()
	for _, name := range names {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		expected, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(expected, got) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(string(expected), string(got)))
		}
	}
}

// A run that the build before has begun goes on to the same bytes.
func TestAStoppedRunOfTheBuildBeforeGoesOn(t *testing.T) {
	t.Parallel()
	dir := before(t, "stopped")
	sum, err := skillopt.Train(t.Context(), small(t), skillopt.WithRunDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Status != result.Completed {
		t.Errorf("it is %s", sum.Status)
	}
	sameFiles(t, dir, filepath.Join("testdata", "before", "expected"), "history.json", "best_skill.md", "candidates.json", "test_outcomes.json")
	m, _, err := run.ReadManifest(dir)
	if err != nil || m.KindOf() != result.Train {
		t.Errorf("kind %q, %v", m.KindOf(), err)
	}
}

// A finished run of the build before is reported as before, and answers the same command
// from its record.
func TestAFinishedRunOfTheBuildBeforeIsReported(t *testing.T) {
	t.Parallel()
	dir, want := before(t, "finished"), filepath.Join("testdata", "before", "finished")
	files, err := record.ReadTraining(dir, "runs/finished") // as the command named it
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.HTML(report.Of(files))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{run.ReportFile: page, run.PullFile: report.Markdown(report.Of(files))} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sameFiles(t, dir, want, run.ReportFile, run.PullFile)
	sum, err := skillopt.Train(t.Context(), small(t), skillopt.WithRunDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Calls.Total == 0 || sum.Best.Step == 0 {
		t.Errorf("calls %d, best step %d", sum.Calls.Total, sum.Best.Step)
	}
	sameFiles(t, dir, want, "history.json", "best_skill.md", "candidates.json", "test_outcomes.json")
}

// A comparison of the build before says what it said, and asks nothing.
func TestAComparisonOfTheBuildBeforeStands(t *testing.T) {
	t.Parallel()
	dir, cfg := before(t, "compared"), small(t)
	var skills [2]skill.Skill
	for i, name := range []string{"skill_a.md", "skill_b.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		skills[i] = skill.New(string(text))
	}
	c, err := skillopt.Compare(t.Context(), cfg, skills[0], skills[1], skillopt.WithRunDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if c.Verdict != result.VerdictBetter || c.Calls.Total != 24 {
		t.Errorf("verdict %s after %d calls", c.Verdict, c.Calls.Total)
	}
	sameFiles(t, dir, filepath.Join("testdata", "before", "compared"), "outcomes.json", "skill_a.md", "skill_b.md")
	m, _, err := run.ReadManifest(dir)
	if err != nil || m.KindOf() != result.Compare {
		t.Errorf("kind %q, %v", m.KindOf(), err)
	}
}
