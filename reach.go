package skillopt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
)

// confines reports whether the run starts programs that are confined.
func (s *setup) confines() bool {
	return s.replay == nil && s.cfg.Agent.Sandbox == "auto" && (s.cfg.Agent.Name != "" || s.needs().Command)
}

// requireReach fails when a confined program could read what is kept from it, before
// anything is begun. It warns of what the agent probably needs and may not read.
func (s *setup) requireReach() error {
	if !s.confines() {
		return nil
	}
	plan, err := s.reach()
	if err != nil {
		return err
	}
	for _, n := range plan.Narrowed {
		if n.Own && n.Vital {
			s.warnings = append(s.warnings, fmt.Sprintf("%s; install it elsewhere, or name that folder in agent.read if nothing else is in it", n))
		}
	}
	return nil
}

// reach is what confined programs may read besides the system: the agent, or, where
// there is none, the commands of checks.
func (s *setup) reach() (reach.Plan, error) {
	guard, err := s.guard()
	if err != nil {
		return reach.Plan{}, err
	}
	var plan reach.Plan
	if c := s.cfg.Agent; c.Name != "" {
		c.Read = s.readable()
		a, err := wire.NewAgent(c, guard, s.loaded.Lookup)
		if err != nil {
			return plan, &inputError{err}
		}
		plan, err = a.Reach()
		return plan, asInput(err)
	}
	plan, err = guard.Plan(reach.Disk(), reach.Request{Entries: s.readable()})
	return plan, asInput(err)
}

func asInput(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

// guard says what is kept from confined programs.
func (s *setup) guard() (reach.Guard, error) {
	g := reach.Guard{
		Bases:  []reach.Path{{Path: os.TempDir(), Name: "the folder of temporary files, in which others work"}},
		System: sandbox.SystemFolders(),
	}
	g.Home, _ = s.loaded.Lookup("HOME")
	if s.loaded.File != "" || !holdsHome(s.loaded.Dir, g.Home) {
		g.Config = s.loaded.Dir
	}
	g.Kept = append(s.configFiles(), s.keptPaths()...)
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

// holdsHome reports whether a working directory is too wide to stand for a project:
// without a config file that is no more than where the program was started.
func holdsHome(dir, home string) bool {
	rel, err := filepath.Rel(dir, home)
	return filepath.Dir(dir) == dir || home != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// configFiles are the files that the config was read from, and those with keys beside
// them.
func (s *setup) configFiles() []reach.Path {
	kept := []reach.Path{{Path: filepath.Join(s.loaded.Dir, ".env"), Name: ".env"}}
	for _, file := range s.loaded.Files {
		kept = append(kept, reach.Path{Path: file, Name: "the config"}, reach.Path{Path: filepath.Join(filepath.Dir(file), ".env"), Name: ".env"})
	}
	return kept
}

// keptPaths are those of the config that hold answers, records or keys.
func (s *setup) keptPaths() []reach.Path {
	all := []reach.Path{
		{Path: s.cfg.Run.Dir, Name: "run.dir"},
		{Path: s.runDir, Name: "the run directory"},
		{Path: s.cfg.Tasks.Path, Name: "tasks.path"},
		{Path: s.cfg.Skill, Name: "skill"},
		{Path: s.cfg.Prompts, Name: "prompts"},
		{Path: s.cfg.Cache.Dir, Name: "cache.dir"},
	}
	if s.fork != "" {
		all = append(all, reach.Path{Path: s.fork, Name: "the forked run"})
	}
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		m := s.model(role)
		all = append(all, reach.Path{Path: m.World, Name: "models." + role + ".world"}, reach.Path{Path: m.Folder, Name: "models." + role + ".folder"},
			reach.Path{Path: m.Google.Credentials, Name: "models." + role + ".google.credentials"})
	}
	var kept []reach.Path
	for _, p := range all {
		if p.Path != "" {
			kept = append(kept, p)
		}
	}
	return kept
}
