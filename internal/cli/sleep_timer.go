package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/timer"
)

// timersDir holds what timers start nights with, below sleep.dir.
const timersDir = "timers"

// nightFlags are the flags of sleep run that a timer starts nights with.
type nightFlags struct {
	Project   string   `json:"project"` // absolute, "": all
	Set       []string `json:"set"`
	Explore   bool     `json:"explore"`
	NoHarvest bool     `json:"no_harvest"`

	// Keys are commands that print a key, by the variable that it is for.
	Keys map[string][]string `json:"keys,omitempty"`
}

// timed is the profile of a timer.
type timed struct {
	path    string
	profile *timer.Profile
	flags   nightFlags
	broken  error // it cannot be read, and of profile the ID alone is known
}

// timedBy reads the profile of a timer; nil: the file is another one.
func timedBy(a *app, profile string) (*timed, error) {
	if profile == "" {
		return nil, nil
	}
	t := &timed{path: a.absolute(profile)}
	p, found, err := timer.ReadProfile(context.Background(), t.path)
	if err != nil || !found {
		return nil, err
	}
	t.profile = p
	if err := json.Unmarshal(p.Flags, &t.flags); err != nil {
		return nil, usagef("%s: its flags cannot be read: %v; write it again by `skillopt sleep schedule`", t.path, err)
	}
	return t, nil
}

// timedSetup returns the setup of nights that a timer starts. It is the user's profile as it is now, with the
// flags, the folder and the variables that the timer's profile holds.
func timedSetup(a *app, t *timed, sets ...string) (sleepSetup, error) {
	if err := config.SetEnvironment(t.profile.Env); err != nil {
		return sleepSetup{}, err
	}
	folders, err := config.UserFolders()
	if err != nil {
		return sleepSetup{}, err
	}
	if err := askedKeys(context.Background(), newTimerHost(folders), t.flags.Keys, config.Environment, config.SetEnvironment); err != nil {
		return sleepSetup{}, err
	}
	from := *a
	from.Dir = t.profile.Folder
	s, err := from.readSleepSetup(t.profile.Profile, t.profile.Profile, append(slices.Clone(t.flags.Set), sets...)...)
	s.timer, s.project = t, t.flags.Project
	return s, err
}

// timerID names the entry of a project, "" for all, and of what is kept in a folder.
func timerID(dir, project string) string { return target.Digest(dir + "\x00" + project)[:16] }

// timerFile returns the path of a file of an entry.
func (s sleepSetup) timerFile(id, ending string) string {
	return filepath.Join(s.dir, timersDir, id+ending)
}

// The files of an entry, below timersDir.
const (
	timerProfile = ".json"
	timerState   = ".state.json"
	timerLog     = ".log"
	timerLock    = ".lock"
)

// timerFiles returns the endings of all files of an entry.
func timerFiles() []string { return []string{timerProfile, timerState, timerLog, timerLock} }

// host returns the machine whose schedulers get the entries.
func (s sleepSetup) host() timer.Host { return newTimerHost(s.folders) }

func newTimerHost(f config.Folders) timer.Host {
	folders := timer.Folders{Home: f.Home, Settings: filepath.Join(f.Home, ".config"), Data: filepath.Join(f.Home, ".local", "share")}
	if dir := f.Lookup("XDG_CONFIG_HOME"); dir != "" {
		folders.Settings = dir
	}
	if dir := f.Lookup("XDG_DATA_HOME"); dir != "" {
		folders.Data = dir
	}
	return timer.Host{OS: runtime.GOOS, User: os.Getuid(), Folders: folders, Lookup: config.Environment}
}

// timers lists the profiles that lie below sleep.dir, those that cannot be read too.
func (s sleepSetup) timers(ctx context.Context) ([]timed, error) {
	names, err := filepath.Glob(filepath.Join(globEscaped(filepath.Join(s.dir, timersDir)), "*"+timerProfile))
	if err != nil {
		return nil, err
	}
	var out []timed
	for _, name := range names {
		id := strings.TrimSuffix(filepath.Base(name), timerProfile)
		if len(id) != len(timerID("", "")) {
			continue // a state, or a file of somebody else
		}
		p, found, err := timer.ReadProfile(ctx, name)
		t := timed{path: name, profile: p}
		if err == nil && found {
			err = json.Unmarshal(p.Flags, &t.flags)
		}
		if err != nil || !found || p.ID != id {
			t.profile, t.broken = &timer.Profile{ID: id}, cmp.Or(err, error(&timer.InputError{What: name, Why: "it is not what `skillopt sleep schedule` has written; write it again, or take it out by `skillopt sleep schedule --off`"}))
		}
		out = append(out, t)
	}
	return out, nil
}

// unschedule takes the entry of an ID out of all schedulers, and deletes its files. It reports the schedulers that had it.
func (s sleepSetup) unschedule(ctx context.Context, id string) (had []timer.Kind, err error) {
	host := s.host()
	for _, kind := range timer.On(host.OS) {
		scheduler, err := timer.Open(kind, host)
		if err != nil {
			return had, err
		}
		there, err := scheduler.Remove(ctx, id)
		var program *timer.ProgramError
		if errors.As(err, &program) && program.Missing {
			continue // where its program is not, it has no entry
		}
		if err != nil {
			return had, err
		}
		if there {
			had = append(had, kind)
		}
	}
	for _, ending := range timerFiles() {
		err = errors.Join(err, removeFile(s.timerFile(id, ending)))
	}
	_ = os.Remove(filepath.Join(s.dir, timersDir)) // it stays where others are in it
	return had, err
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// timersRoom is what is kept of timers, for forgetting.
type timersRoom struct{ setup sleepSetup }

// Entries implements bank.Room.
func (timersRoom) Entries() []string { return []string{timersDir} }

// Forget implements bank.Room. The timer of a project is taken out with it; what others have said of their nights may name
// the project.
func (r timersRoom) Forget(ctx context.Context, s bank.Subject, _ bool, _ time.Time) (bank.Deleted, error) {
	var gone bank.Deleted
	list, err := r.setup.timers(ctx)
	if err != nil {
		return gone, err
	}
	for _, t := range list {
		if s.Project != nil && t.flags.Project != "" && s.Project(t.flags.Project) {
			if _, err := r.setup.unschedule(ctx, t.profile.ID); err != nil {
				return gone, err
			}
			gone.Files++
			continue
		}
		if err := r.silence(ctx, t.profile.ID); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// silence deletes what the nights of a timer have said.
func (r timersRoom) silence(ctx context.Context, id string) error {
	if err := removeFile(r.setup.timerFile(id, timerLog)); err != nil {
		return err
	}
	path := r.setup.timerFile(id, timerState)
	state, err := timer.ReadState(ctx, path)
	if err != nil || state.Failed == "" && state.Skipped == "" {
		return err
	}
	state.Failed, state.Skipped = "", ""
	return state.Write(path)
}

// Reset implements bank.Room: what would start nights goes too.
func (r timersRoom) Reset(ctx context.Context) error {
	list, err := r.setup.timers(ctx)
	for _, t := range list {
		_, err2 := r.setup.unschedule(ctx, t.profile.ID)
		err = errors.Join(err, err2)
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(r.setup.dir, timersDir)))
}

// timerCode returns the exit code of an error of scheduling, exitOK for another one.
func timerCode(err error) int {
	var (
		input   *timer.InputError
		foreign *timer.ForeignError
		program *timer.ProgramError
		busy    *timerLockedError
	)
	switch {
	case errors.As(err, &busy):
		return exitLocked
	case errors.As(err, &input), errors.As(err, &foreign):
		return exitInput
	case errors.As(err, &program):
		return exitEnvironment
	}
	return exitOK
}
