package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// A folder of sessions may be a link of the user's; what lies in it may not.
func TestLinksOfTheUser(t *testing.T) {
	t.Parallel()
	home := claudeHome(t, map[string]string{"a.jsonl": claudeLine("user", 1, `"here"`, ""), "b.jsonl": ""})
	projects, elsewhere := filepath.Join(home, ".claude", "projects"), filepath.Join(t.TempDir(), "kept")
	if err := os.Rename(projects, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, projects); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	if err := os.WriteFile(outside, []byte(claudeLine("user", 2, `"outside"`, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(elsewhere, "-p", "c.jsonl")); err != nil {
		t.Fatal(err)
	}
	got, _ := readClaude(t, home)
	if diff := cmp.Diff([]string{"here"}, said(got)); diff != "" {
		t.Error(diff)
	}
	if err := os.RemoveAll(elsewhere); err != nil {
		t.Fatal(err)
	}
	places := transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }}
	if _, err := (transcript.Claude{}).Stores(t.Context(), places); err == nil {
		t.Error("a link that leads nowhere is no error")
	}
}

func TestASingleFileMayBeNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stores, err := transcript.JSONL{}.Stores(t.Context(), transcript.Places{Given: map[string]string{"jsonl": path}})
	if err != nil || len(stores) != 1 || stores[0].Path() != path {
		t.Errorf("%v %v", stores, err)
	}
}
