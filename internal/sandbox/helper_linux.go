package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Our binary is started as the supervisor, which stays, by that as init of new
// namespaces where there can be any, and by that as the helper, which becomes the
// program. These are the names by which it knows.
// The arguments are the policy, the program's path, and the program's arguments.
const (
	supervisorName = "sandbox-supervisor"
	confinedName   = "sandbox-confined"
)

// statusFD is where supervisor and helper report what went wrong, and the
// supervisor how the program ended. The program does not have it.
const statusFD = 3

// own is this binary, although its file may have been replaced.
const own = "/proc/self/exe"

// policy is a Confine as the helper gets it.
type policy struct {
	Confine
	ABI      int           // of Landlock, at most that of the kernel
	Program  string        // the file to run,
	Called   string        // by which name, and
	Dir      string        // the folder to run in, as the program sees them
	Deadline time.Duration // that the limits follow from; 0 = none
	Groups   int           // descriptors by which init joins control groups

	// What init has set up.
	Isolated bool // the program has processes and IPC of its own
	Mounted  bool // and mounts, so that nothing else can be written
	touched  bool // mounts were changed, perhaps not all
	keeps    bool // its shared memory is its own to write, see keepsShared
}

// Main confines a program, and then ends, if the process was started as a helper for that.
// Otherwise it returns at once. It is the first thing that main calls, with os.Args.
func Main(args []string) {
	Through(own)
	if len(args) < 4 {
		return
	}
	var err error
	switch args[0] {
	case supervisorName:
		err = supervise(args[1], args[2], args[3:])
	case confinedName:
		err = becomeConfined(args[1], args[2], args[3:])
	case initName:
		err = beInit(args[2], args[3:])
	case probeName:
		if probe() != nil {
			unix.Exit(1)
		}
		unix.Exit(0)
	default:
		return
	}
	_, _ = unix.Write(statusFD, []byte(err.Error())) // the exit code says it as well
	unix.Exit(126)
}

// becomeConfined restricts this process and executes the program. It returns
// only to say what failed.
func becomeConfined(encoded, path string, argv []string) error {
	runtime.LockOSThread() // restrictions are those of a thread, and so is the step into a program
	unix.CloseOnExec(statusFD)
	var p policy
	if err := json.Unmarshal([]byte(encoded), &p); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	joinGroups(p.Groups)
	if err := p.restrict(); err != nil {
		return err
	}
	return syscall.Exec(path, argv, syscall.Environ())
}

// restrict gives up what the program must not have: for the calling thread, and for
// what is started from it, and as to limits of resources for the whole process. The
// order matters: what comes late restricts what came before.
func (p *policy) restrict() error {
	if err := limitResources(p.maxFile()); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("refuse new privileges: %w", err)
	}
	if err := p.landlock(); err != nil {
		return err
	}
	if err := p.seccomp(); err != nil {
		return err
	}
	_ = unix.CloseRange(statusFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // all are closed by then; this is for those that no one thought of
	return nil
}

func limitResources(maxFile uint64) error {
	if err := lowerLimit(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := lowerLimit(unix.RLIMIT_FSIZE, maxFile); err != nil {
		return fmt.Errorf("limit the size of files: %w", err)
	}
	return nil
}

// lowerLimit lowers a limit, and never raises what was lower already.
func lowerLimit(resource int, limit uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	limit = min(limit, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit})
}

// dropCapabilities leaves a program of root those about the owners of files,
// which installers of packages need. Others keep none.
func dropCapabilities() error {
	keep := []uintptr{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID, unix.CAP_SETUID,
	}
	for c := uintptr(0); c <= 63; c++ {
		if slices.Contains(keep, c) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break // there are no more capabilities, or we have no power over them
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	return lowerCapabilities(keep)
}

// lowerCapabilities gives up what this process has, and what it would pass on to the
// program: we may have been started with capabilities for our children. No new ones are
// won by running a program, so that root has no more afterwards, also where it may not
// lower its bounding set.
func lowerCapabilities(keep []uintptr) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("pass no capabilities: %w", err)
	}
	var mask [2]uint32
	for _, c := range keep {
		mask[c/32] |= 1 << (c % 32)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&head, &has[0]); err != nil {
		return fmt.Errorf("look at capabilities: %w", err)
	}
	for i := range has {
		has[i].Effective &= mask[i]
		has[i].Permitted &= mask[i]
		has[i].Inheritable = 0
	}
	if err := unix.Capset(&head, &has[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// confine turns the command of p into one that starts it confined.
func (p *process) confine() error {
	c := p.spec.Confine
	if err := c.check(); err != nil {
		return &StartError{Program: p.spec.Argv[0], Err: err}
	}
	can := Supports()
	switch {
	case can.Kind == "":
		return &UnsupportedError{What: p.spec.Argv[0], Why: can.Why}
	case !can.Network && !c.Network && len(c.Ports) > 0:
		return &UnsupportedError{What: fmt.Sprintf("%s to ports %v", p.spec.Argv[0], c.Ports), Why: can.Why}
	case can.Kind == kindBubblewrap && len(c.Show) > 0:
		return &UnsupportedError{What: p.spec.Argv[0] + " to folders at other places", Why: can.Why}
	case can.Kind == kindBubblewrap:
		return p.confineByBubblewrap()
	}
	return p.confineByLandlock(landlockABI())
}

// confineByLandlock starts the helper, most often our own binary, as the supervisor.
func (p *process) confineByLandlock(abi int) error {
	program, err := filepath.EvalSymlinks(p.cmd.Path)
	if err != nil {
		return &StartError{Program: p.spec.Argv[0], Err: err}
	}
	c := p.spec.Confine
	encoded, err := json.Marshal(policy{
		Confine: *c, ABI: abi, Program: c.Show.Seen(program), Called: c.Show.Seen(p.cmd.Path), Dir: c.Show.Seen(p.spec.Dir), Deadline: p.spec.Timeout,
	})
	if err != nil {
		return &StartError{Program: p.spec.Argv[0], Err: err}
	}
	p.cmd.Args = append([]string{supervisorName, string(encoded), c.Show.Seen(p.cmd.Path)}, p.cmd.Args...)
	p.cmd.Path = *helper.Load()
	p.status = report{wanted: true, lifeline: true, read: func(text, _ string) (ending, error) { return readSupervisor(text, abi >= abiScope) }}
	return nil
}

func support(hooked bool) Support {
	abi := landlockABI()
	if hooked && abi >= abiRefer && auditArch() != 0 {
		s := Support{Kind: kindLandlock, Network: abi >= abiNetwork, Why: fmt.Sprintf("Landlock ABI %d", abi), signals: abi >= abiScope}
		if !s.Network {
			s.Why += ", which cannot confine connections to single ports: Linux 6.7 can"
		}
		return s
	}
	if bubblewrap() != "" {
		return Support{Kind: kindBubblewrap, Why: "bubblewrap, which cannot confine connections to single ports: Landlock of Linux 6.7 can"}
	}
	switch {
	case abi < abiRefer:
		return Support{Why: "neither Landlock nor bubblewrap is there: use Linux 5.19 or later with Landlock enabled (lsm=landlock,...), or install bubblewrap"}
	case auditArch() == 0:
		return Support{Why: "there is no filter of system calls for " + runtime.GOARCH + ": install bubblewrap"}
	}
	return Support{Why: "this program cannot start itself as the helper: install bubblewrap, or call sandbox.Main first in main"}
}

// bubblewrap finds the program, "" if it is not installed.
func bubblewrap() string {
	for _, path := range []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
