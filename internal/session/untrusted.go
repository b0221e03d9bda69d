package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/internal/openenv"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/textgame"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file holds what an untrusted caller names to the folders of its guard (config.Guard), and
// its tasks to what neither runs, opens nor fetches anything.

// taskGuard is the guard of a configuration as files of tasks are held to it.
type taskGuard struct {
	*config.Guard
	in *Inputs
}

// guardOfTasks returns the guard of task files; nil: the caller is trusted.
func (s *Inputs) guardOfTasks() task.Guard {
	if s.Loaded.Guard == nil {
		return nil
	}
	return taskGuard{s.Loaded.Guard, s}
}

// Refuse implements task.Guard.
func (g taskGuard) Refuse(t task.Task) []error {
	var out []error
	for _, look := range fieldsOfTasks() {
		if look == nil {
			continue
		}
		if err := look(g, t); err != nil {
			out = append(out, err)
		}
	}
	return out
}

// does looks at what a field of a task has the program run, open or fetch. Nil: nothing, it is text.
type does func(taskGuard, task.Task) error

// fieldsOfTasks lists the fields of a task that the program reads by their names. Each has its
// place here: a test compares the list with the code. Files that a world reads lie in the folder
// of documents that a trusted configuration has named, and no link leads out of that.
func fieldsOfTasks() map[string]does {
	return map[string]does{
		"id": nil, "type": nil, "prompt": nil, "gold": nil, "hidden": nil, "split": nil, "trigger": nil,
		"checks": runs, "data": fetches,
		task.FieldImages: pictures, rollout.FieldWorkspace: folders, rollout.FieldFiles: nil,
		corpus.FieldFiles: nil, corpus.FieldDocs: nil, textgame.FieldGame: nil, openenv.FieldReset: nil,
	}
}

// runs refuses checks that run a program.
func runs(_ taskGuard, t task.Task) error {
	if len(t.Checks) == 0 {
		return nil
	}
	var specs any
	if err := json.Unmarshal(t.Checks, &specs); err != nil {
		return fmt.Errorf("the field checks cannot be read: %w", err)
	}
	if found := check.Runs(specs); len(found) > 0 {
		return fmt.Errorf("the field checks runs a program (%s), allowed: checks that look at the answer, or ask the judge", strings.Join(found, ", "))
	}
	return nil
}

// fetches refuses pages of the web.
func fetches(g taskGuard, t task.Task) error {
	if found := namedPages(g.in).Addresses(t); len(found) > 0 {
		return fmt.Errorf("the field %s names a page to fetch (%.200q), allowed: none", g.in.Config.Tasks.Pages.Field, found[0])
	}
	return nil
}

// pictures refuses those that are not in the folder of the tasks.
func pictures(g taskGuard, t task.Task) error {
	if g.in.OwnEnv() {
		return nil
	}
	names, err := t.Images()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := g.file(task.FieldImages, g.in.TasksDir(), name); err != nil {
			return err
		}
	}
	return nil
}

// folders refuses workspaces that are not next to the tasks.
func folders(g taskGuard, t task.Task) error {
	name, ok := t.Data[rollout.FieldWorkspace].(string)
	if !ok || !g.in.worksInFolders() {
		return nil
	}
	return g.file(rollout.FieldWorkspace, workspacesDir(g.in), name)
}

// address matches what is fetched, or opened by another program.
var address = pattern.New(`^(?i:[a-z][a-z0-9+.-]*):`)

// file refuses what is no file or folder in dir. Data in an address opens nothing.
func (g taskGuard) file(field, dir, name string) error {
	switch {
	case strings.HasPrefix(name, "data:"):
		return nil
	case address.MatchString(name):
		return fmt.Errorf("the field %s has an address (%.200q), allowed: a path below the folder of the tasks", field, name)
	case !filepath.IsLocal(filepath.FromSlash(name)) || g.Inside(filepath.Join(dir, filepath.FromSlash(name))) != nil:
		return fmt.Errorf("the field %s leads out of the folders that this caller may use (%.200q), allowed: a path below the folder of the tasks", field, name)
	}
	return nil
}

// requireInside refuses directories of runs, and folders of such, that lead out of the folders of
// an untrusted caller or hold links that do. What agents left in a run is not read through links.
func requireInside(l *config.Loaded, folder string, runs ...string) error {
	if l == nil || l.Guard == nil {
		return nil
	}
	whole := func(name string) bool { return name != workspaces }
	each := func(name string) bool { return !strings.Contains(name, "/") }
	err := l.Guard.Links(folder, each)
	for _, dir := range runs {
		if dir != "" && err == nil {
			err = cmp.Or(l.Guard.Links(filepath.Dir(dir), each), l.Guard.Links(dir, whole))
		}
	}
	return err
}
