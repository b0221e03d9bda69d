package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file compares tasks and runs of an untrusted caller with its guard (config.Guard).

// taskGuard is the guard of a configuration as files of tasks are compared with it.
type taskGuard struct {
	*config.Guard
	in *Inputs
}

// Refuse implements task.Guard. TestFieldsOfTasksAreClassed lists what each field has the program
// do. Files that a world reads are in the folder that a trusted configuration names for it, and no
// link leads out of that.
func (g taskGuard) Refuse(t task.Task) []error {
	var specs any
	_ = json.Unmarshal(t.Checks, &specs) // which is JSON, or nothing
	var out []error
	if found := check.Runs(specs); len(found) > 0 {
		out = append(out, fmt.Errorf("the field checks runs a program (%s), allowed: checks that look at the answer, or ask the judge", strings.Join(found, ", ")))
	}
	if found := namedPages(g.in).Addresses(t); len(found) > 0 {
		out = append(out, fmt.Errorf("the field %s names a page to fetch (%.200q), allowed: none", g.in.Config.Tasks.Pages.Field, found[0]))
	}
	names, err := t.Images()
	if err != nil {
		out = append(out, err)
	}
	for _, name := range names {
		if !g.in.OwnEnv() && !g.isFile(g.in.TasksDir(), name) {
			out = append(out, outsideError(task.FieldImages, name))
		}
	}
	if name, ok := t.Data[rollout.FieldWorkspace].(string); ok && g.in.worksInFolders() && !g.isFile(workspacesDir(g.in), name) {
		out = append(out, outsideError(rollout.FieldWorkspace, name))
	}
	return out
}

// address matches what is fetched, or opened by another program.
var address = pattern.New(`^(?i:[a-z][a-z0-9+.-]*):`)

// isFile reports whether a name is that of a file or folder in dir, or data, which opens nothing.
func (g taskGuard) isFile(dir, name string) bool {
	local := filepath.FromSlash(name)
	return strings.HasPrefix(name, "data:") || !address.MatchString(name) && filepath.IsLocal(local) && g.Inside(filepath.Join(dir, local)) == nil
}

func outsideError(field, name string) error {
	return fmt.Errorf("the field %s has an address, or leads out of the folders that this caller may use (%.200q), allowed: a path below the folder of the tasks", field, name)
}

// requireInside refuses directories of runs, and a folder of such, that lead out of the folders of
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
