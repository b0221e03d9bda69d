//go:build unix

package adopt_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// TestTrap50Links: nothing is written through a link, wherever it stands on the way, nor into a file with two names.
func TestTrap50Links(t *testing.T) {
	link := func(t *testing.T, to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Skip(err)
		}
	}
	for name, c := range map[string]struct {
		set  func(t *testing.T, w world, outside string) // after the proposal was made
		want string
	}{
		"the document": {func(t *testing.T, w world, outside string) {
			must(t, os.Rename(w.project+"/skills/x/SKILL.md", outside+"/real.md"))
			link(t, outside+"/real.md", w.project+"/skills/x/SKILL.md")
		}, "it is a link"},
		"a dangling link": {func(t *testing.T, w world, outside string) {
			must(t, os.Remove(w.project+"/skills/x/SKILL.md"))
			link(t, outside+"/none.md", w.project+"/skills/x/SKILL.md")
		}, "it is a link"},
		"its folder": {func(t *testing.T, w world, outside string) {
			must(t, os.Rename(w.project+"/skills/x", outside+"/x"))
			link(t, outside+"/x", w.project+"/skills/x")
		}, "is a link or no folder"},
		"a folder above": {func(t *testing.T, w world, outside string) {
			must(t, os.Rename(w.project+"/skills", outside+"/skills"))
			link(t, outside+"/skills", w.project+"/skills")
		}, "is a link or no folder"},
		"a link within the project": {func(t *testing.T, w world, _ string) {
			must(t, os.Rename(w.project+"/skills/x", w.project+"/skills/y"))
			link(t, "y", w.project+"/skills/x")
		}, "is a link or no folder"},
		"the project": {func(t *testing.T, w world, outside string) {
			must(t, os.Rename(w.project, outside+"/project"))
			link(t, outside+"/project", w.project)
		}, "is reached over a link"},
		"a hard link": {func(t *testing.T, w world, outside string) {
			if err := os.Link(w.project+"/skills/x/SKILL.md", outside+"/other.md"); err != nil {
				t.Skip(err)
			}
		}, "2 names"},
		"a folder": {func(t *testing.T, w world, _ string) {
			must(t, os.Remove(w.project+"/skills/x/SKILL.md"))
			must(t, os.Mkdir(w.project+"/skills/x/SKILL.md", 0o755))
		}, "not a regular file"},
		"a pipe": {func(t *testing.T, w world, _ string) {
			must(t, os.Remove(w.project+"/skills/x/SKILL.md"))
			must(t, syscall.Mkfifo(w.project+"/skills/x/SKILL.md", 0o644))
		}, "not a regular file"},
		"a name that differs by case": {func(t *testing.T, w world, _ string) {
			w.write("skills/x/skill.MD", "# Other\n")
		}, "differs by case"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("skills/x/SKILL.md", "# House\n")
			outside := t.TempDir()
			it := w.item("skills/x/SKILL.md", "- A.")
			c.set(t, w, outside)
			before := listing(t, outside)
			_, err := w.store().Adopt(t.Context(), w.request("n1", it))
			if !refused(err, c.want) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(before, listing(t, outside)); diff != "" {
				t.Errorf("outside: %s", diff)
			}
			if history, _ := w.store().History(); len(history) > 0 {
				t.Errorf("receipts: %+v", history)
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

func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	return world{t: t, project: dir}.tree()
}

func TestTrap47TwoNamesOneFile(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	one := w.item("CLAUDE.md", "- A.")
	for _, other := range []string{"memory:CLAUDE.md", "memory:claude.md"} {
		two := one
		two.Target = other
		if _, err := w.store().Adopt(t.Context(), w.request("n1", one, two)); !refused(err, "are one file") {
			t.Errorf("%s: %v", other, err)
		}
	}
	w.write("caf\u00e9/SKILL.md", "# One\n")
	one, two := w.item("caf\u00e9/SKILL.md", "- A."), adopt.Item{Target: "memory:cafe\u0301/SKILL.md", New: true, Proposed: "x"}
	if _, err := w.store().Adopt(t.Context(), w.request("n1", one, two)); !refused(err, "are one file") {
		t.Errorf("Unicode forms: %v", err)
	}
	if got := w.read("CLAUDE.md"); got != "# House\n" {
		t.Errorf("written: %q", got)
	}
}

// TestTrap57Tampered: records that were changed are not believed, and lead nowhere.
func TestTrap57Tampered(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	w.write("victim/SKILL.md", "# Victim\n")
	s := w.store()
	s.At(func(point string) error {
		if point == "all verified" {
			return adopt.ErrKilled
		}
		return nil
	})
	it := w.item("CLAUDE.md", "- A.")
	if _, err := s.Adopt(t.Context(), w.request("n1", it)); !errors.Is(err, adopt.ErrKilled) {
		t.Fatal(err)
	}
	intent := filepath.Join(w.dir, "000001", "intent.json")
	data, err := os.ReadFile(intent)
	must(t, err)
	var r adopt.Record
	must(t, json.Unmarshal(data, &r))
	r.Files[0].Path, r.Files[0].After = "victim/SKILL.md", target.Digest("# Victim\n")
	changed, err := json.Marshal(r)
	must(t, err)
	must(t, os.WriteFile(intent, changed, 0o600))
	before := w.tree()
	var damaged *adopt.Damaged
	if err := w.store().Recover(t.Context()); !errors.As(err, &damaged) {
		t.Errorf("recover: %v", err)
	}
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Error(diff)
	}
	// As it was written it is finished.
	must(t, os.WriteFile(intent, data, 0o600))
	must(t, w.store().Recover(t.Context()))
	if got := w.read("CLAUDE.md"); got != it.Proposed {
		t.Errorf("CLAUDE.md: %q", got)
	}
	// A key of another user's.
	other := adopt.Open(adopt.Options{Dir: w.dir, Key: []byte("another"), Find: w.find})
	if _, err := other.History(); !errors.As(err, &damaged) {
		t.Errorf("another key: %v", err)
	}
}

func TestProposalsThatSayTooMuch(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	for name, c := range map[string]struct {
		change func(it *adopt.Item)
		want   string
	}{
		"bytes outside of the region": {func(it *adopt.Item) { it.Proposed = strings.Replace(it.Proposed, "House", "Mouse", 1) }, "outside of the learned region"},
		"no region":                   {func(it *adopt.Item) { it.Proposed = "# House\n- A.\n" }, "no learned region"},
		"empty":                       {func(it *adopt.Item) { it.Proposed = " \n" }, "is empty"},
		"too large":                   {func(it *adopt.Item) { it.Proposed = with(t, it.Base, "- "+strings.Repeat("x", target.MaxDocument)) }, "are allowed"},
		"another base":                {func(it *adopt.Item) { it.Base = "# Mouse\n" }, "outside of the learned region"},
		"a path":                      {func(it *adopt.Item) { it.Target = "memory:../CLAUDE.md" }, "no path of a document"},
		"an absolute path":            {func(it *adopt.Item) { it.Target = "memory:/etc/passwd" }, "no path of a document"},
	} {
		it := w.item("CLAUDE.md", "- A.")
		c.change(&it)
		if _, err := w.store().Adopt(t.Context(), w.request("n1", it)); !refused(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got := w.read("CLAUDE.md"); got != "# House\n" {
			t.Fatalf("%s: written: %q", name, got)
		}
	}
}

// points are those that a transaction with an existing and a new document in a new folder passes.
func points(t *testing.T) []string {
	t.Helper()
	var out []string
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	s := w.store()
	s.At(func(p string) error { out = append(out, p); return nil })
	_, err := s.Adopt(t.Context(), w.request("n1", w.item("CLAUDE.md", "- A."), w.item(".github/x.md", "- B.")))
	must(t, err)
	return out
}

// TestTrap51FailsAnywhere: a disk that fails at any step leaves all as before.
func TestTrap51FailsAnywhere(t *testing.T) {
	for k := range points(t) {
		w := newWorld(t)
		w.write("CLAUDE.md", "# House\n")
		before := w.tree()
		s, passed := w.store(), 0
		s.At(func(string) error {
			if passed++; passed == k+1 {
				return syscall.ENOSPC
			}
			return nil
		})
		one, two := w.item("CLAUDE.md", "- A."), w.item(".github/x.md", "- B.")
		_, err := s.Adopt(t.Context(), w.request("n1", one, two))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("point %d: %v", k, err)
		}
		history, err := w.store().History()
		must(t, err)
		if len(history) > 0 { // the receipt was written, and what failed came after it
			continue
		}
		must(t, w.store().Recover(t.Context()))
		if diff := cmp.Diff(before, w.tree()); diff != "" {
			t.Errorf("point %d of %v: %s", k, points(t)[k], diff)
		}
	}
}

// TestTrap53EditedMeanwhile: what a person writes into a document at any step stays.
func TestTrap53EditedMeanwhile(t *testing.T) {
	const theirs = "# Written by a person\n"
	for k, point := range points(t) {
		for _, cut := range []bool{false, true} {
			w := newWorld(t)
			w.write("CLAUDE.md", "# House\n")
			s, passed := w.store(), 0
			s.At(func(string) error {
				if passed++; passed == k+1 {
					w.write("CLAUDE.md", theirs)
					if cut {
						return adopt.ErrKilled
					}
				}
				return nil
			})
			_, err := s.Adopt(t.Context(), w.request("n1", w.item("CLAUDE.md", "- A."), w.item(".github/x.md", "- B.")))
			recovered := w.store().Recover(t.Context())
			if got := w.read("CLAUDE.md"); got != theirs {
				t.Errorf("at %d (%s), cut %v: %q; %v; %v", k, point, cut, got, err, recovered)
			}
			history, _ := w.store().History()
			var conflict *adopt.Conflict
			if len(history) == 0 && point != "intent" && point != "intended" && !errors.As(errors.Join(err, recovered), &conflict) {
				t.Errorf("at %d (%s), cut %v: nobody was told: %v; %v", k, point, cut, err, recovered)
			}
			if len(history) == 0 && w.read(".github/x.md") != "(none)" {
				t.Errorf("at %d (%s), cut %v: the other document was not undone", k, point, cut)
			}
			if again := w.store().Recover(t.Context()); again != nil {
				t.Errorf("at %d (%s), cut %v: told twice: %v", k, point, cut, again)
			}
		}
	}
}

// TestTrap54FolderReplaced: a folder that the transaction made and somebody replaced is not removed.
func TestTrap54FolderReplaced(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	s.At(func(point string) error {
		if point != "folder made" {
			return nil
		}
		// The file system may give the number of a folder that is gone to the next one.
		must(t, os.Rename(w.project+"/.github", w.project+"/theirs"))
		must(t, os.Mkdir(w.project+"/.github", 0o755))
		return adopt.ErrKilled
	})
	if _, err := s.Adopt(t.Context(), w.request("n1", w.item(".github/x.md", "- B."))); !errors.Is(err, adopt.ErrKilled) {
		t.Fatal(err)
	}
	must(t, w.store().Recover(t.Context()))
	if diff := cmp.Diff(map[string]string{"./": "", ".github/": "", "theirs/": ""}, w.tree()); diff != "" {
		t.Error(diff)
	}
}
