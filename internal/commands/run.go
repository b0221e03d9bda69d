package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/task"
)

// Step is a command of a check that is to run in a workspace.
type Step struct {
	Task    task.Task
	Dir     string // the workspace
	RunDir  string
	Command check.Command
	Hide    *redact.Exact // takes what no one may read out of what the step prints, before that is cut

	temp string         // HOME and TMPDIR
	show sandbox.Places // where the step sees both
}

// Run runs a step within the workspace and a folder for its temporary files. One that
// is given what is expected executes nothing of either; any other is given nothing of that, and
// sees nothing of the folder of the config but the scripts that it names.
func (s *Commands) Run(ctx context.Context, st Step) (result check.CommandResult, err error) {
	if st.Command.Tests {
		return s.grade(ctx, st)
	}
	for _, path := range []*string{&st.Dir, &st.RunDir} {
		if *path, err = filepath.Abs(*path); err != nil {
			return result, fmt.Errorf("find the workspace: %w", err)
		}
	}
	if st.temp, err = os.MkdirTemp("", disk.Check); err != nil {
		return result, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(st.temp)) }()
	output, err := st.output()
	if err != nil {
		return result, err
	}
	if output != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(output)) }()
	}
	if s.Config.Agent.Sandbox == "auto" {
		st.show = wiring.Places(s.Isolated(), st.Dir, st.temp)
	}
	environ, confine, err := s.bounds(st, output)
	if err != nil {
		return result, err
	}
	confine.Show, confine.Limits = st.show, wiring.Limits(s.Config.Agent.Limits)
	if s.Config.Agent.Sandbox != "auto" {
		confine = nil
	}
	if result, err = st.carry(ctx, environ, confine); result.End == check.EndLimit {
		result.Agents = !s.Trusts(st.Command)
	}
	return result, err
}

// bounds says what a step sees of the environment, and what it can reach.
func (s *Commands) bounds(st Step, output string) ([]string, *sandbox.Confine, error) {
	if s.Trusts(st.Command) {
		return s.trustedBounds(st, output)
	}
	environ := append(s.plainEnviron(st.show.Seen(st.temp)), "WORKSPACE="+st.show.Seen(st.Dir))
	return environ, &sandbox.Confine{Write: []string{st.Dir, st.temp}, Read: append(s.readableScripts(st), s.Readable()...), Network: st.Command.Network}, nil
}

// Trusts reports whether a command is given what is expected.
func (s *Commands) Trusts(c check.Command) bool {
	if c.Untrusted || c.Execute != nil {
		return c.Execute != nil
	}
	return check.Told(strings.Join(c.Argv, "\n")) || slices.ContainsFunc(s.texts(c.Argv), check.Told)
}

// Refuse fails for a command that is given what is expected and is itself a program
// of the workspace, whether the agent has left it or not.
func (s *Commands) Refuse(c check.Command, dir string) error {
	if !s.Trusts(c) || !ofWorkspace(c.Argv[0], dir) {
		return nil
	}
	return fmt.Errorf("run the command of a check: %s lies in the workspace, and the command names GOLD, TASK or CONFIG_DIR: with these nothing of the workspace is executed; run it by execute, and look at what it left in $OUTPUT", c.Argv[0])
}

// trustedBounds returns the bounds of a step that is given what is expected. Where only bubblewrap
// confines, what is in the workspace can still be executed.
func (s *Commands) trustedBounds(st Step, output string) ([]string, *sandbox.Confine, error) {
	config, beside, err := s.besideConfig(st.RunDir)
	if err != nil {
		return nil, nil, err
	}
	about, err := json.Marshal(st.Task)
	if err != nil {
		return nil, nil, fmt.Errorf("encode task %s: %w", st.Task.ID, err)
	}
	environ := append(
		filterEnviron(s.plainEnviron(st.show.Seen(st.temp)), st.Dir, st.RunDir), "WORKSPACE="+st.show.Seen(st.Dir), "CONFIG_DIR="+config, "TASK="+string(about), "GOLD="+strings.Join(st.Task.Gold, "\n"),
		// What programs load or obey of the folder that they are started in.
		"PYTHONSAFEPATH=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "GIT_DIR="+os.DevNull,
		"R_PROFILE_USER="+os.DevNull, "R_ENVIRON_USER="+os.DevNull, "CLASSPATH="+st.show.Seen(st.temp),
	)
	for _, dir := range s.Readable() {
		beside = append(beside, excludeFolder(dir, st.RunDir)...)
	}
	if output != "" {
		environ, beside = append(environ, "OUTPUT="+output), append(beside, output)
	}
	return environ, &sandbox.Confine{Inert: []string{st.Dir, st.temp}, Read: beside, Network: st.Command.Network}, nil
}

// ofWorkspace reports whether a program is one that the agent may have left.
func ofWorkspace(program, dir string) bool {
	if !filepath.IsAbs(program) {
		return strings.ContainsAny(program, "/"+string(filepath.Separator))
	}
	return isWithin(real(program), real(dir)) || isWithin(program, dir)
}

// filterEnviron removes from an environment what would lead a program to code in a workspace: paths
// of modules, and folders of programs that are relative or there.
func filterEnviron(environ []string, dirs ...string) []string {
	var kept []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case strings.EqualFold(name, "PATH"):
			if list := absolute(value, dirs); list != "" { // an empty one represents the working folder
				kept = append(kept, name+"="+list)
			}
		case !strings.HasPrefix(name, "PYTHON") && name != "VIRTUAL_ENV":
			kept = append(kept, v)
		}
	}
	return kept
}

// absolute returns the folders of a search path that are absolute and lie in none
// of dirs.
func absolute(list string, dirs []string) string {
	folders := slices.DeleteFunc(filepath.SplitList(list), func(folder string) bool {
		return !filepath.IsAbs(folder) || slices.ContainsFunc(dirs, func(dir string) bool { return isWithin(real(folder), real(dir)) })
	})
	return strings.Join(folders, string(filepath.ListSeparator))
}

// carry runs the step.
func (st *Step) carry(ctx context.Context, environ []string, confine *sandbox.Confine) (result check.CommandResult, err error) {
	var out ends
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: st.Command.Argv, Dir: st.Dir, Env: environ, Stdout: &out, Timeout: st.Command.Timeout, Confine: confine})
	if err != nil {
		return result, fmt.Errorf("run the command of a check: %w", err)
	}
	result = check.CommandResult{Code: r.Code, Signal: r.Signal, Stdout: out.last.text(st.Hide), Stderr: st.Hide.Tail(r.Stderr, len(r.Stderr) >= maxErrors, maxErrors)}
	if st.Command.Untrusted {
		result.Head, result.Cut = out.first, out.cut
	}
	switch r.Reason {
	case sandbox.Exited:
		result.End = check.EndExit
	case sandbox.Deadline:
		result.End = check.EndDeadline
	case sandbox.Flooded:
		result.End = check.EndFlood
	case sandbox.Exhausted:
		result.End, result.Detail = check.EndLimit, r.Detail
	case sandbox.Starved:
		return result, fmt.Errorf("run the command of a check: %s: free some, and run again", r.Detail)
	case sandbox.Cancelled:
		return result, fmt.Errorf("run the command of a check: %w", context.Cause(ctx))
	}
	return result, nil
}

// output writes how execute ended into a folder, for the command that judges it;
// "" if nothing was executed. None of it can be executed.
func (st *Step) output() (dir string, err error) {
	r := st.Command.Executed
	if r == nil {
		return "", nil
	}
	if dir, err = os.MkdirTemp("", disk.Check); err != nil {
		return "", fmt.Errorf("make a folder for what execute left: %w", err)
	}
	code := r.Signal
	if code == "" {
		code = strconv.Itoa(r.Code)
	}
	cut := "no"
	if r.Cut {
		cut = "yes"
	}
	for name, data := range map[string][]byte{"stdout": r.Head, "stderr": []byte(r.Stderr), "code": []byte(code), "end": []byte(r.End), "cut": []byte(cut)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o400); err != nil {
			return "", errors.Join(fmt.Errorf("write what execute left: %w", err), os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// besideConfig returns the folder of the config, and what a command may read of
// it that is given what is expected. Hidden files, such as .env with the keys, are
// not for it, and neither are runs: agents work there, on other tasks too.
func (s *Commands) besideConfig(run string) (dir string, visible []string, err error) {
	if dir, err = filepath.Abs(s.Loaded.Dir); err != nil {
		return "", nil, fmt.Errorf("find the config's folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, fmt.Errorf("read the config's folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), ".") && e.Type()&fs.ModeSymlink == 0 && !holdsRuns(path, run) {
			visible = append(visible, path)
		}
	}
	return dir, visible, nil
}

// holdsRuns reports whether a file or folder belongs to a run, or is a folder of
// runs.
func holdsRuns(path, run string) bool {
	if isWithin(real(run), real(path)) || isWithin(real(path), real(run)) {
		return true
	}
	for _, pattern := range []string{"run.db", filepath.Join("*", "run.db")} {
		if found, err := filepath.Glob(filepath.Join(path, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// readableScripts returns the scripts in the folder of the config that an untrusted step
// names: each may be read, and nothing next to it. Tasks, with their gold, and the
// config itself are none.
func (s *Commands) readableScripts(st Step) []string {
	config, visible, err := s.besideConfig(st.RunDir)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(findAbsoluteFiles(st.Command.Argv), func(path string) bool {
		inside := func(dir string) bool { return dir != "" && isWithin(real(path), real(dir)) }
		return !isWithin(path, config) || !slices.ContainsFunc(visible, inside) || inside(s.Loaded.File) || inside(s.Config.Tasks.Path)
	})
}

// isWithin reports whether a path is a folder or lies in it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// real returns a path without symbolic links, as far as it is there.
func real(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

// excludeFolder lists what a folder holds but for what leads to another in it.
func excludeFolder(dir, other string) []string {
	dir, other = real(dir), real(other)
	switch {
	case isWithin(dir, other):
		return nil
	case !isWithin(other, dir):
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var rest []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			rest = append(rest, excludeFolder(filepath.Join(dir, e.Name()), other)...)
		}
	}
	return rest
}

// plainEnviron returns what every program may know of the environment variables, with a home of its
// own.
func (s *Commands) plainEnviron(home string) []string {
	var environ []string
	for _, v := range env.AllowedVariables(s.Loaded.Lookup) {
		if !hasName(v, "HOME") && !hasName(v, "TMPDIR") {
			environ = append(environ, v)
		}
	}
	return append(environ, "HOME="+home, "TMPDIR="+home)
}

func hasName(v, name string) bool {
	return len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '='
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	cut  bool // there was more
}

// maxTail is how much of standard output is reported, in bytes, maxKept how much is kept
// for it, and maxErrors how much there is of standard error at most.
const (
	maxTail   = 4 << 10
	maxKept   = 64 << 10
	maxErrors = 64 << 10
)

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxKept; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(p), nil
}

func (t *tail) text(hide *redact.Exact) string { return hide.Tail(string(t.kept), t.cut, maxTail) }

// ends keeps the beginning and the end of what is written to it.
type ends struct {
	first []byte
	cut   bool // there was more than first
	last  tail
}

func (e *ends) Write(p []byte) (int, error) {
	n := min(len(p), check.MaxHead-len(e.first))
	e.first = append(e.first, p[:n]...)
	e.cut = e.cut || n < len(p)
	return e.last.Write(p)
}
