package timer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProfileIsReadBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "timers", "0123456789abcdef.json")
	p := &Profile{
		Format: Format, ID: "0123456789abcdef", Kind: Cron, At: At{3, 17}, Written: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), Program: odd, Profile: odd, Folder: odd,
		Flags: json.RawMessage(`{"a":1}`), Env: map[string]string{"PATH": "/bin"},
	}
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	got, found, err := ReadProfile(t.Context(), path)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	got.Flags = json.RawMessage(strings.Join(strings.Fields(string(got.Flags)), ""))
	if diff := cmp.Diff(p, got); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for text, wrong := range map[string]bool{"sleep: {}\n": false, `{"sleep": {}}`: false, "{": false, `{"skillopt_timer": 2}`: true, `{"skillopt_timer": 1, "at": "25:00"}`: true, `{"skillopt_timer": 1, "env": []}`: true} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, found, err := ReadProfile(t.Context(), path); found || (err != nil) != wrong {
			t.Errorf("%s: %v, %v", text, found, err)
		}
	}
}

// TestAProfileOfOthersIsRefused: it says what is run, so that one of a downloaded folder does not do.
func TestAProfileOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	path := filepath.Join(t.TempDir(), "0123456789abcdef.json")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o660: true, 0o602: true} {
		if err := (&Profile{Format: Format}).Write(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, found, err := ReadProfile(t.Context(), path); (err != nil) != refused || found == refused {
			t.Errorf("%o: %v, %v", mode, found, err)
		}
	}
	if os.Getuid() == 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 65534, -1); err != nil {
			t.Skip(err)
		}
		if _, _, err := ReadProfile(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another user owns it") {
			t.Errorf("%v", err)
		}
	}
}

func TestStateThatCannotBeReadIsNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	for _, text := range []string{"", "{", "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := ReadState(t.Context(), path); err != nil || s != (State{}) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	want := State{Day: "2026-11-26", Failed: "x"}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadState(t.Context(), path); err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestALogIsShortened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := Shorten(path, 100, 10); err != nil {
		t.Error(err)
	}
	add, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = add.Close() }()
	for _, tc := range []struct{ add, want string }{{strings.Repeat("a", 100), strings.Repeat("a", 100)}, {"b", "aaaaaaaaab"}, {"c", "aaaaaaaaabc"}} {
		if _, err := add.WriteString(tc.add); err != nil {
			t.Fatal(err)
		}
		if err := Shorten(path, 100, 10); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc.want {
			t.Errorf("%q, %v", got, err)
		}
	}
}
