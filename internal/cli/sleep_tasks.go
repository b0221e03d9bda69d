package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/taskfile"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// single has nights be of one project: that of --project, or the one that the working directory lies in.
func (s *sleepSetup) single(a *app) error {
	allowed, err := s.projects()
	s.alone = true
	if err != nil || s.project != "" {
		return errors.Join(err, s.checkProject(allowed))
	}
	if s.project = findProjectRoot(a.folder("."), allowed); allowed.Allow(s.project) {
		return nil
	}
	return usagef("the working directory is in no folder of sleep.projects in %s, which has %s; name the project by --project", s.profile, oneLine(strings.Join(s.allowedFolders(), ", ")))
}

// reviewedTasks reads a file of tasks for a night of the project.
func (s sleepSetup) reviewedTasks(ctx context.Context, a *app, file string) ([]wish.Task, error) {
	c := s.loaded.Config
	var specs any
	if list := c.Tasks.Checks; len(list) > 0 {
		specs = list
	}
	suite, err := check.Compile(specs, check.Options{Workspace: c.Agent.Name != "", Judge: true})
	if err != nil {
		return nil, usagef("%s: tasks.checks: %v", s.profile, err)
	}
	r := taskfile.Reader{
		Project: s.project, Suite: suite, Columns: c.Tasks.Columns, Clean: s.loaded.Redactor(wiring.Secrets(c, s.loaded.Lookup)...).Text,
		Skill: func(name string) error {
			_, err := target.FindSkill(s.targets(s.project), name)
			return err
		},
	}
	tasks, warnings, err := r.Read(ctx, a.absolute(file))
	if err != nil {
		return nil, usagef("--tasks %v", err)
	}
	for _, text := range warnings {
		a.printer(a.Err).line("warning: " + oneLine(text))
	}
	return tasks, nil
}

// nightCommand returns the command line of a night on a file.
func nightCommand(project, file string) string {
	return fmt.Sprintf("skillopt sleep run --project %s --tasks %s", shellWord(project), shellWord(file))
}

// options returns the options of the night of a project.
func (o *sleepRunOptions) options(w *nightWork, project string) night.Options {
	opts := w.options(project)
	opts.Explore, opts.Tasks = o.explore, o.reviewed
	if o.reviewed != nil {
		opts.Command = nightCommand(project, o.tasks)
	}
	return opts
}
