package night_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/task"
)

// holders are the files below a folder that hold a text.
func holders(t *testing.T, dir, text string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (h *home) forget(s bank.Subject) {
	h.t.Helper()
	rooms := []bank.Room{night.Room{Bank: h.bank, Dir: h.dir}, bank.Own{B: h.bank}}
	if _, err := bank.ForgetAll(h.t.Context(), rooms, s, false, h.now); err != nil {
		h.t.Fatal(err)
	}
	if strange, err := bank.Strange(h.dir, rooms); err != nil || len(strange) > 0 {
		h.t.Errorf("%v: of no room: %v", err, strange)
	}
}

// Runs and proposals hold texts of sessions: what is forgotten is in none of them. Nights go on after that.
func TestNightsForgetASession(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(14, "", true)
	r := h.night()
	_, words, _ := strings.Cut(h.world.Items[0].Prompt, "\n")
	words, _, _ = strings.Cut(words, "\n")
	if len(holders(t, h.dir, words)) < 3 {
		t.Fatalf("%q is not even in the runs", words)
	}
	h.forget(bank.Subject{Source: "claude", Session: "s000"})
	if found := holders(t, h.dir, words); len(found) > 0 {
		t.Errorf("%q is still in %v", words, found)
	}
	if found := holders(t, h.dir, "s000"); len(found) > 0 {
		t.Errorf("the session is still named in %v", found)
	}
	old, ok, err := night.Last(t.Context(), h.bank, h.dir, h.project, r.ID)
	if err != nil || !ok || len(old.Targets) > 0 || old.Spent.Calls != r.Spent.Calls {
		t.Errorf("%v: %+v", err, old)
	}
	h.day(3, "", true)
	if next := h.night(); next.Targets[0].Groups.Open == 0 {
		t.Errorf("%+v", next.Targets[0])
	}
}

func TestNightsForgetAProject(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(3, "", true)
	h.night()
	key, err := os.ReadFile(filepath.Join(h.dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(h.dir, night.RunsDir)
	run := target.Digest(h.project)[:8] + "-20261120-200000-skill-zebra-rules" // as of a night that opened tests of a skill
	opened := testset.Reading{RunID: "1", Number: 1, Run: run, Command: "train", At: h.now}
	if _, err := testset.Claim(t.Context(), runs, opened, []task.Task{{ID: "x", Prompt: "x"}}); err != nil {
		t.Fatal(err)
	}
	h.forget(bank.Subject{Folders: []string{h.project}, Project: func(p string) bool { return p == h.project }})
	for _, text := range []string{h.project, h.world.Items[0].ID, "s000", "zebra"} {
		if found := holders(t, h.dir, text); len(found) > 0 {
			t.Errorf("%q is still in %v", text, found)
		}
	}
	if after, err := os.ReadFile(filepath.Join(h.dir, "key")); err != nil || !bytes.Equal(key, after) {
		t.Errorf("the key is another one: %v", err)
	}
	if err := (night.Room{Dir: h.dir}).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range (night.Room{}).Entries() {
		if _, err := os.Lstat(filepath.Join(h.dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
