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
func exit(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return state.ExitCode(), ""
	}
	if signal = unix.SignalName(status.Signal()); signal == "" {
		signal = status.Signal().String()
	}
	return -1, signal
}
