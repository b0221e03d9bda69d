package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
)

// Reach returns what confined programs may read apart from the system. These programs are the agent
// or, if there is none, the commands of checks.
func (s *Commands) Reach() (reach.Plan, error) {
	guard, err := s.Guard()
	if err != nil {
		return reach.Plan{}, err
	}
	var plan reach.Plan
	if c := s.Config.Agent; c.Name != "" {
		c.Read = s.Readable()
		a, err := wiring.NewAgent(c, guard, s.Loaded.Lookup)
		if err != nil {
			return plan, fault.Input(err)
		}
		plan, err = a.Reach()
		return plan, fault.Input(err)
	}
	plan, err = guard.Plan(reach.Disk(), reach.Request{Entries: s.Readable()})
	return plan, fault.Input(err)
}

// Guard says what is kept from confined programs.
func (s *Commands) Guard() (reach.Guard, error) {
	g := reach.Guard{
		Bases:  []reach.Path{{Path: os.TempDir(), Name: "the folder of temporary files, in which others work"}},
		System: sandbox.SystemFolders(),
	}
	g.Home, _ = s.Loaded.Lookup("HOME")
	if s.Loaded.File != "" || !holdsHome(s.Loaded.Dir, g.Home) {
		g.Config = s.Loaded.Dir
	}
	g.Kept = append(s.configFiles(), s.keptPaths()...)
	if s.Repository != nil {
		for _, path := range s.Repository.Private() {
			g.Kept = append(g.Kept, reach.Path{Path: path, Name: "agent.repository"})
		}
		g.Open = s.Repository.Deps()
	}
	for i, p := range g.Kept {
		abs, err := filepath.Abs(p.Path)
		if err != nil {
			return g, fmt.Errorf("find %s: %w", p.Name, err)
		}
		g.Kept[i].Path = abs
	}
	if g.Config == "" {
		return g, nil
	}
	abs, err := filepath.Abs(g.Config)
	if err != nil {
		return g, fmt.Errorf("find the config's folder: %w", err)
	}
	g.Config = abs
	return g, nil
}

// holdsHome reports whether a working directory is too wide to represent a project:
// without a config file that is no more than where the program was started.
func holdsHome(dir, home string) bool {
	rel, err := filepath.Rel(dir, home)
	return filepath.Dir(dir) == dir || home != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// configFiles returns the files that the config was read from, and those with keys next to them.
func (s *Commands) configFiles() []reach.Path {
	kept := []reach.Path{{Path: filepath.Join(s.Loaded.Dir, ".env"), Name: ".env"}}
	for _, file := range s.Loaded.Files {
		kept = append(kept, reach.Path{Path: file, Name: "the config"}, reach.Path{Path: filepath.Join(filepath.Dir(file), ".env"), Name: ".env"})
	}
	return kept
}

// keptPaths returns the paths of the config that hold answers, records or keys.
func (s *Commands) keptPaths() []reach.Path {
	all := []reach.Path{
		{Path: s.Config.Run.Dir, Name: "run.dir"},
		{Path: s.RunDir, Name: "the run directory"},
		{Path: s.Config.Tasks.Path, Name: "tasks.path"},
		{Path: s.Config.Skill, Name: "skill"},
		{Path: s.Config.Prompts, Name: "prompts"},
	}
	if s.Fork != "" {
		all = append(all, reach.Path{Path: s.Fork, Name: "the forked run"})
	}
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		m := s.Config.Models.Of(role)
		all = append(all, reach.Path{Path: m.World, Name: "models." + role + ".world"}, reach.Path{Path: m.Folder, Name: "models." + role + ".folder"},
			reach.Path{Path: wiring.GoogleCredentials(m, s.Loaded.Lookup), Name: "the credentials of models." + role})
	}
	var kept []reach.Path
	for _, p := range all {
		if p.Path != "" {
			kept = append(kept, p)
		}
	}
	return kept
}
