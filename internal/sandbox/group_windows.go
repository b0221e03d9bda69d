package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps a Ctrl-C meant for us from the program.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// ask does nothing: there is no way to ask that every program understands.
func ask(*exec.Cmd) {}

// kill ends the program and the children that it still has. Grandchildren whose
// parent is gone are not found: there are no process groups here.
func kill(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() // it may be gone
	_ = cmd.Process.Kill()
}

// exit says how a process ended.
func exit(state *os.ProcessState) ending {
	if state == nil {
		return ending{code: -1}
	}
	return ending{known: true, code: state.ExitCode()}
}
