package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// leave has a secret stay behind for a later program, in every way that there is.
func (t *Target) leave(secret string) {
	key, name := t.Key+1, "left-"+t.Name
	if id, err := unix.SysvShmGet(key, shared, unix.IPC_CREAT|0o666); err == nil {
		if data, err := unix.SysvShmAttach(id, 0, 0); err == nil {
			copy(data, secret)
		}
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), unix.IPC_CREAT|0o666, 0); errno == 0 {
		_ = msgsnd(id, secret)
	}
	if fd, err := mqOpen(name, unix.O_RDWR|unix.O_CREAT); err == nil {
		_ = mqSend(fd, secret)
	}
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING} {
		_, _ = unix.AddKey("user", name, []byte(secret), ring)
	}
	for _, path := range left(name) {
		_ = os.WriteFile(path, []byte(secret), 0o666)
		_ = unix.Setxattr(filepath.Dir(path), "user."+name, []byte(secret), 0)
	}
	if cmd := t.command(context.Background(), self, "serve", secret); cmd != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = cmd.Start()
	}
}

// left are the places where files could be left.
func left(name string) []string {
	dirs := []string{"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/var/lock", "/run/user/0", "/dev/mqueue", "/usr/local", "/opt", "/var/cache", "..", "../.."}
	var all []string
	for _, dir := range dirs {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}

// serve stays and hands a secret to whoever asks.
func (t *Target) serve(secret string) {
	for _, address := range []string{"@left-" + t.Name, "/tmp/left-" + t.Name + ".sock"} {
		if l, err := net.Listen("unix", address); err == nil {
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, secret)
					_ = c.Close()
				}
			}()
		}
	}
	<-time.After(time.Hour)
}

// lookFor looks where leave leaves, and returns where something was.
func (t *Target) lookFor() (found []string) {
	key, name := t.Key+1, "left-"+t.Name
	note := func(where string, data []byte) {
		if len(t.Holds(data)) > 0 {
			found = append(found, where)
		}
	}
	if id, err := unix.SysvShmGet(key, 0, 0); err == nil {
		if data, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY); err == nil {
			note("shared memory of System V", data)
		}
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(key), 0, 0); errno == 0 {
		found = append(found, fmt.Sprint("queue of System V ", id))
	}
	if fd, err := mqOpen(name, unix.O_RDWR); err == nil {
		found = append(found, fmt.Sprint("queue of POSIX ", fd))
	}
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING} {
		if _, err := unix.KeyctlSearch(ring, "user", name, 0); err == nil {
			found = append(found, "keyring")
		}
	}
	for _, path := range left(name) {
		if data, err := os.ReadFile(path); err == nil {
			note(path, data)
		}
		data := make([]byte, 256)
		if n, err := unix.Getxattr(filepath.Dir(path), "user."+name, data); err == nil {
			note("attribute of "+filepath.Dir(path), data[:n])
		}
	}
	for _, address := range []string{"@" + name, "/tmp/" + name + ".sock"} {
		if c, err := net.DialTimeout("unix", address, soon); err == nil {
			data, _ := io.ReadAll(c)
			note("socket "+address, data)
		}
	}
	for _, name := range []string{"cmdline", "environ"} {
		if reached, detail := t.everybody(name); reached {
			found = append(found, detail)
		}
	}
	slices.Sort(found)
	return found
}

// overuse uses as much as there is of one thing, until it is ended.
func (t *Target) overuse(what string, out io.Writer) {
	switch what {
	case "memory":
		var all [][]byte
		for range 8 << 10 { // 8 GiB
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		runtime.KeepAlive(all)
	case "shm":
		for i := range 8 << 10 {
			_ = os.WriteFile(fmt.Sprintf("/dev/shm/%d", i), make([]byte, 1<<20), 0o600)
		}
	case "memfd":
		for range 8 << 10 {
			if fd, err := unix.MemfdCreate("x", 0); err == nil {
				_, _ = unix.Write(fd, make([]byte, 1<<20))
			}
		}
	case "processes":
		for {
			cmd := t.command(context.Background(), self, "overuse", "processes")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if cmd.Start() != nil {
				<-time.After(time.Hour)
			}
			<-time.After(10 * time.Millisecond)
		}
	case "written":
		for i := range 8 << 10 {
			_ = os.WriteFile(own(fmt.Sprintf("big-%d", i)), make([]byte, 1<<20), 0o600)
		}
	case "inodes":
		for i := range 1 << 20 {
			_ = os.WriteFile(own(fmt.Sprintf("small-%d", i)), nil, 0o600)
		}
	case "depth":
		t.dig()
	case "cpu":
		var all sync.WaitGroup
		for range runtime.NumCPU() {
			all.Go(func() {
				for until := time.Now().Add(time.Hour); time.Now().Before(until); {
				}
			})
		}
		all.Wait()
	case "output":
		line := strings.Repeat("x", 1<<16) + "\n"
		for {
			if _, err := io.WriteString(out, line); err != nil {
				return
			}
		}
	case "sleep":
		cmd := t.command(context.Background(), self, "linger", t.Token)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stdout, cmd.Stderr = out, out // it holds on to the output
		_ = cmd.Start()
	}
	_, _ = fmt.Fprintln(out, "nobody has stopped it")
}

// depth is how many folders dig makes in each other.
const depth = 20000

// dig makes folders in folders, so that whoever walks through them takes long, or
// runs out of descriptors.
func (t *Target) dig() {
	dir, err := unix.Open(".", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for i := 0; i < depth && err == nil; i++ {
		_ = unix.Mkdirat(dir, "d", 0o700)
		var next int
		next, err = unix.Openat(dir, "d", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		_ = unix.Close(dir)
		dir = next
	}
}

// plant is what an agent does: it leaves this binary and the target in its folder, for
// a check to run it, and tries the probes. One whose task holds a canary keeps that, and
// is the one whose folder others must not reach.
func (t *Target) plant(out io.Writer) error {
	task, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if canaries().Match(task) {
		return errors.Join(os.WriteFile(own("secret.txt"), task, 0o600), done(out))
	}
	binary, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(own(Planted), binary, 0o700)
	}
	if err == nil {
		err = os.WriteFile(own("target"), []byte(t.Value()), 0o600)
	}
	if err != nil {
		return err
	}
	found, err := os.Create(own(FoundByAgent))
	if err != nil {
		return err
	}
	return errors.Join(t.tryAll(found), found.Close(), done(out))
}

func done(out io.Writer) error {
	_, err := fmt.Fprintln(out, "done")
	return err
}
