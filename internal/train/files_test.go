package train

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Candidates that differ in a file beside SKILL.md alone are different candidates: each is
// judged and shipped with all its files.
func TestFilesAreWhatACandidateIs(t *testing.T) {
	t.Parallel()
	{
		size, o := 1, hard()
		w := hardWorld(7)
		w.folder, w.fails = true, nil
		r := w.must(t, o)
		if text, _ := r.Best.File("references/a.md"); text == "# A\n" && len(r.Best.Others()) == 1 {
			t.Fatalf("%d candidates: no file beside SKILL.md has changed", size)
		}
		seed, scope := w.skillOf()
		if r.Best.Text() == seed.Text() && r.Best.Equal(seed) || scope.Hash(r.Best) == r.Best.Hash() {
			t.Errorf("%d candidates: the best skill is named %s by SKILL.md alone", size, scope.Hash(r.Best))
		}
		last := r.History.Steps[len(r.History.Steps)-1]
		if last.SkillHash != scope.Hash(r.Final) {
			t.Errorf("%d candidates: the history names %s, want %s", size, last.SkillHash, scope.Hash(r.Final))
		}
		if len(w.files) == 0 {
			t.Fatal("no file was written")
		}
		for name := range w.files {
			if base, file, ok := strings.Cut(name, "/references/"); ok && !strings.HasSuffix(base, "candidate_skill") && !strings.HasPrefix(base, "skills/skill_v") {
				t.Errorf("%s of %s is written", file, base)
			}
		}
	}
}

// A skill of one document is named as it always was, whatever lies beside it.
func TestOneDocumentIsNamedByItself(t *testing.T) {
	t.Parallel()
	s := skill.New("# S\n").WithFile("references/a.md", "a\n")
	if got := (skill.Scope{}).Hash(s); got != s.Hash() {
		t.Errorf("hash %s, want %s", got, s.Hash())
	}
}
