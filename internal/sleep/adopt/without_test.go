package adopt

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// What a document would hold without an adoption is what its rollback writes, whatever a hand has done to it meanwhile.
func TestWithoutIsWhatARollbackWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.SampledFrom([]string{"- a", "- b", "- c", "- by hand", ""})
		region := func(label string) string {
			return strings.Join(append(rapid.SliceOfN(line, 0, 4).Draw(r, label), ""), "\n")
		}
		before := "# T\n" + skill.LearnedStart + "\n" + region("before") + skill.LearnedEnd + "\nend\n"
		after := "# T\n" + skill.LearnedStart + "\n" + region("after") + skill.LearnedEnd + "\nend\n"
		live := after
		if rapid.Bool().Draw(r, "edited") {
			live = "# T by hand\n" + skill.LearnedStart + "\n" + region("live") + skill.LearnedEnd + "\nend\n"
		}
		var taken Taken
		want := before
		if live != after {
			var err error
			if want, err = withoutRules(live, before, after, &taken); err != nil {
				r.Fatal(err)
			}
		}
		s, of := keptIn(t, before, after)
		got, changed, err := s.Without(of, "memory:CLAUDE.md", live)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Error(diff)
		}
		if live != after && len(changed) != len(taken.Removed)+len(taken.Back) {
			r.Errorf("%q changed, and a rollback would say %+v", changed, taken)
		}
	})
}

// keptIn is a store with the copies of one adoption.
func keptIn(t *testing.T, before, after string) (*Store, Record) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := Open(Options{Dir: dir})
	of := Record{N: 1, Kind: Adopted, Files: []Changed{{Target: "memory:CLAUDE.md", Before: content{there: true, text: before}.sum(), After: content{there: true, text: after}.sum()}}}
	if err := os.MkdirAll(s.folder(1), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{backupFile(0): before, afterFile(0): after} {
		if err := os.WriteFile(s.folder(1)+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, of
}

// A document whose other files were adopted with it, and one that was not part of the adoption, are refused.
func TestWithoutRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s, of := keptIn(t, "a", "b")
	if _, _, err := s.Without(of, "skill:x", "b"); err == nil {
		t.Error("a document that was not adopted")
	}
	of.Files = append(of.Files, Changed{Target: "memory:CLAUDE.md/scripts/a.py"})
	if _, _, err := s.Without(of, "memory:CLAUDE.md", "b"); err == nil {
		t.Error("a document with other files")
	}
}
