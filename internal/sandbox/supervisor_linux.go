package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lifelineFD is a pipe that nothing is written to. Its end says that all is to
// end: Run has closed it, or our process is gone.
const lifelineFD = 4

// exitMark stands before what the supervisor says at last, the wait status of
// the program.
const exitMark = "\x00exit "

// supervise starts the program as its child and stays. Whatever a program starts,
// in whichever session or environment, becomes the supervisor's child when its
// own parent is gone, so that nothing is left when the supervisor ends. It lives
// outside of the confinement, where the program cannot reach it.
func supervise(encoded, path string, argv []string) error {
	unix.CloseOnExec(statusFD)
	unix.CloseOnExec(lifelineFD)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what a program leaves: %w", err)
	}
	// Not ignored: that the program would inherit.
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	child, err := startHelper(encoded, append([]string{encoded, path}, argv...))
	if err != nil {
		return err
	}
	if err := letGo(); err != nil {
		_ = unix.Kill(child, unix.SIGKILL)
		return err
	}
	go func() {
		for range asked {
			_ = unix.Kill(-child, unix.SIGTERM) // it may be gone
		}
	}()
	go func() {
		waitForEnd(lifelineFD)
		_ = unix.Kill(child, unix.SIGKILL) // it may be gone
	}()
	status := reap(child)
	buryChildren()
	_, _ = unix.Write(statusFD, fmt.Appendf(nil, "%s%d", exitMark, status)) // without it our own end is the program's
	unix.Exit(0)
	return nil
}

// startHelper starts the helper, where it helps and is allowed in a network of its
// own.
func startHelper(encoded string, argv []string) (child int, err error) {
	var p policy
	if err := json.Unmarshal([]byte(encoded), &p); err != nil {
		return 0, fmt.Errorf("read policy: %w", err)
	}
	if p.own() {
		if child, err := startAlone(argv); err == nil {
			return child, nil
		}
	}
	child, err = syscall.ForkExec("/proc/self/exe", append([]string{confinedName}, argv...), &syscall.ProcAttr{
		Env: syscall.Environ(), Files: []uintptr{0, 1, 2, statusFD}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start the helper: %w", err)
	}
	return child, nil
}

// letGo leaves the program's input and outputs to the program.
func letGo() error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return fmt.Errorf("let go of the program's files: %w", err)
		}
	}
	return unix.Close(null)
}

func waitForEnd(fd int) {
	buf := make([]byte, 1)
	for {
		n, err := unix.Read(fd, buf)
		if n == 0 && err == nil || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap waits for a child, and for others that end before it.
func reap(child int) unix.WaitStatus {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if pid == child {
			return status
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0 // we have no child, which cannot be
		}
	}
}

// buryChildren ends all children, theirs when they become ours, and so on until
// there are none.
func buryChildren() {
	for {
		killed := 0
		for _, pid := range children() {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed++
			}
		}
		options := unix.WALL | unix.WNOHANG
		if killed > 0 {
			options = unix.WALL // at least one of them ends now
		}
		if _, err := unix.Wait4(-1, nil, options, nil); errors.Is(err, unix.ECHILD) {
			return
		}
	}
}

// children lists the processes whose parent we are. None of them can get lost:
// only we can reap them.
func children() []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	self := strconv.Itoa(os.Getpid())
	var pids []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // gone
		}
		// The name of the program, in parentheses, may hold anything.
		at := bytes.LastIndexByte(stat, ')')
		fields := strings.Fields(string(stat[max(at, 0):]))
		if len(fields) < 3 || fields[2] != self {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// readSupervisor reads what supervisor and helper have said: what went wrong,
// and how the program ended.
func readSupervisor(text, _ string) (how ending, err error) {
	failure, last, _ := strings.Cut(text, exitMark)
	if status, err := strconv.ParseUint(last, 10, 32); err == nil {
		how = endingOf(syscall.WaitStatus(status))
	}
	if failure != "" {
		return how, errors.New(failure)
	}
	return how, nil
}
