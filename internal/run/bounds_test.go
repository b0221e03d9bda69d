package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// TestAFileThatIsTooLargeIsNamed: with its size, the limit, and what helps.
func TestAFileThatIsTooLargeIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "steps"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		run.ManifestFile:      "manifest.json has 300 MB, and the most that is read of such a file is 8 MB: ",
		run.HistoryFile:       "history.json has 300 MB, and the most that is read of such a file is 16 MB: ",
		"evaluation.json":     "evaluation.json has 300 MB, and the most that is read of such a file is 24 MB: ",
		"steps/patches.json":  "steps/patches.json has 300 MB, and the most that is read of such a file is 4 MB: ",
		"steps/rollout.json":  "steps/rollout.json has 300 MB, and the most that is read of such a file is 16 MB: ",
		"skill_v0000.md":      "skill_v0000.md has 300 MB, and the most that is read of such a file is 8 MB: ",
		run.BestFile:          "best_skill.md has 300 MB, and the most that is read of such a file is 1 MB: ",
		"candidates.json":     "candidates.json has 300 MB, and the most that is read of such a file is 16 MB: ",
		run.SummaryFile:       "summary.json has 300 MB, and the most that is read of such a file is 8 MB: ",
		"test_outcomes.json":  "test_outcomes.json has 300 MB, and the most that is read of such a file is 24 MB: ",
		"candidate_skill.md":  "candidate_skill.md has 300 MB, and the most that is read of such a file is 1 MB: ",
		"merged_patch.json":   "merged_patch.json has 300 MB, and the most that is read of such a file is 4 MB: ",
		"ranked_edits.json":   "ranked_edits.json has 300 MB, and the most that is read of such a file is 4 MB: ",
		"comparison.json":     "comparison.json has 300 MB, and the most that is read of such a file is 24 MB: ",
		"steps/a-script-file": "steps/a-script-file has 300 MB, and the most that is read of such a file is 8 MB: ",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 300<<20)); err != nil {
			t.Skip("the file system has no files with holes: ", err)
		}
		_, _, err := run.ReadFile(dir, name, run.Most(name))
		if !errors.Is(err, disk.ErrTooLarge) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestFewBytesThatAreMuchInMemory: an element of two bytes may stand for hundreds. What is long
// because it says much is decoded.
func TestFewBytesThatAreMuchInMemory(t *testing.T) {
	t.Parallel()
	var h result.History
	err := run.Decode(run.HistoryFile, []byte(`{"steps":[{}`+strings.Repeat(",{}", 1<<20)+`]}`), &h)
	var size *run.SizeError
	if !errors.As(err, &size) || size.Room < 400<<20 || len(h.Steps) > 0 || !strings.Contains(err.Error(), "history.json has 3 MB that would take ") {
		t.Errorf("%d steps, %v", len(h.Steps), err)
	}
	for name, text := range map[string]string{
		"long texts beside it": `{"steps":[{"refused":"` + strings.Repeat("x", 5<<20) + `"}` + strings.Repeat(",{}", 1<<16) + `]}`,
		"a name of escapes":    `{"\u0073teps":[{}` + strings.Repeat(",{}", 1<<16) + `]}`,
		"other letters":        `{"ſTEPS":[{}` + strings.Repeat(",{}", 1<<16) + `]}`,
		"spaces":               `{"steps":[{"unmeasured":[""` + strings.Repeat(`,""`, 1<<20) + `]}]` + strings.Repeat(" ", 8<<20) + `}`,
		"a map":                `{"steps":[{"curriculum":{"":0` + strings.Repeat(`,"a":0`, 1<<18) + `}}]` + strings.Repeat(" ", 8<<20) + `}`,
	} {
		h = result.History{}
		if err := run.Decode(run.HistoryFile, []byte(text), &h); !errors.As(err, &size) || len(h.Steps) > 0 {
			t.Errorf("%s: %d steps, %v", name, len(h.Steps), err)
		}
	}
	h = result.History{}
	step := `{"step":1,"epoch":1,"action":"reject","current_origin":"` + strings.Repeat(`\"{[,`, 200) + `"}`
	if err := run.Decode(run.HistoryFile, []byte(`{"steps":[`+step+strings.Repeat(","+step, 4000)+`]}`), &h); err != nil || len(h.Steps) != 4001 {
		t.Errorf("%d steps, %v", len(h.Steps), err)
	}
}
