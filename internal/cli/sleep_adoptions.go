package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
)

// adoptedDir is where receipts and backups lie, below sleep.dir.
const adoptedDir = "adopted"

// adoptions opens what was adopted.
func (s sleepSetup) adoptions(version string) (*adopt.Store, error) {
	key, err := night.Key(s.dir)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return adopt.Open(adopt.Options{Dir: filepath.Join(s.dir, adoptedDir), Key: key, Version: version, Find: s.document, Env: s.variable}), nil
}

// variable reads a variable of the environment.
func (s sleepSetup) variable(name string) string {
	v, _ := s.loaded.Lookup(name)
	return v
}

// document finds where a document of a project lies, by the profile and the project as they are now.
func (s sleepSetup) document(project, id string) (adopt.Place, error) {
	allowed, err := s.projects()
	if err != nil {
		return adopt.Place{}, err
	}
	if !allowed.Allow(project) {
		return adopt.Place{}, usagef("%s: sleep.projects does not name %s, so that nothing is written there", s.profile, project)
	}
	kind, name, _ := strings.Cut(id, ":")
	var t target.Target
	places := s.targets(project)
	switch target.Kind(kind) {
	case target.Skill:
		name, file, inFolder := strings.Cut(name, "/")
		if t, err = target.FindSkill(places, name); err == nil && inFolder {
			t.Path, err = s.findSkillFile(t, file)
		}
	case target.Memory:
		t, err = target.FindMemory(places, name)
	default:
		return adopt.Place{}, usagef("%q is no document", id)
	}
	if err != nil {
		return adopt.Place{}, err
	}
	if !places.Plain(t) {
		return adopt.Place{}, &adopt.Refused{File: t.File(), Reason: "its folder is reached over a link; name the folder itself under sleep.projects or sleep.roots"}
	}
	return adopt.Place{ID: id, Root: t.Root, Path: t.Path}, nil
}

// findSkillFile returns the path of another file of a skill's folder, below the root that the skill was found in: one that the profile has trained.
func (s sleepSetup) findSkillFile(t target.Target, file string) (string, error) {
	c := s.loaded.Config
	if !slices.Contains(c.Sleep.Whole, t.Name) {
		return "", usagef("%s: sleep.whole does not name %s, so that only the SKILL.md of this skill is written, not its other files", s.profile, t.Name)
	}
	folder, err := skill.Read(os.DirFS(t.Root), path.Dir(t.Path))
	if err != nil {
		return "", usagef("%s: its folder cannot be read: %v", t.File(), err)
	}
	scope, err := skill.NewScope(folder, c.Edits.Files, max(1, c.Edits.NewFiles))
	if err != nil {
		return "", usagef("%s: edits.files: %v", s.profile, err)
	}
	if file == skill.Main || !fs.ValidPath(file) || !scope.Allows(file) {
		return "", usagef("%s: edits.files does not name %s of %s, so that nothing is written there", s.profile, strconv.Quote(file), t.Name)
	}
	return path.Join(path.Dir(t.Path), file), nil
}

// targets returns the places where the documents of a project are looked for.
func (s sleepSetup) targets(project string) target.Places {
	places := target.Places{Project: project, Home: s.folders.Home}
	for _, dir := range s.loaded.Config.Sleep.Roots {
		places.Roots = append(places.Roots, s.absolute(dir))
	}
	return places
}

// recoverAdoptions finishes or undoes what was cut short, before a command does anything else.
func recoverAdoptions(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return nil // the command says it itself
	}
	if _, err := os.Lstat(filepath.Join(setup.dir, adoptedDir)); err != nil {
		return nil // there is none, or the command says why it cannot be read
	}
	s, err := setup.adoptions(a.version)
	if err != nil {
		return err
	}
	return s.Recover(ctx)
}

// adoptionsRoom is what is kept of adoptions, for forgetting.
type adoptionsRoom struct{ setup sleepSetup }

// Entries implements bank.Room.
func (adoptionsRoom) Entries() []string { return []string{adoptedDir} }

// Forget implements bank.Room. Receipts have rules and their grounds, and backups are copies of the user's own files: of a
// project both are deleted with backups, and named without. What is known of an adoption goes with its backup.
func (r adoptionsRoom) Forget(_ context.Context, s bank.Subject, backups bool, _ time.Time) (bank.Deleted, error) {
	var gone bank.Deleted
	if s.Project == nil {
		return gone, nil // a receipt has none of a session's words but the rules, which are in the document
	}
	store, err := r.setup.adoptions("")
	if err != nil {
		return gone, err
	}
	folders, err := store.Forget(s.Project, !backups)
	if backups {
		gone.Files = len(folders)
	} else {
		gone.Backups = folders
	}
	return gone, err
}

// Reset implements bank.Room.
func (r adoptionsRoom) Reset(context.Context) error {
	return os.RemoveAll(filepath.Join(r.setup.dir, adoptedDir))
}

// adoptionCode returns the exit code of an error of adopting, exitOK for another one. An error about what somebody else wrote meanwhile goes first.
func adoptionCode(err error) int {
	var (
		conflict *adopt.Conflict
		busy     *adopt.Busy
		refused  *adopt.Refused
		damaged  *adopt.Damaged
	)
	switch {
	case errors.As(err, &conflict):
		return exitEnvironment
	case errors.As(err, &busy):
		return exitLocked
	case errors.As(err, &refused), errors.As(err, &damaged):
		return exitInput
	}
	return exitOK
}
