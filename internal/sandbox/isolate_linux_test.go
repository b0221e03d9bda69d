package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
	writeProgram(t, filepath.Join(s.Dir, "own"), []byte("#!/bin/sh\necho $0; pwd\n"))
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

// TestOffLeader: however often, and from whichever thread, it is another.
func TestOffLeader(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 500 {
				offLeader(func() {
					if unix.Gettid() == unix.Getpid() {
						t.Error("it is the first thread")
					}
				})
			}
		})
	}
	both.Wait()
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
	s := isolatedSpec(t, "cat /dev/shm/kept 2>&-; echo gold >/dev/shm/kept && echo kept")
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

// inSharedMemory is a fresh folder of the shared memory of the machine.
func inSharedMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "skillopt-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// runsIn reports whether programs can be executed in a folder.
func runsIn(t *testing.T, dir string) bool {
	t.Helper()
	var stat unix.Statfs_t
	must(t, unix.Statfs(dir, &stat))
	return stat.Flags&unix.ST_NOEXEC == 0
}

// TestFoldersInSharedMemory: what lies in the shared memory of the machine is shown like
// what lies elsewhere, for writing or reading as declared, and the rest of it is not.
func TestFoldersInSharedMemory(t *testing.T) {
	t.Parallel()
	shm, disk := inSharedMemory(t), t.TempDir()
	for _, dir := range []string{"work", "given", "other", "tools"} {
		must(t, os.Mkdir(filepath.Join(shm, dir), 0o700))
	}
	for _, file := range []string{shm + "/given/text", shm + "/other/text", shm + "/single", disk + "/text"} {
		must(t, os.WriteFile(file, []byte("old\n"), 0o600))
	}
	writeProgram(t, shm+"/tools/tool", []byte("#!/bin/sh\n. ./script\n"))
	must(t, os.Symlink(shm+"/tools/tool", shm+"/link"))
	must(t, unix.Mkfifo(shm+"/given/pipe", 0o666))
	pipe, err := os.OpenFile(shm+"/given/pipe", os.O_RDWR, 0) // so that one who writes need not wait
	must(t, err)
	t.Cleanup(func() { must(t, pipe.Close()) })

	const whole = "grep -q ' / / ro' /proc/self/mountinfo && echo whole\n" // a root of its own
	tests := []struct {
		name, script, want string
		set                func(*Spec)
	}{
		{"the workspace", "pwd; echo new >file; cat file", shm + "/work\nnew\n", nil},
		{"its own memory", "ls /dev/shm/*; echo gold >/dev/shm/kept && cat /dev/shm/kept", "work\ngold\n", nil},
		{"beside the workspace", "echo no >../file; mkdir ../dir; mv ../../skill* away; ls ..; echo .*", "work\n. ..\n", nil},
		{"other folders", "cat " + shm + "/other/text; chmod 777 " + shm + "/other; ls " + shm, "work\n", nil},
		{"reading", "cat " + shm + "/given/text " + shm + "/single " + disk + "/text", "old\nold\nold\n", func(s *Spec) {
			s.Confine.Read = []string{shm + "/given", shm + "/single", disk, shm + "/none"}
		}},
		{"changing what is for reading", "(echo new >" + shm + "/given/text); (echo x >" + shm + "/given/pipe); (echo >" + shm + "/given/new); chmod 777 " + shm + "/given; rm " + shm + "/given/text; cat " + shm + "/given/text", "old\n", func(s *Spec) {
			s.Confine.Read = []string{shm + "/given", disk}
		}},
		{"reading within writing", "echo new >sub; cat sub", "new\n", func(s *Spec) {
			s.Confine.Read = []string{filepath.Join(shm, "work", "sub")}
			must(t, os.WriteFile(filepath.Join(shm, "work", "sub"), nil, 0o600))
		}},
		{"writing within reading", "echo new >file; cat file ../single; echo no >../single", "new\nold\n", func(s *Spec) {
			s.Confine.Read = []string{shm}
		}},
		{"nothing executed", "cp /bin/echo own; ./own ran; ls own", "own\n", func(s *Spec) {
			s.Confine = &Confine{Inert: s.Confine.Write}
		}},
		{"all of it, for reading", "cat " + shm + "/other/text; echo no >/dev/shm/skillopt-test; echo no >" + shm + "/other/text; ls " + shm, "old\ngiven\nlink\nother\nsingle\ntools\nwork\n", func(s *Spec) {
			s.Confine = &Confine{Read: []string{"/dev/shm"}}
		}},
		{"all of it, for writing", "cat ../other/text; echo new >../other/new; cat ../other/new; rm ../other/new", "old\nnew\n", func(s *Spec) {
			s.Confine = &Confine{Write: []string{"/dev/shm"}}
		}},
		{"a program by a link", "echo ran", "ran\n", func(s *Spec) { s.Argv = []string{shm + "/link"} }},
		{"a folder that it may not read", "pwd; ls; cat text", shm + "/other\n", func(s *Spec) { s.Dir = shm + "/other" }},
	}
	for _, tt := range tests {
		s := isolatedSpec(t, whole+tt.script)
		s.Dir, s.Confine = shm+"/work", &Confine{Write: []string{shm + "/work"}}
		must(t, os.WriteFile(filepath.Join(shm, "work", "script"), []byte(whole+tt.script), 0o600))
		if tt.set != nil {
			tt.set(&s)
		}
		if lies(s.Argv[0], shm) && !runsIn(t, shm) {
			continue
		}
		r, out := run(t, s)
		if out = strings.ReplaceAll(out, "script\n", ""); out != "whole\n"+tt.want {
			t.Errorf("%s: it says %q, want %q: %+v", tt.name, out, "whole\n"+tt.want, r)
		}
		must(t, os.RemoveAll(shm+"/work"))
		must(t, os.Mkdir(shm+"/work", 0o700))
	}
	for _, file := range []string{shm + "/given/text", shm + "/other/text", shm + "/single"} {
		if text, err := os.ReadFile(file); err != nil || string(text) != "old\n" {
			t.Errorf("%s holds %q, %v", file, text, err)
		}
	}
	for _, dir := range []string{"given", "other"} {
		if info, err := os.Stat(filepath.Join(shm, dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v, %v", dir, info, err)
		}
	}
	if _, err := os.Stat("/dev/shm/kept"); !os.IsNotExist(err) {
		t.Errorf("outside there is %v", err)
	}
	must(t, pipe.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if n, err := pipe.Read(make([]byte, 1)); n > 0 {
		t.Errorf("the pipe was written to, %v", err)
	}
}

// TestShownFromSharedMemory: at another place it is the same folder, and where it is
// cannot be found out.
func TestShownFromSharedMemory(t *testing.T) {
	t.Parallel()
	place := Vacant("/workspace", "/project", "/checkout")
	if place == "" {
		t.Skip("all names are taken here")
	}
	s := isolatedSpec(t, "pwd; echo new >file; ls "+place+" /dev/shm; cat "+place+"/file")
	s.Dir = inSharedMemory(t)
	s.Confine.Write, s.Confine.Read = []string{s.Dir}, []string{s.Dir + "/file"}
	s.Confine.Show = Places{{Dir: s.Dir, As: place}}
	r, out := run(t, s)
	if want := place + "\n/dev/shm:\n\n" + place + ":\nfile\nnew\n"; r.Code != 0 || out != want {
		t.Errorf("it says %q, want %q: %+v", out, want, r)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, "file")); err != nil || string(text) != "new\n" {
		t.Errorf("the folder holds %q, %v", text, err)
	}
}
