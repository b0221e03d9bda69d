package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

func sleepCommand(a *app) *cobra.Command {
	at := &sleepFlags{}
	c := &cobra.Command{
		Use:   "sleep",
		Short: "Learn overnight from the sessions of your coding agents: what you corrected becomes a proposal",
		Long: `Coding agents write down their sessions. The sleep commands read them, for the projects that
you allow and no others, and keep the turns without secrets: what you said, what the agent
answered last, which tools succeeded, which files were written, which skill was at work,
and what you corrected. The agents' own files are only read.

A night (sleep run) makes tasks of what you corrected, trains the skills and the memory file
that they are about, and stages a proposal that says what it rests on. It sends text of
sessions to the models of the profile, to hosts that you agreed to and to no others; of the
other commands only mine and try do. Into a project nothing is written but by sleep adopt and
rollback, and by nights whose profile has sleep.auto_adopt.

What is read is in the profile, ~/.config/skillopt/sleep.yaml. docs/sleep.md says more.
Alone, skillopt sleep shows the last night on one screen.`,
		Example: `  skillopt sleep demo                      three simulated nights, without a key
  skillopt sleep try                       from this project's sessions to a proposal
  skillopt sleep run                       the next night
  skillopt sleep                           the last night on one screen
  skillopt sleep adopt                     write what it proposes into the documents
  skillopt sleep schedule                  a night each night`,
	}
	group(c)
	c.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.checkColor(); err != nil {
			return err
		}
		if at.project != "" && slices.Contains([]string{"blame", "demo", "doctor", "forget"}, cmd.Name()) {
			return usagef("%s takes no --project; `%s --help` shows examples", cmd.CommandPath(), cmd.CommandPath())
		}
		if a.guard != nil && cmd.Name() != "adopt" {
			return nil // who may only look changes nothing
		}
		return recoverAdoptions(cmd.Context(), a, *at)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return sleepAlone(cmd.Context(), a, *at, cmd.Help)
	}
	c.PersistentFlags().StringVar(&at.profile, "profile", "", "another profile than ~/.config/skillopt/sleep.yaml, or what sleep schedule has written for a timer")
	c.PersistentFlags().StringVar(&at.project, "project", "", "this project alone: its folder")
	c.AddGroup(&cobra.Group{ID: "first", Title: "Commands:"}, &cobra.Group{ID: "more", Title: "More:"})
	add := func(id string, list ...*cobra.Command) {
		for _, sub := range list {
			sub.GroupID = id
		}
		c.AddCommand(list...)
	}
	add("first", sleepInitCommand(a, at), sleepTryCommand(a, at), sleepRunCommand(a, at), sleepStatusCommand(a, at), sleepAdoptCommand(a, at), sleepRollbackCommand(a, at))
	add("more", sleepBlameCommand(a, at), sleepDemoCommand(a), sleepDoctorCommand(a, at), sleepForgetCommand(a, at), sleepHarvestCommand(a, at), sleepMineCommand(a, at),
		sleepReviewCommand(a, at), sleepScheduleCommand(a, at), sleepSessionsCommand(a, at), sleepShowCommand(a, at))
	return c
}

// sleepFlags are the flags of all sleep commands.
type sleepFlags struct {
	profile string
	project string // as it was given; "": all
}

// sleepSetup is what the sleep commands work with.
type sleepSetup struct {
	profile string // its file
	project string // the folder of --project, absolute; "": all that are allowed
	alone   bool   // nights are of project, and of no other
	found   bool   // the file is there
	loaded  *config.Loaded
	dir     string // of the bank
	blind   bool   // no program is asked, such as the scheduler
	timer   *timed // what a timer starts nights with; nil: the profile is the user's own
	places  transcript.Places
	folders config.Folders
	clouds  skillopt.Clouds
}

// sleepSetup reads the profile, which need not be there, with settings of the command line over it.
func (a *app) sleepSetup(at sleepFlags, sets ...string) (s sleepSetup, err error) {
	defer func() {
		if at.project != "" {
			s.project = a.folder(at.project)
		}
	}()
	profile := at.profile
	folders, err := config.UserFolders()
	if err != nil {
		return sleepSetup{}, err
	}
	t, err := timedBy(a, profile)
	if err != nil {
		return sleepSetup{}, err
	}
	if t != nil {
		return timedSetup(a, t, sets...)
	}
	path := folders.SleepProfile()
	if profile != "" {
		path = a.absolute(profile)
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && profile == "" {
		return a.readSleepSetup("", path, sets...)
	}
	return a.readSleepSetup(path, path, sets...)
}

// readSleepSetup reads the profile at path; "": all is as without one, and named is where it
// would be.
func (a *app) readSleepSetup(path, named string, sets ...string) (sleepSetup, error) {
	folders, err := config.UserFolders()
	if err != nil {
		return sleepSetup{}, err
	}
	s := sleepSetup{profile: named, folders: folders, found: path != "", dir: folders.SleepDir(), clouds: a.Clouds}
	s.places = transcript.Places{Home: folders.Home, OS: folders.OS, Env: folders.Lookup, Given: map[string]string{}}
	own := *a
	s.blind = a.guard != nil
	own.guard = nil // the profile is the user's own, and no caller's
	if s.loaded, err = own.loadConfig(path, sets, nil); err != nil {
		return s, err
	}
	sleep := s.loaded.Config.Sleep
	if err := s.check(sleep); err != nil {
		return s, err
	}
	if sleep.Dir != "" {
		s.dir = s.absolute(sleep.Dir)
	}
	for name, path := range sleep.Stores {
		s.places.Given[name] = s.absolute(path)
	}
	return s, nil
}

// check refuses sources that there are not.
func (s sleepSetup) check(c config.Sleep) error {
	names := allSources()
	for name := range c.Stores {
		if !slices.Contains(names, name) {
			return usagef("%s: sleep.stores: there is no source %q; there are %s", s.profile, name, strings.Join(names, ", "))
		}
	}
	if c.Memory != "" && !target.IsMemory(c.Memory) {
		return usagef("%s: sleep.memory: %q is no memory file; allowed: %s, and rules such as .cursor/rules/style.mdc", s.profile, c.Memory, strings.Join(target.MemoryFiles(), ", "))
	}
	for _, name := range c.Sources {
		if !slices.Contains(names, name) {
			return usagef("%s: sleep.sources: there is no source %q; there are %s", s.profile, name, strings.Join(names, ", "))
		}
	}
	return nil
}

func allSources() []string {
	var out []string
	for _, s := range transcript.Sources() {
		out = append(out, s.Name())
	}
	return out
}

// absolute returns a path of the profile as an absolute one: from ~, or relative to the profile.
func (s sleepSetup) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(s.folders.Home, rest)
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(filepath.Dir(s.profile), path)
	}
	return filepath.Clean(path)
}

// projects returns the folders that the user allowed. It fails if there are none, so that nothing is read.
func (s sleepSetup) projects() (harvest.Projects, error) {
	list := s.loaded.Config.Sleep.Projects
	if len(list) == 0 {
		return harvest.Projects{}, usagef("%s allows no project, so nothing is read; `skillopt sleep init` shows the projects and asks, or name folders under sleep.projects", s.profile)
	}
	return harvest.NewProjects(s.allowedFolders()...), nil
}

// projectFilter returns a function that reports whether a folder is of the project that the flags name; without one all are.
func (s sleepSetup) projectFilter() func(dir string) bool {
	if s.project == "" {
		return func(string) bool { return true }
	}
	return harvest.NewProjects(s.project).Allow
}

// command returns a command line that can be pasted: with --profile where another one than the user's is used.
func (s sleepSetup) command(line string) string {
	switch {
	case strings.HasPrefix(line, "skillopt doctor"):
		return line + " " + shellWord(s.profile)
	case s.profile == s.folders.SleepProfile():
		return line
	}
	return line + " --profile " + shellWord(s.profile)
}

// allowedFolders returns the folders under sleep.projects, absolute.
func (s sleepSetup) allowedFolders() []string {
	out := []string{}
	for _, dir := range s.loaded.Config.Sleep.Projects {
		out = append(out, s.absolute(dir))
	}
	return out
}

// checkFolders says which allowed folders are not there.
func (s sleepSetup) checkFolders() []string {
	var out []string
	for _, dir := range s.allowedFolders() {
		switch info, err := os.Stat(dir); {
		case err != nil:
			out = append(out, fmt.Sprintf("%s: sleep.projects: %s: %v; if the project has moved, add the folder where it is now", s.profile, dir, stripPath(err)))
		case !info.IsDir():
			out = append(out, fmt.Sprintf("%s: sleep.projects: %s is not a folder; name the folder of a project", s.profile, dir))
		}
	}
	return out
}

// sources returns the sources that the profile names.
func (s sleepSetup) sources() []transcript.Source {
	chosen := s.loaded.Config.Sleep.Sources
	var out []transcript.Source
	for _, src := range transcript.Sources() {
		if len(chosen) == 0 || slices.Contains(chosen, src.Name()) {
			out = append(out, src)
		}
	}
	return out
}

// workers returns how many stores are read at a time.
func workers() int { return min(4, runtime.GOMAXPROCS(0)) }

// withBank calls f with what is kept of sessions: opened by sleepSetup.look to read it, by sleepSetup.open to
// change it.
func (at sleepFlags) withBank(ctx context.Context, a *app, open func(sleepSetup, context.Context) (*bank.Bank, error), f func(sleepSetup, *bank.Bank) error) (err error) {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	b, err := open(setup, ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return f(setup, b)
}

// look opens the bank for reading. Without one it says what to do.
func (s sleepSetup) look(ctx context.Context) (*bank.Bank, error) {
	b, err := bank.Look(ctx, s.dir)
	if errors.Is(err, bank.ErrNone) {
		return nil, usagef("nothing is kept in %s yet; `skillopt sleep harvest` reads sessions", s.dir)
	}
	return b, err
}

// open opens the bank for writing, if there is one.
func (s sleepSetup) open(ctx context.Context) (*bank.Bank, error) {
	if _, err := os.Lstat(filepath.Join(s.dir, bank.File)); errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("nothing is kept in %s yet; `skillopt sleep harvest` reads sessions", s.dir)
	}
	return bank.Open(ctx, s.dir)
}
