//go:build !unix

package env

import (
	"os/exec"
	"strconv"
)

// ownGroup has nothing to do where there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process and all that it started. Windows keeps no groups,
// but can walk the tree. The direct kill is for when that fails.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	_ = cmd.Process.Kill()
}

// killLeftovers does nothing: without the parent the tree cannot be walked, and
// its id may belong to a stranger by now.
func killLeftovers(*exec.Cmd) {}

// executable leaves the question to the start: what can be run depends on
// extensions and associations.
func executable(*exec.Cmd) error { return nil }
