package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// isolatedSpec is a Spec of a shell in namespaces of its own.
func isolatedSpec(t *testing.T, script string) Spec {
	t.Helper()
	if !Probe().Isolated {
		t.Skip("there are no namespaces here")
	}
	dir := t.TempDir()
	return Spec{
		Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Confine: &Confine{Write: []string{dir}},
	}
}

// TestShown: the program sees its folder at another place, works in it, and finds
// nothing of where it is among its arguments and variables.
func TestShown(t *testing.T) {
	t.Parallel()
	place := Vacant("/workspace", "/project", "/checkout")
	if place == "" {
		t.Skip("all names are taken here")
	}
	s := isolatedSpec(t, "pwd; echo new >file; ls "+place+"; tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/1/cmdline")
	s.Confine.Show = Places{{Dir: s.Dir, As: place}}
	r, out := run(t, s)
	if r.Code != 0 || !strings.HasPrefix(out, place+"\nfile\n") || strings.Contains(out, s.Dir) || strings.Contains(out, "Write") {
		t.Errorf("got %+v, %q", r, out)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, "file")); err != nil || string(text) != "new\n" {
		t.Errorf("the folder holds %q, %v", text, err)
	}
	s.Argv = []string{"./own"}
	must(t, os.WriteFile(filepath.Join(s.Dir, "own"), []byte("#!/bin/sh\necho $0; pwd\n"), 0o700))
	if r, out := run(t, s); r.Code != 0 || !strings.HasSuffix(out, "own\n"+place+"\n") {
		t.Errorf("a program of the folder: %+v, %q", r, out)
	}
}

// TestProcessesOfItsOwn: it sees none but its own, and init cannot be harmed.
func TestProcessesOfItsOwn(t *testing.T) {
	t.Parallel()
	s := isolatedSpec(t, `ls /proc | grep -c '^[0-9]'; kill -9 1; kill -TERM 1 2>/dev/null; cat /proc/1/environ; echo alive`)
	r, out := run(t, s)
	if r.Code != 0 || !strings.HasSuffix(out, "alive\n") {
		t.Errorf("got %+v, %q", r, out)
	}
	if n := numbers(out); len(n) == 0 || n[0] > 6 {
		t.Errorf("it sees %v processes", n)
	}
}

// TestNothingElseIsWritten: not even mode and times of files that belong to the user.
func TestNothingElseIsWritten(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.WriteFile(other, nil, 0o600))
	s := isolatedSpec(t, "chmod 777 "+other+"; touch -d 2001-01-01 "+other+"; ln "+other+" hard; mv "+other+" mine; rm "+other)
	before, err := os.Stat(other)
	must(t, err)
	r, _ := run(t, s)
	after, err := os.Stat(other)
	if err != nil || before.Mode() != after.Mode() || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("it is %v now, %v: %+v", after, err, r)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) > 0 {
		t.Errorf("in its folder there are %v, %v", entries, err)
	}
}

// TestMemoryIsNotShared: what one program leaves in memory is not there for the next.
func TestMemoryIsNotShared(t *testing.T) {
	t.Parallel()
	s := isolatedSpec(t, "ls /dev/shm; echo gold >/dev/shm/kept && echo kept")
	for range 2 {
		if r, out := run(t, s); r.Code != 0 || out != "kept\n" {
			t.Errorf("got %+v, %q", r, out)
		}
	}
	if _, err := os.Stat("/dev/shm/kept"); !os.IsNotExist(err) {
		t.Errorf("outside there is %v", err)
	}
}

// TestInert: nothing in such a folder is executed, by name or as a library, and it can
// be read and written.
func TestInert(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		s := confined(t, "run", "/bin/sh", "-c", "cp /bin/echo own && chmod 755 own && ./own ran; cat own | head -c 4; echo")
		s.Confine = &Confine{Inert: []string{s.Dir}}
		_, out := run(t, set(s))
		if strings.Contains(out, "ran") || !strings.Contains(strings.ToLower(out), "permission denied") || !strings.Contains(out, "ELF") {
			t.Errorf("it says %q", out)
		}
	})
}
