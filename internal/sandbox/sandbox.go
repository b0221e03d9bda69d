// Package sandbox runs programs that no one vouches for: coding agents, the
// commands that check what they leave, scripts that a model wrote. A program
// gets a short list of variables, a deadline, a bound on what it writes, and a
// process group that is ended as a whole. Where the system can do it, it is
// confined to the folders and ports that it was given.
//
// # Confinement
//
// On Linux a confined program is started by a helper: our own binary, which
// restricts itself and then becomes the program. Main must therefore be the
// first call of every main, and of the TestMain of tests that confine. Another
// copy of our binary supervises it: it inherits whatever the program leaves
// behind, and ends all of it with the program, or when our own process is gone.
// The helper uses Landlock (Linux 5.19; 6.7 for single ports), a seccomp filter and
// resource limits. Where the system has namespaces, a third copy is the first
// process of the program's own and sets up its mounts. Where Landlock is missing,
// bubblewrap takes its place if it is installed. Elsewhere Run refuses to confine,
// with an *UnsupportedError.
//
// A confined program can always read and run what is in the system folders
// (SystemFolders: /usr/bin, /usr/lib, /usr/local/bin and their like, never all of /usr
// or /opt) and the file of Argv[0] itself; it can read the public configuration of the
// system (certificates, names of hosts, users and services, time zone, the loader,
// fonts, none of the private parts of /etc), /proc, and the topology of the machine in
// /sys; it can use the devices null, zero, full, random and urandom. Home and temporary
// folders are the caller's business: name them in Env and in Confine.Write. A program
// that needs a pseudo-terminal needs /dev/ptmx and /dev/pts in Write.
//
// What is promised under Landlock, with namespaces and without:
//
//   - No file outside of those folders is read, written, created, removed,
//     renamed or cut, whichever way a symbolic link leads there. What may be
//     written inside a folder of Write may be written in all of it: a folder of
//     Read within it does not become read-only. Nothing in a folder of Inert is
//     executed by its name.
//   - Environment and memory of other processes, ours above all, cannot be read.
//   - No privileges are won: no new ones by running a program, and of root's only
//     those about the owners of files.
//   - Without Network: TCP connections go to Ports alone, with namespaces those of
//     this machine, else of whichever host; nothing is listened on outside, and with Loopback
//     on nothing but a loopback of the program's own; no UDP, so
//     no names are resolved but those of /etc/hosts; no Multipath TCP, raw or other
//     sockets, no io_uring. Unix sockets can be made in pairs only, except from
//     Landlock ABI 9 on, where those in folders of Write can be reached.
//   - Nothing is kept for another program in System V memory, semaphores or queues, in
//     POSIX ones, or in the keyrings of the kernel.
//   - Limits of other processes cannot be set, nor how they are scheduled.
//   - Limits holds for the program and all that it starts together. No core dumps, no
//     file larger than MaxFile.
//
// In addition, with namespaces: other processes are not seen, nor signalled; mode, owner,
// times and attributes of files elsewhere cannot be changed; connections reach this
// machine alone; nothing is executed in a folder of Inert by way of a library either.
// /dev/shm is the program's own, with those of the folders in it that lie there; where a
// folder of Read does, the program may not write to the rest of it.
//
// What is not: that a file exists, its size and its times can be seen anywhere, and the
// names of files that come and go be watched; /proc lists the names of keys. A
// program can be beyond a limit for as long as it takes to look. Without namespaces
// mode, owner and times of a file that belongs to the same user can be changed anywhere,
// its attributes not; command lines of other processes can be read, and what they share
// by System V be listed; before Landlock ABI 6 (Linux 6.12) processes of the same user
// can be signalled. With Network, all sockets of the machine are in reach, those of a
// container engine too. Under bubblewrap Limits does not hold, and folders of Inert are
// as those of Write.
//
// It knows nothing about agents, tasks or scores.
package sandbox

import (
	"fmt"
	"io"
	"time"
)

// Marker is the variable that Run adds to the environment of a program. Its
// value is new for each run: on Linux it is how descendants are found that have
// left the process group of a program that is not confined.
const Marker = "SANDBOX_ID"

// Spec says what to run and within which bounds.
type Spec struct {
	Argv []string // program and arguments; the program is looked up in the PATH of Env, a relative path in Dir
	Dir  string   // working directory, absolute
	Env  []string // all that the program sees of the environment apart from Marker, "NAME=value"

	// Stdin is read until its end or that of the program, whichever is first; nil
	// is an empty input. Its Read must not wait for anything but data that is
	// there: Run returns only after the last Read has. One with a Close may wait: Run
	// closes it when the program has ended.
	Stdin io.Reader

	// Stdout gets what the program prints, as it comes. Nil discards it. An error
	// of Write ends the program. Standard error is kept in Result.
	Stdout io.Writer

	MaxOutput int64         // bytes of both outputs together, beyond which the group is ended; 0 = 64 MB
	Timeout   time.Duration // 0 = as long as the context
	Grace     time.Duration // between asking the group to end and ending it; 0 = 2 s

	Confine *Confine // nil: not confined
}

// Confine bounds what a program and all that it starts can reach. What it may
// always read is in the package comment.
type Confine struct {
	Write []string // folders and files that it may read, write and run, absolute; they must be there
	Read  []string // folders and files that it may also read and run; what is not there is left out

	// Inert are folders that it may read and write, absolute; they must be there.
	// No file in them can be executed. Where only bubblewrap confines, they are as
	// those of Write.
	Inert []string

	Network     bool  // it may connect to anything, and listen
	Ports       []int // without Network: TCP ports that it may connect to; only loopback is promised
	Listen      bool  // without Network: it may listen on TCP ports
	Loopback    bool  // without Network, Listen and UnixSockets: with namespaces it may listen on TCP ports of a loopback of its own, and connect to them
	UnixSockets bool  // without Network: it may connect to Unix sockets, those of other programs too

	// Show are places at which folders of Write are shown to the program, so that it
	// sees the same path wherever the folder is. It needs Support.Isolated: without,
	// Run refuses with an *UnsupportedError.
	Show Places

	// Plain does without namespaces, as on a system that has none.
	Plain bool

	MaxFile int64  // size of the largest file that it may write, in bytes; 0 = 1 GB
	Limits  Limits // what it may use with all that it starts
}

// Shown is a folder at another place. Both paths are absolute; As is not there yet
// and has no parent but the root, such as /workspace. The program starts in it
// when Spec.Dir lies in Dir, which it never sees the path of.
type Shown struct{ Dir, As string }

// Places are folders at other places.
type Places []Shown

// Limits bound what a confined program and all that it starts use together. Each
// is 0 for its default and negative for none. What is used is counted some ten times
// a second: a program can be beyond a limit for that long. See Reason.
type Limits struct {
	Memory    int64         // bytes that are resident, counted once where they are shared; 0 = 4 GiB
	Processes int           // at a time; 0 = 512
	Written   int64         // bytes that were written to disks, or that its files take there; 0 = 4 GiB
	CPU       time.Duration // of all processors; 0 = four times Spec.Timeout, none without it
}

// Reason says why a program ended.
type Reason string

// The reasons.
const (
	Exited    Reason = "exited"    // by itself, or by a signal that was not ours; see Result.Code
	Deadline  Reason = "deadline"  // Timeout passed
	Cancelled Reason = "cancelled" // the context ended, by its deadline too
	Flooded   Reason = "flooded"   // more than MaxOutput
	Exhausted Reason = "exhausted" // more than Limits; see Result.Detail
	Starved   Reason = "starved"   // the machine itself lacks memory or room on a disk, or killed the supervisor; see Result.Detail
)

// Result is how a program ended. Nothing of its group is left running.
type Result struct {
	Reason Reason
	Code   int    // exit code; -1 when a signal ended it
	Signal string // that signal, such as "SIGKILL", "" if none
	Limit  string // with Exhausted, the limit: "memory", "processes", "written" or "cpu"
	Detail string // with Exhausted and Starved, what was used and what is allowed
	Stderr string // the last 64 KB of standard error, valid UTF-8
	Output int64  // bytes of both outputs that were taken, at most MaxOutput
	Took   time.Duration
	Waited time.Duration // with Deadline, how long of it for a processor; 0 where that is not known
	CPU    time.Duration // of all processors, with all that it started; 0 where that is not known
	Peak   int64         // bytes of memory at a time, as far as it was looked at; 0 where that is not known
}

// StartError says that a program could not be started: it does not exist, its
// folder does not, its confinement could not be set up. It has not run.
type StartError struct {
	Program string // Argv[0], "" if there is none
	Err     error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// UnsupportedError says that this system cannot confine a program as asked. The
// program has not run.
type UnsupportedError struct {
	What string // what was asked for
	Why  string // what is missing, and what helps
}

func (e *UnsupportedError) Error() string { return fmt.Sprintf("cannot confine %s: %s", e.What, e.Why) }
