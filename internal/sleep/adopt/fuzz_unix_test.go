//go:build unix

package adopt_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// besieged is a project beside files that nothing may be written into, each named like a document.
func besieged(t *testing.T) (w world, outside string) {
	w = newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	w.write("skills/x/SKILL.md", "# Skill\n")
	w.write("neighbour.txt", "untouched\n")
	outside = filepath.Join(filepath.Dir(w.project), "outside")
	for _, name := range []string{"SKILL.md", "CLAUDE.md", "x/SKILL.md", "skills/x/SKILL.md", ".github/copilot-instructions.md", "copilot-instructions.md"} {
		at := filepath.Join(outside, filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("victim\n"), 0o644)))
	}
	return w, outside
}

// swaps are what a hostile process does to names of the project while a transaction is at work. It does nothing outside of the project
// itself, of which it has made links.
func swaps(project, outside string) []func() {
	at := func(name string, do func(at string)) func() {
		return func() {
			at := filepath.Join(project, filepath.FromSlash(name))
			if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil && dir == filepath.Dir(at) {
				do(at)
			}
		}
	}
	replaced := func(name, by string) func() {
		return at(name, func(at string) {
			_ = os.Rename(at, at+".away")
			_ = os.Symlink(filepath.Join(outside, filepath.FromSlash(by)), at)
		})
	}
	return []func(){
		replaced("CLAUDE.md", "CLAUDE.md"), replaced("skills/x/SKILL.md", "SKILL.md"), replaced("skills/x", "x"), replaced("skills", "skills"), replaced(".github", ".github"),
		replaced(".github/copilot-instructions.md", "copilot-instructions.md"), replaced(".CLAUDE.md.skillopt-1", "CLAUDE.md"), replaced(".CLAUDE.md.skillopt-1.part", "CLAUDE.md"),
		replaced("skills/x/.SKILL.md.skillopt-1", "SKILL.md"), replaced("skills/x/.SKILL.md.skillopt-1.part", "SKILL.md"), replaced("..github.skillopt-1", ".github"),
		func() { // the whole project
			if _, err := os.Lstat(project + ".away"); err != nil {
				_ = errors.Join(os.Rename(project, project+".away"), os.Symlink(outside, project))
			}
		},
		func() { // back again
			if info, err := os.Lstat(project); err == nil && info.Mode()&os.ModeSymlink != 0 {
				_ = errors.Join(os.Remove(project), os.Rename(project+".away", project))
			}
		},
		at("CLAUDE.md", func(at string) { // a second name
			_ = os.Remove(at)
			_ = os.Link(filepath.Join(outside, "CLAUDE.md"), at)
		}),
		at("skills/x/SKILL.md", func(at string) {
			_ = os.Remove(at)
			_ = syscall.Mkfifo(at, 0o644)
		}),
		at("skills", func(at string) { _ = os.RemoveAll(at) }),
		at("CLAUDE.md", func(at string) {
			if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && info.Sys().(*syscall.Stat_t).Nlink == 1 {
				_ = os.WriteFile(at, []byte("# Theirs\n"), 0o644)
			}
		}),
		at(".github", func(at string) { _ = os.Mkdir(at, 0o755) }),
	}
}

// FuzzLinksSwapped has names exchanged for links to other files, and worse, at any step of a transaction, of the recovery after it and of a
// rollback: nothing outside of the project is written to, nor any other file in it.
func FuzzLinksSwapped(f *testing.F) {
	for point := range byte(24) {
		f.Add([]byte{point, point * 7, point + 3, point * 5}, point%3 == 0)
	}
	for action := range byte(18) {
		f.Add([]byte{4, action, 9, 12}, false)
		f.Add([]byte{11, action, 14, action + 1, 17, 12}, true)
	}
	f.Fuzz(besiege)
}

// besiege adopts, recovers and takes back while names are exchanged at the steps that a program says.
func besiege(t *testing.T, program []byte, cut bool) {
	w, outside := besieged(t)
	items := []adopt.Item{w.item("CLAUDE.md", "- A."), w.item("skills/x/SKILL.md", "- B."), w.item(".github/copilot-instructions.md", "- C.")}
	before, actions := listing(t, outside), swaps(w.project, outside)
	passed := 0
	at := func(string) error {
		passed++
		for i := 0; i+1 < len(program) && i < 16; i += 2 {
			if int(program[i])%40 == passed {
				actions[int(program[i+1])%len(actions)]()
				if cut && i == 0 {
					return adopt.ErrKilled
				}
			}
		}
		return nil
	}
	s := w.store()
	s.At(at)
	_, _ = s.Adopt(t.Context(), w.request("n1", items...))
	s = w.store()
	s.At(at)
	_ = s.Recover(t.Context())
	_, _, _ = s.Rollback(t.Context(), w.project, 0)
	_ = w.store().Recover(t.Context())
	untouched(t, w, outside, before)
}

func untouched(t *testing.T, w world, outside string, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, listing(t, outside)); diff != "" {
		t.Errorf("outside (-was +is):\n%s", diff)
	}
	for _, dir := range []string{w.project, w.project + ".away"} {
		if data, err := os.ReadFile(filepath.Join(dir, "neighbour.txt")); err == nil && string(data) != "untouched\n" {
			t.Errorf("another file of the project: %q", data)
		}
	}
}

// TestLinksSwappedMeanwhile is a process that exchanges names without a pause while others adopt: nothing outside of the project is
// written to. With SKILLOPT_LONG it goes on for thousands of rounds, and as many with swaps at random steps.
func TestLinksSwappedMeanwhile(t *testing.T) {
	rounds := 15
	if os.Getenv("SKILLOPT_LONG") != "" {
		rounds = 3000
	}
	rng := rand.New(rand.NewPCG(3, 20))
	wrote := 0
	for range rounds {
		w, outside := besieged(t)
		items := []adopt.Item{w.item("CLAUDE.md", "- A."), w.item("skills/x/SKILL.md", "- B."), w.item(".github/copilot-instructions.md", "- C.")}
		before, actions := listing(t, outside), swaps(w.project, outside)
		order := rng.Perm(len(actions))
		quiet, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			for i := 0; ; i++ {
				select {
				case <-quiet:
					return
				default:
					actions[order[i%len(order)]]()
				}
			}
		}()
		if _, err := w.store().Adopt(t.Context(), w.request("n1", items...)); err == nil {
			wrote++
		}
		_ = w.store().Recover(t.Context())
		_, _, _ = w.store().Rollback(t.Context(), w.project, 0)
		close(quiet)
		<-over
		_ = w.store().Recover(t.Context())
		untouched(t, w, outside, before)
		if rounds > 15 {
			program := make([]byte, 2*(1+rng.IntN(8)))
			for i := range program {
				program[i] = byte(rng.IntN(256))
			}
			besiege(t, program, rng.IntN(2) == 0)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds, %d adopted", rounds, wrote)
}

// FuzzRecords has what is noted of a transaction that was cut short changed, under the user's HMAC or not: recovery, history, blame and
// rollback write nothing but into the documents that are found by their names.
func FuzzRecords(f *testing.F) {
	f.Add("intent.json", []byte(`{"root": "/", "path": "x"}`), false)
	for _, c := range [][3]string{{"../outside", "SKILL.md", ""}, {"", "../outside/SKILL.md", ""}, {"outside", "SKILL.md", "victim"}, {"", "neighbour.txt", "untouched"}, {"", ".", ""}, {"/", "etc/passwd", ""}} {
		data, err := json.Marshal(map[string]string{"root": c[0], "path": c[1], "before": c[2]})
		if err != nil {
			f.Fatal(err)
		}
		f.Add("intent.json", data, true)
		f.Add("receipt.json", data, true)
		f.Add("made.json", []byte(`[{"root": "`+c[0]+`", "path": "`+c[1]+`", "id": "1:2"}]`), false)
	}
	f.Add("0.before", []byte("victim\n"), false)
	f.Fuzz(func(t *testing.T, name string, data []byte, sign bool) {
		w, outside := besieged(t)
		s := w.store()
		passed := 0
		s.At(func(string) error {
			if passed++; passed == 9 {
				return adopt.ErrKilled
			}
			return nil
		})
		_, _ = s.Adopt(t.Context(), w.request("n1", w.item("CLAUDE.md", "- A."), w.item("skills/x/SKILL.md", "- B.")))
		before := listing(t, outside)
		if filepath.IsLocal(name) && filepath.Base(name) == name {
			at := filepath.Join(w.dir, "000001", name)
			var change struct{ Root, Path, Before, After, Target, Project string }
			if sign && json.Unmarshal(data, &change) == nil {
				data = signed(t, w, change.Root, change.Path, change.Before, change.After, change.Target, change.Project, outside)
			}
			_ = os.Remove(at)
			_ = os.WriteFile(at, data, 0o600)
		}
		_ = w.store().Recover(t.Context())
		_, _ = w.store().History()
		_, _ = w.store().Blame(w.project, "memory:CLAUDE.md", w.read("CLAUDE.md"))
		_, _, _ = w.store().Rollback(t.Context(), w.project, 0)
		if diff := cmp.Diff(before, listing(t, outside)); diff != "" {
			t.Errorf("outside (-was +is):\n%s", diff)
		}
		if w.read("neighbour.txt") != "untouched\n" {
			t.Errorf("another file of the project: %q", w.read("neighbour.txt"))
		}
	})
}

// signed is a record of number 1 under the user's HMAC, with one of its documents elsewhere.
func signed(t *testing.T, w world, root, path, before, after, id, project, outside string) []byte {
	t.Helper()
	r := adopt.Record{Format: adopt.Format, N: 1, Kind: adopt.Adopted, Project: w.project, Night: "n1", Files: []adopt.Changed{{Target: "memory:CLAUDE.md", Root: w.project, Path: "CLAUDE.md"}}}
	c := &r.Files[0]
	switch root {
	case "":
	case "outside":
		c.Root = outside
	default:
		c.Root = root
	}
	if path != "" {
		c.Path = path
	}
	if id != "" {
		c.Target = id
	}
	if project != "" {
		r.Project = project
	}
	c.Before, c.After = target.Digest(before), target.Digest(after)
	data, err := json.Marshal(adopt.Signed(w.store(), r))
	must(t, err)
	return data
}
