//go:build unix

package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup gives the program a session of its own: it leads a process group and
// has no terminal that it could read from or type into.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// ask asks the group to end. There is nothing to do about a failure: either it
// is gone already, or it is not ours any more.
func ask(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends all of the group.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// exit says how a process ended.
func exit(state *os.ProcessState) ending {
	if state == nil {
		return ending{code: -1}
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok {
		return newEnding(status)
	}
	return ending{known: true, code: state.ExitCode()}
}

func newEnding(status syscall.WaitStatus) ending {
	if !status.Signaled() {
		return ending{known: true, code: status.ExitStatus()}
	}
	name := unix.SignalName(status.Signal())
	if name == "" {
		name = status.Signal().String()
	}
	return ending{known: true, code: -1, signal: name}
}
