package night_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// Other files of a skill's folder are trained where sleep.whole names it and edits.files names them, and staged by their names; of a
// skill that it does not name they are what the skill is measured with, and stay.
func TestAFolderIsTrainedAsAWhole(t *testing.T) {
	t.Parallel()
	const rules = "# Rules\n"
	for name, c := range map[string]struct {
		whole []string
		want  []night.File
	}{
		"named":     {[]string{"cards"}, []night.File{{Path: "references/rules.md", Base: rules}}},
		"not named": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, n, with := needyHome(t, "")
			h.cfg.Sleep.Whole, h.cfg.Edits.Files = c.whole, []string{"SKILL.md", "references/*.md"}
			h.skill("cards")
			if c.whole != nil {
				n.file = "references/rules.md"
			}
			folder := filepath.Join(h.project, ".claude", "skills", "cards", "references")
			must(t, os.Mkdir(folder, 0o755))
			must(t, os.WriteFile(filepath.Join(folder, "rules.md"), []byte(rules), 0o644))
			h.needs(16, "cards", "rule one")
			r := h.night(with)
			if len(r.Targets) != 1 || r.Targets[0].Outcome != night.Supported {
				t.Fatalf("%+v", r.Targets)
			}
			p, err := night.Open(h.dir, h.project, r.ID)
			must(t, err)
			must(t, p.Verify(h.dir))
			got, err := p.Files("skill:cards")
			must(t, err)
			for i := range got {
				if got[i].Text != rules+"\n- rule one holds\n" && got[i].Text != rules+"- rule one holds\n" {
					t.Errorf("%q", got[i].Text)
				}
				got[i].Text = ""
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			live, err := os.ReadFile(filepath.Join(folder, "rules.md"))
			if err != nil || string(live) != rules {
				t.Errorf("a night wrote into the folder: %q, %v", live, err)
			}
			if len(got) == 0 {
				return
			}
			// A text of the folder that was changed is not believed.
			staged := filepath.Join(night.Folder(h.dir, h.project, r.ID), p.Items[0].Files[0].File)
			must(t, os.WriteFile(staged, []byte("x"), 0o600))
			if p.Verify(h.dir) == nil {
				t.Error("a changed file was believed")
			}
			if p.Items[0].Files[0].SHA == target.Digest("x") {
				t.Error("the digest is of another text")
			}
			must(t, night.Discard(h.dir, h.project, r.ID))
			if _, err := os.Stat(staged); err == nil {
				t.Error("a discarded file is still there")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
