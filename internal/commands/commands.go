// Package commands runs the commands of checks, and says what confined programs may
// see of the machine.
//
// A command is given what is expected or may execute what an agent left, never both. It
// knows configurations, checks and the sandbox. It knows nothing of models, records,
// or how a finding becomes a score.
package commands

import (
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/task"
)

// Commands are the commands that the checks of a configuration run, and what they and
// agents may read. It may be used concurrently, and changes nothing of what it holds.
type Commands struct {
	Config config.Config
	Loaded *config.Loaded
	Suite  *check.Suite // nil: nothing is scored by checks
	Tasks  []task.Task
	RunDir string // "" if it is not chosen yet
	Fork   string // directory of the fork that is begun, "" for none

	Repository *repository.Repository // whose tasks are carried out; nil: of none

	Isolated func() bool // whether programs can have namespaces of their own
}

// Readable returns the folders of agent.read, and what the tests of a repository read, as absolute paths.
func (s *Commands) Readable() []string {
	all := s.Absolute(s.Config.Agent.Read)
	if s.Repository != nil {
		all = append(all, s.Repository.Suite().Read...)
	}
	return all
}

// Absolute returns folders of a config as absolute paths. ~ is the user's home folder, as in a shell.
func (s *Commands) Absolute(dirs []string) []string {
	home, _ := s.Loaded.Lookup("HOME")
	var out []string
	for _, dir := range dirs {
		if rest, ok := strings.CutPrefix(dir, "~"); ok && filepath.IsAbs(home) && (rest == "" || rest[0] == '/') {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Loaded.Dir, dir)
		}
		out = append(out, dir)
	}
	return out
}
