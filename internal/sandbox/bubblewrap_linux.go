package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// confineByBubblewrap starts the program in namespaces of its own.
func (p *process) confineByBubblewrap() error {
	program, err := filepath.EvalSymlinks(p.cmd.Path)
	if err != nil {
		return &StartError{Program: p.spec.Argv[0], Err: err}
	}
	for _, path := range slices.Concat(p.spec.Confine.Write, p.spec.Confine.Inert) {
		if _, err := os.Stat(path); err != nil {
			return &StartError{Program: p.spec.Argv[0], Err: err}
		}
	}
	args := bubblewrapArgs(p.spec.Confine, program, p.spec.Dir)
	args = append(args, "--", p.cmd.Path)
	p.cmd.Args = append(args, p.cmd.Args[1:]...)
	p.cmd.Path = bubblewrap()
	p.status = report{wanted: true, read: readBubblewrap}
	return nil
}

// bubblewrapArgs says the same as a Landlock policy, as mounts.
func bubblewrapArgs(c *Confine, program, dir string) []string {
	args := []string{
		"bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--new-session", "--die-with-parent", "--cap-drop", "ALL",
		"--json-status-fd", strconv.Itoa(statusFD), "--proc", "/proc", "--dev", "/dev",
	}
	if !c.Network {
		args = append(args, "--unshare-net")
	}
	for _, list := range [][]string{programFolders(), readable(), c.Read, {program}} {
		for _, path := range list {
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	for _, path := range slices.Concat(c.Write, c.Inert) {
		args = append(args, "--bind", path, path)
	}
	return append(args, "--remount-ro", "/", "--chdir", dir) // what nothing is mounted at is its own
}

// readBubblewrap reads how bubblewrap ended. Bubblewrap reports the exit code of a program that has
// run, which is its own as well. Otherwise it complains on standard error.
func readBubblewrap(text, stderr string) (ending, error) {
	if strings.Contains(text, `"exit-code"`) {
		return ending{}, nil
	}
	return ending{}, fmt.Errorf("bubblewrap: %s", strings.TrimSpace(stderr))
}
