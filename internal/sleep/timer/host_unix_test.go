//go:build unix

package timer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakes play the programs of schedulers, as far as they are asked.
var fakes = map[string]string{
	"crontab": `T="$HOME/tab"
case "$1" in
-l) [ -f "$T" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$T" ;;
-r) rm "$T" ;;
-) [ -f "$HOME/full" ] && { echo "no space left on device" >&2; exit 1; }; cat >"$T" ;;
esac`,
	"systemctl": `W="$XDG_CONFIG_HOME/systemd/user/timers.target.wants"
[ -f "$HOME/nobus" ] && { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
case "$2" in
enable) [ -f "$HOME/noenable" ] && { echo "Access denied" >&2; exit 1; }
  mkdir -p "$W" "$XDG_DATA_HOME/systemd/timers"; ln -sf "../$3" "$W/$3"; : >"$XDG_DATA_HOME/systemd/timers/stamp-$3" ;;
disable) rm "$W/$4" ;;
esac`,
	"systemd-analyze": `exit 0`,
	"launchctl": `case "$1" in
bootstrap) case "$2" in gui/*) echo "Bootstrap failed: 125" >&2; exit 125;; esac; cp "$3" "$HOME/booted" ;;
bootout) rm -f "$HOME/booted" ;;
print) [ -f "$HOME/booted" ] || exit 113 ;;
esac`,
	"schtasks": `T="$HOME/task"
case "$1$4" in
/Create*) cp "$5" "$T"; [ -s "$T" ] ;;
/Query/XML) [ -f "$T" ] || { echo "ERROR: The system cannot find the file specified." >&2; exit 1; }; cat "$T" ;;
/Query*) [ -f "$T" ] && echo '"\skillopt-sleep-0123456789abcdef","N/A","Ready"'; echo '"\Microsoft\x","N/A","Ready"' ;;
/Delete*) rm "$T" ;;
esac`,
}

// fakeHost is a host whose schedulers are fakes; home is empty.
func fakeHost(t *testing.T) (h Host, home string) {
	t.Helper()
	home = t.TempDir()
	bin := t.TempDir()
	for name, text := range fakes {
		text = "#!/bin/sh\necho \"" + name + " $*\" >>\"$HOME/../calls-$(basename \"$HOME\")\"\n" + text + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"PATH": bin + ":relative", "HOME": home, "XDG_CONFIG_HOME": home + "/c", "XDG_DATA_HOME": home + "/d", "SECRET": "no"}
	return Host{
		OS: "linux", User: 1000, Folders: Folders{Home: home, Settings: home + "/c", Data: home + "/d"},
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	}, home
}

// tree is all below a folder but empty folders: names and what they hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if link, err := os.Readlink(path); err == nil {
			out[name] = "-> " + link
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTrap63TwiceIsTheSame: an entry is written, written again with the same bytes, listed, and removed with all that came
// with it.
func TestTrap63TwiceIsTheSame(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		h, home := fakeHost(t)
		s, err := Open(kind, h)
		if err != nil {
			t.Fatal(err)
		}
		if kind == Cron {
			write1(t, home+"/tab", "# mine\n5 4 * * * /bin/true 100\\%\n")
		}
		before := tree(t, home)
		e := oddEntry(systemOf(kind))
		if err := s.Install(t.Context(), e); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		one := tree(t, home)
		if len(one) == len(before) && kind != Cron {
			t.Errorf("%s: nothing was written", kind)
		}
		if err := s.Install(t.Context(), e); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if diff := cmp.Diff(one, tree(t, home)); diff != "" {
			t.Errorf("%s: done twice it is not the same:\n%s", kind, diff)
		}
		found, err := s.List(t.Context())
		if diff := cmp.Diff([]Found{{Kind: kind, ID: e.ID, Profile: e.Profile}}, found); err != nil || diff != "" {
			t.Errorf("%s: %v: %s", kind, err, diff)
		}
		later := e
		later.At = At{5, 0}
		if err := s.Install(t.Context(), later); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if cmp.Equal(one, tree(t, home)) {
			t.Errorf("%s: another time is the same entry", kind)
		}
		there, err := s.Remove(t.Context(), e.ID)
		if err != nil || !there {
			t.Errorf("%s: %v %v", kind, there, err)
		}
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("%s leaves behind:\n%s", kind, diff)
		}
		if there, err := s.Remove(t.Context(), e.ID); err != nil || there {
			t.Errorf("%s: removed twice: %v %v", kind, there, err)
		}
	}
}

func write1(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestTrap63WhatIsNotOursStays: a unit, an agent or a task of the same name by somebody else.
func TestTrap63WhatIsNotOursStays(t *testing.T) {
	t.Parallel()
	for kind, place := range map[Kind]string{
		Systemd: "/c/systemd/user/skillopt-sleep-0123456789abcdef.timer", Launchd: "/Library/LaunchAgents/skillopt.sleep.0123456789abcdef.plist", Tasks: "/task",
		Cron: "/tab",
	} {
		h, home := fakeHost(t)
		s, err := Open(kind, h)
		if err != nil {
			t.Fatal(err)
		}
		write1(t, home+place, "[Timer]\nOnCalendar=daily\n# >>> skillopt-sleep-0123456789abcdef\n")
		before := tree(t, home)
		e := oddEntry(systemOf(kind))
		var foreign *ForeignError
		if err := s.Install(t.Context(), e); !errors.As(err, &foreign) {
			t.Errorf("%s: written over: %v", kind, err)
		}
		if _, err := s.Remove(t.Context(), e.ID); !errors.As(err, &foreign) {
			t.Errorf("%s: removed: %v", kind, err)
		}
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("%s: changed:\n%s", kind, diff)
		}
	}
	// A link in the place of a unit leads elsewhere.
	h, home := fakeHost(t)
	write1(t, home+"/mine", "# skillopt-sleep-0123456789abcdef \"x\"\n")
	write1(t, home+"/c/systemd/user/x", "")
	if err := os.Symlink(home+"/mine", home+"/c/systemd/user/skillopt-sleep-0123456789abcdef.service"); err != nil {
		t.Fatal(err)
	}
	if err := (systemd{h}).Install(t.Context(), oddEntry("")); err == nil {
		t.Error("written through a link")
	}
}

// TestAFailureLeavesWhatWasThere: a scheduler that says no changes nothing.
func TestAFailureLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind       Kind
		when, says string
	}{
		{Systemd, "nobus", "Failed to connect to bus"},
		{Systemd, "noenable", "Access denied"},
		{Cron, "full", "no space left"},
	} {
		h, home := fakeHost(t)
		s, err := Open(tc.kind, h)
		if err != nil {
			t.Fatal(err)
		}
		write1(t, home+"/tab", "# mine\n")
		write1(t, home+"/"+tc.when, "")
		before := tree(t, home)
		err = s.Install(t.Context(), oddEntry(""))
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s, %s: %v", tc.kind, tc.when, err)
		}
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("%s, %s: changed:\n%s", tc.kind, tc.when, diff)
		}
	}
}

// TestWithoutAManagerFilesGo: the units of a manager that is not there any more are only files.
func TestWithoutAManagerFilesGo(t *testing.T) {
	t.Parallel()
	h, home := fakeHost(t)
	s := systemd{h}
	if err := s.Install(t.Context(), oddEntry("")); err != nil {
		t.Fatal(err)
	}
	write1(t, home+"/nobus", "")
	if there, err := s.Remove(t.Context(), oddEntry("").ID); err != nil || !there {
		t.Errorf("%v %v", there, err)
	}
	if left := tree(t, home); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if kind, err := Choose(t.Context(), h); err != nil || kind != Cron {
		t.Errorf("chosen: %s, %v", kind, err)
	}
}

// TestProgramsAreFoundByAbsoluteFolders, with a short list of variables.
func TestProgramsSeeLittle(t *testing.T) {
	t.Parallel()
	h, _ := fakeHost(t)
	out, err := h.run(t.Context(), nil, "env")
	if err != nil || strings.Contains(string(out), "SECRET") || !strings.Contains(string(out), "LC_ALL=C\n") {
		t.Errorf("%v: %s", err, out)
	}
	var missing *ProgramError
	if _, err := h.run(t.Context(), nil, "no-such-program"); !errors.As(err, &missing) || !missing.Missing {
		t.Errorf("%v", err)
	}
	for _, kind := range []Kind{"", "at"} {
		if _, err := Open(kind, h); err == nil {
			t.Errorf("there is a scheduler %q", kind)
		}
	}
}
