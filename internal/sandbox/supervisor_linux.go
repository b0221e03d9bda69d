package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lifelineFD is a pipe that nothing is written to. Its end says that all is to
// end: Run has closed it, or our process is gone.
const lifelineFD = 4

// exitMark precedes the last thing that the supervisor says.
const exitMark = "\x00exit "

// supervise starts the program as its child and stays. Whatever a program starts,
// in whichever session or environment, becomes the supervisor's child when its
// own parent is gone, so that nothing is left when the supervisor ends. It lives
// outside of the confinement, where the program cannot reach it.
func supervise(encoded, path string, argv []string) error {
	runtime.LockOSThread() // the end of the thread that started init would be that of init
	unix.CloseOnExec(statusFD)
	unix.CloseOnExec(lifelineFD)
	var p policy
	if err := json.Unmarshal([]byte(encoded), &p); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what a program leaves: %w", err)
	}
	group := newGroup(p.Limits.withDefaults(p.Deadline))
	defer group.remove()
	child, iso, err := p.startHelper(append([]string{path}, argv...), group)
	if err != nil {
		return err
	}
	if err := letGo(); err != nil {
		_ = unix.Kill(child, unix.SIGKILL)
		return err
	}
	if iso == nil {
		passSignals(child)
	} else {
		passSignalsTo(child)
	}
	go func() {
		awaitPeer(lifelineFD)
		_ = unix.Kill(child, unix.SIGKILL) // it may be gone
	}()
	watch := startWatch(&p, child, iso != nil, group)
	status := reap(child)
	if iso != nil {
		status = iso.status(status)
	}
	over := watch.stop()
	buryChildren()
	group.remove()
	report, err := json.Marshal(ended{Status: uint32(status), Over: over, CPU: max(watch.most.cpu, buriedCPU()), Peak: watch.most.memory})
	if err != nil {
		return fmt.Errorf("report how the program ended: %w", err)
	}
	_, _ = unix.Write(statusFD, append([]byte(exitMark), report...)) // without it our own end is the program's
	unix.Exit(0)
	return nil
}

// ended is what the supervisor says at last.
type ended struct {
	Status uint32        `json:"status"` // of waiting for the program
	Over   *overrun      `json:"over,omitempty"`
	CPU    time.Duration `json:"cpu,omitempty"`
	Peak   int64         `json:"peak,omitempty"`
}

// buriedCPU returns the processor time of all children that were waited for, and theirs.
func buriedCPU() time.Duration {
	var all unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &all) != nil {
		return 0
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

// passSignals asks the group that a child leads to end when we are asked to. The
// signals are not ignored: that the program would inherit.
func passSignals(child int) { passSignalsTo(-child) }

func passSignalsTo(target int) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	go func() {
		for range asked {
			_ = unix.Kill(target, unix.SIGTERM) // it may be gone
		}
	}()
}

// startHelper starts the program, in namespaces of its own where there can be any.
func (p *policy) startHelper(argv []string, group *group) (child int, iso *isolated, err error) {
	files, err := group.open()
	if err != nil {
		return 0, nil, err
	}
	defer closeAll(files)
	p.Groups = len(files)
	if !p.Plain {
		if iso, err = startIsolated(p, argv, files); err == nil {
			return iso.init, iso, nil
		}
	}
	if len(p.Show) > 0 {
		return 0, nil, fmt.Errorf("give the program a place of its own: %w", err)
	}
	child, err = p.startPlain(argv, files)
	return child, nil, err
}

// startPlain starts the helper without namespaces.
func (p *policy) startPlain(argv []string, files []*os.File) (child int, err error) {
	encoded, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("encode policy: %w", err)
	}
	fds := []uintptr{0, 1, 2, statusFD, ^uintptr(0)}
	for _, f := range files {
		fds = append(fds, f.Fd())
	}
	child, err = syscall.ForkExec(own, append([]string{confinedName, string(encoded)}, argv...), &syscall.ProcAttr{
		Dir: p.Dir, Env: syscall.Environ(), Files: fds, Sys: &syscall.SysProcAttr{Setsid: true},
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
// and how the program ended. safe says that the program cannot have killed the supervisor.
func readSupervisor(text string, safe bool) (how ending, err error) {
	failure, last, _ := strings.Cut(text, exitMark)
	var said ended
	if last != "" && json.Unmarshal([]byte(last), &said) == nil {
		how = newEnding(syscall.WaitStatus(said.Status))
		how.over, how.cpu, how.peak = said.Over, said.CPU, said.Peak
	}
	if failure != "" {
		return how, errors.New(failure)
	}
	if safe && !how.known {
		how = ending{known: true, code: -1, over: &overrun{Detail: "its supervisor was killed, as where the machine runs out of memory"}}
	}
	return how, nil
}
