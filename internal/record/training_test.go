package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
)

// Tries have files of their own, and the step those of the one that it is recorded by.
func TestLostRepliesAreReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"patches.json":      `[{"analyses": [], "lost": ["analyst_error/0"]}, {"analyses": [], "lost": ["analyst_success/0"]}]`,
		"ranked_edits.json": `{"lost": ["ranking"]}`, "p1/ranked_edits.json": `{"lost": ["ranking"]}`, "second_try.json": `{"lost": ["second_try"]}`,
	} {
		path := filepath.Join(dir, "steps", "step_0001", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	analysts := []string{"analyst_error/0", "analyst_success/0"}
	for want, record := range map[*[]string]result.StepRecord{
		{"second_try", "ranking"}: {Step: 1, LostReplies: 4, Candidates: []result.CandidateRecord{{Index: 1}, {Index: 2, SecondTry: 1}}},
		{}:                        {Step: 1, LostReplies: 2},
	} {
		r := &reader{root: root, run: &Training{}}
		if diff := cmp.Diff(append(analysts[:2:2], *want...), r.step(record).Lost); diff != "" {
			t.Errorf("%+v:\n%s", record, diff)
		}
	}
}
