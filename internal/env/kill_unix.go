//go:build unix

package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ownGroup makes the process the leader of a process group, so that its
// children can be ended with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup ends the process and all that it started. There is nothing to do
// about a failure: either they are gone already, or they are not ours any more.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// killLeftovers ends what a process that is gone has started and left behind.
func killLeftovers(cmd *exec.Cmd) { killGroup(cmd) }

// executable reports why the program of a command cannot be run.
func executable(cmd *exec.Cmd) error {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return &os.PathError{Op: "exec", Path: path, Err: syscall.EACCES}
	}
	return nil
}
