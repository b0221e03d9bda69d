package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/fault"
)

// Serve says what the folders hold that it was given: runs, nights, both or nothing yet.
func TestServeSaysWhatFoldersHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	manifest := `{"format": 2, "run_id": "a", "name": "a", "kind": "dream", "created_at": "2026-01-02T03:04:05Z", "status": "completed"}`
	put("runs/a/manifest.json", manifest)
	put("sleep/runs/a/manifest.json", manifest)
	put("sleep/nights/0123456789abcdef/20260102-030405/night.json", `{"format": 4}`)
	put("begun/bank.db", "")
	for path, want := range map[string]string{
		"runs": "showing 1 run in runs", "runs/a": "showing the run runs/a", "sleep": "showing 1 run and 1 night in sleep", "sleep/nights": "showing 1 night in sleep/nights",
		"sleep/nights/0123456789abcdef": "showing 1 night in sleep/nights/0123456789abcdef", "sleep/runs": "showing 1 run in sleep/runs",
		"sleep/nights/0123456789abcdef/20260102-030405": "showing the night sleep/nights/0123456789abcdef/20260102-030405",
		"begun": "no runs in begun yet; they are shown as they begin",
	} {
		if got := filepath.ToSlash(foldersText(printer{dir: dir}, filepath.Join(dir, filepath.FromSlash(path)))); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Pages get the profile that is named, or the user's own if a folder of its sleep.dir is served.
func TestServeFindsTheProfileOfSleep(t *testing.T) {
	h := newStagedHome(t)
	state := filepath.Join(h.dir, "state")
	h.write("config/skillopt/sleep.yaml", "sleep:\n  projects: [../../project]\n  dir: ../../state\n")
	h.write("none/x", "")
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: h.dir}, version: "test"}
	for _, tt := range []struct {
		name, config, profile, folder string
		found, fails                  bool
	}{
		{"own", "config", "", state, true, false},
		{"own, a folder of it", "config", "", h.folder(), true, false},
		{"own, other folders", "config", "", filepath.Join(h.dir, "project"), false, false},
		{"none", "none", "", state, false, false},
		{"named", "none", "sleep.yaml", filepath.Join(h.dir, "project"), true, false},
		{"named and not there", "config", "missing.yaml", state, false, true},
	} {
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(h.dir, tt.config))
		p, dir, err := (&serveOptions{profile: tt.profile}).nights(a, []string{tt.folder})
		if (p != nil) != tt.found || (err != nil) != tt.fails || tt.found && dir != state {
			t.Errorf("%s: %v %q %v", tt.name, p, dir, err)
		}
	}
}

// What a page adopts is what a terminal would: by the hash that was shown, and nothing else is written.
func TestPagesAdopt(t *testing.T) {
	h := newStagedHome(t)
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: h.dir}, version: "test"}
	p, _, err := (&serveOptions{profile: "sleep.yaml"}).nights(a, nil)
	must(t, err)
	do := func(into any, words ...string) error {
		text, err := p.Do(t.Context(), words...)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		return err
	}
	var shown shownNight
	project := "--project=" + filepath.Join(h.dir, "project")
	must(t, do(&shown, "sleep", project, "show", "--", stagedNight))
	const target = "memory:CLAUDE.md"
	hash := shown.Diffs[len(shown.Diffs)-1].Hash
	if want := fmt.Sprintf("skillopt sleep adopt %s --project %s --target %s --expect %.12s --profile %s", stagedNight, filepath.Join(h.dir, "project"), target, hash, filepath.Join(h.dir, "sleep.yaml")); shown.Adopt[target] != want {
		t.Errorf("%q, want %q", shown.Adopt[target], want)
	}
	before := h.tree()
	for name, words := range map[string][]string{
		"another hash": {"--target=" + target, "--expect=" + strings.Repeat("0", 64), "--", stagedNight},
		"another text": {"--target=skill:cards", "--expect=" + hash, "--", stagedNight},
		"no night":     {"--target=" + target, "--expect=" + hash, "--", "20200101-000000"},
	} {
		if err := do(&struct{}{}, append([]string{"sleep", project, "adopt"}, words...)...); fault.Of(err) != fault.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, h.tree()); diff != "" {
		t.Fatalf("something was written:\n%s", diff)
	}
	var done struct{ N int }
	must(t, do(&done, "sleep", project, "adopt", "--target="+target, "--expect="+hash, "--", stagedNight))
	text, err := os.ReadFile(filepath.Join(h.dir, "project", "CLAUDE.md"))
	if err != nil || done.N != 1 || !strings.Contains(string(text), "- Rule two.") {
		t.Errorf("%+v %v: %s", done, err, text)
	}
}
