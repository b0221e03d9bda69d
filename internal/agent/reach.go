package agent

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/reach"
)

// Reach returns what the agent may read when it is confined, apart from the system, its
// workspace and its home: its own package, the toolchains in the search path, and
// Options.Read. A program that is not there needs nothing. The error is a
// *reach.ConflictError: then Run refuses as well.
func (a *Agent) Reach() (reach.Plan, error) {
	r := reach.Request{Search: a.opts.Path, Tools: toolchains(), Entries: a.opts.Read}
	if a.opts.LoginHome != "" {
		r.Login = a.stateBelow(a.opts.LoginHome)
	}
	disk := reach.Disk()
	r.Entries = append(slices.Clip(r.Entries), a.readable(a.opts.Files, func(file string) error {
		_, err := a.opts.Guard.Plan(disk, reach.Request{Entries: []string{file}})
		return err
	})...)
	for _, n := range a.adapter.needs {
		r.Tools = append(r.Tools, n.program)
	}
	if a.adapter.name != BuiltinName {
		if program, err := a.find(); err == nil {
			r.Program, r.Beside = program, a.ownFiles()
		}
	}
	return a.opts.Guard.Plan(disk, r)
}

// stateBelow returns the paths that are there of those where the agent keeps its login.
func (a *Agent) stateBelow(home string) []string {
	var there []string
	for _, name := range a.adapter.state {
		path := filepath.Join(home, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			there = append(there, path)
		}
	}
	return there
}

// toolchains lists the programs that agents call to build and to run what they write.
func toolchains() []string {
	return []string{"go", "node", "bun", "deno", "python3", "python", "uv", "ruby", "java", "cargo", "rustc"}
}

// ownFiles returns the files that the description of an agent names apart from its program, such as
// the script of an interpreter.
func (a *Agent) ownFiles() []string {
	if a.opts.Custom == nil || len(a.opts.Custom.Argv) == 0 {
		return nil
	}
	var files []string
	for _, arg := range a.opts.Custom.Argv[1:] {
		if filepath.IsAbs(arg) {
			files = append(files, filepath.Clean(arg))
		}
	}
	return files
}

// TellsReads reports whether the events of the agent of that name were measured to show
// every call of a tool, with which a skill is read. Of cursor's, and of those of an agent
// that is described in a config, that is not known.
func TellsReads(name string) bool { return name != CustomName && name != "cursor" }
