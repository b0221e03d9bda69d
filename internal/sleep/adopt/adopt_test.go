package adopt_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/skill"
)

// world is a project with documents, and a store beside it.
type world struct {
	t       *testing.T
	project string
	dir     string
}

func newWorld(t *testing.T) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t: t, project: filepath.Join(base, "project"), dir: filepath.Join(base, "state", "adopted")}
	if err := os.MkdirAll(w.project, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// find knows documents by their paths below the project.
func (w world) find(project, id string) (adopt.Place, error) {
	if project != w.project {
		return adopt.Place{}, errors.New("another project")
	}
	return adopt.Place{ID: id, Root: w.project, Path: strings.TrimPrefix(id, "memory:")}, nil
}

func (w world) store() *adopt.Store {
	now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	return adopt.Open(adopt.Options{Dir: w.dir, Key: []byte("key of the user"), Version: "v0", Find: w.find, Env: os.Getenv, Now: func() time.Time { return now }})
}

func (w world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.project, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// tree is all that the project has, by path.
func (w world) tree() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.project, path)
		if err != nil || d.IsDir() {
			out[rel+"/"] = ""
			return err
		}
		if d.Type()&fs.ModeNamedPipe != 0 {
			out[rel] = "(a pipe)"
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// with is a text with rules in its learned region.
func with(t *testing.T, text string, rules ...string) string {
	t.Helper()
	text, err := skill.InjectLearned(text)
	if err != nil {
		t.Fatal(err)
	}
	content := ""
	for _, r := range rules {
		content += r + "\n"
	}
	if text, err = skill.ReplaceLearned(text, content); err != nil {
		t.Fatal(err)
	}
	return text
}

// item proposes rules for a document as it is now.
func (w world) item(name string, rules ...string) adopt.Item {
	base := w.read(name)
	it := adopt.Item{Target: "memory:" + name, Base: base, Claim: "supported"}
	if base == "(none)" {
		it.Base, it.New = "", true
	}
	it.Proposed = with(w.t, it.Base, rules...)
	for _, r := range rules {
		it.Rules = append(it.Rules, adopt.Rule{Text: r})
	}
	return it
}

func (w world) request(night string, items ...adopt.Item) adopt.Request {
	return adopt.Request{Project: w.project, Night: night, Items: items}
}

func TestAdoptAndTakeBack(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n\nBe brief.\n")
	if err := os.Chmod(filepath.Join(w.project, "CLAUDE.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	before := w.tree()
	one, two := w.item("CLAUDE.md", "- Write dates as YYYY-MM-DD."), w.item(".github/copilot-instructions.md", "- Ask first.")
	r, err := w.store().Adopt(t.Context(), w.request("n1", one, two))
	if err != nil {
		t.Fatal(err)
	}
	if r.N != 1 || len(r.Files) != 2 || r.Ended.IsZero() {
		t.Errorf("receipt: %+v", r)
	}
	if got := w.read("CLAUDE.md"); got != one.Proposed {
		t.Errorf("CLAUDE.md: %q", got)
	}
	if got := w.read(".github/copilot-instructions.md"); got != two.Proposed {
		t.Errorf("instructions: %q", got)
	}
	info, err := os.Stat(filepath.Join(w.project, "CLAUDE.md"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := w.store().Adopt(t.Context(), w.request("n1", one)); !refused(err, "adopted already, as number 1") {
		t.Errorf("again: %v", err)
	}
	_, taken, err := w.store().Rollback(t.Context(), w.project, 0)
	if err != nil || !taken[0].Exact || !taken[1].Exact {
		t.Fatalf("rollback: %+v, %v", taken, err)
	}
	after := w.tree()
	delete(after, ".github/") // folders of a transaction that is done stay
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if _, _, err := w.store().Rollback(t.Context(), w.project, 1); !errors.Is(err, adopt.ErrNothing) {
		t.Errorf("second rollback: %v", err)
	}
}

func refused(err error, text string) bool {
	var r *adopt.Refused
	return errors.As(err, &r) && strings.Contains(err.Error(), text)
}

func TestTrap49LiveChangedSince(t *testing.T) {
	base := "# House\n\nBe brief.\n"
	for name, c := range map[string]struct {
		live    string // "(none)": deleted
		base    string
		refused string
	}{
		"as it was":                 {live: base, base: base},
		"outside":                   {live: "# House\n\nBe very brief.\n", base: base},
		"outside, with a region":    {live: with(t, "# Home\n", "- Old."), base: with(t, base, "- Old.")},
		"outside, with CRLF":        {live: "# House\r\n\r\nBe brief.\r\n", base: base},
		"in the region":             {live: with(t, base, "- Old.", "- Mine."), base: with(t, base, "- Old."), refused: "edited since"},
		"a region has come":         {live: with(t, base, "- Mine."), base: base, refused: "edited since"},
		"the region is gone":        {live: base, base: with(t, base, "- Old."), refused: "edited since"},
		"deleted":                   {live: "(none)", base: base, refused: "deleted since"},
		"new":                       {live: base, base: "(none)", refused: "has come since"},
		"the region cannot be told": {live: base + skill.LearnedStart + "\n", base: base, refused: "line 4"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.base != "(none)" {
				w.write("CLAUDE.md", c.base)
			}
			it := w.item("CLAUDE.md", "- Old.", "- New.")
			if c.live == "(none)" {
				if err := os.Remove(filepath.Join(w.project, "CLAUDE.md")); err != nil {
					t.Fatal(err)
				}
			} else {
				w.write("CLAUDE.md", c.live)
			}
			before := w.tree()
			r, err := w.store().Adopt(t.Context(), w.request("n1", it))
			if c.refused != "" {
				if !refused(err, c.refused) {
					t.Errorf("error %v", err)
				}
				if diff := cmp.Diff(before, w.tree()); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := w.read("CLAUDE.md")
			content, err := skill.LearnedText(got)
			if err != nil || strings.ReplaceAll(content, "\r\n", "\n") != "- Old.\n- New.\n" {
				t.Errorf("region %q, %v", content, err)
			}
			if outside, _, _ := strings.Cut(c.live, skill.LearnedStart); !strings.HasPrefix(got, outside) {
				t.Errorf("what is outside: %q", got)
			}
			if r.Files[0].Merged != (c.live != c.base) {
				t.Errorf("merged: %v", r.Files[0].Merged)
			}
		})
	}
}

func TestTrap90RollbackAfterEdits(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", with(t, "# House\n", "- Old.", "- Gone."))
	it := w.item("CLAUDE.md", "- Old.", "- New one.", "- New two.")
	if _, err := w.store().Adopt(t.Context(), w.request("n1", it)); err != nil {
		t.Fatal(err)
	}
	w.write("CLAUDE.md", with(t, "# Home\n", "- Old.", "- Mine.", "- New one."))
	_, taken, err := w.store().Rollback(t.Context(), w.project, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []adopt.Taken{{Target: "memory:CLAUDE.md", Removed: []string{"- New one."}, Missing: []string{"- New two."}, Back: []string{"- Gone."}}}
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(with(t, "# Home\n", "- Old.", "- Mine.", "- Gone."), w.read("CLAUDE.md")); diff != "" {
		t.Error(diff)
	}
	if _, _, err := w.store().Rollback(t.Context(), w.project, 0); !errors.Is(err, adopt.ErrNothing) {
		t.Errorf("twice: %v", err)
	}
}

func TestTrap56Receipts(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	a, b := w.item("CLAUDE.md", "- A."), w.item("CLAUDE.md", "- B.")
	if _, err := w.store().Adopt(t.Context(), w.request("a", a)); err != nil {
		t.Fatal(err)
	}
	b.Base = w.read("CLAUDE.md") // of a night that began with it
	if _, err := w.store().Adopt(t.Context(), w.request("b", b)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store().Adopt(t.Context(), w.request("a", a)); !refused(err, "as number 1") {
		t.Errorf("third: %v", err)
	}
	history, err := w.store().History()
	if err != nil || len(history) != 2 || history[0].Night != "a" || history[1].Night != "b" {
		t.Errorf("history: %+v, %v", history, err)
	}
	for i, want := range []string{"# House\n", a.Proposed} {
		data, err := os.ReadFile(w.store().Backup(history[i], 0))
		if err != nil || string(data) != want {
			t.Errorf("backup %d: %q, %v", i, data, err)
		}
	}
}

// TestTrap55Adopters: of many at once one wins, and the others are told who.
func TestTrap55Adopters(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	const adopters = 20
	errs := make(chan error, adopters)
	both := []adopt.Item{w.item("CLAUDE.md", "- Rule 0."), w.item("CLAUDE.md", "- Rule 1.")} // of nights that began with the same
	for i := range adopters {
		it := both[i%2]
		go func() {
			_, err := w.store().Adopt(context.Background(), w.request(fmt.Sprintf("n%d", i%2), it))
			errs <- err
		}()
	}
	won := 0
	for range adopters {
		switch err := <-errs; {
		case err == nil:
			won++
		case !refused(err, "adopted already, as number 1") && !refused(err, "edited since"):
			t.Errorf("a loser is told %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

// What is noted of a project goes, also of what was undone, and of no other one.
func TestForget(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	s := w.store()
	s.At(func(point string) error {
		if point == "all verified" {
			return errors.New("the disk is full")
		}
		return nil
	})
	if _, err := s.Adopt(t.Context(), w.request("n1", w.item("CLAUDE.md", "- A."))); err == nil {
		t.Fatal("it was adopted")
	}
	if _, err := w.store().Adopt(t.Context(), w.request("n2", w.item("CLAUDE.md", "- B."))); err != nil {
		t.Fatal(err)
	}
	of := func(project string) func(string) bool { return func(p string) bool { return p == project } }
	if got, err := w.store().Forget(of("/elsewhere"), false); err != nil || len(got) != 0 {
		t.Errorf("of another project: %v, %v", got, err)
	}
	for _, keep := range []bool{true, false} {
		got, err := w.store().Forget(of(w.project), keep)
		if err != nil || len(got) != 2 {
			t.Fatalf("%v, %v", got, err)
		}
		for _, dir := range got {
			if _, err := os.Stat(dir); (err == nil) != keep {
				t.Errorf("keep %v: %s: %v", keep, dir, err)
			}
		}
	}
}
