package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
	var profile string
	c := &cobra.Command{
		Use:   "sleep",
		Short: "Learn overnight from the sessions of your coding agents: what you corrected becomes a proposal",
		Long: `Coding agents write down their sessions. The sleep commands read them, for the projects that
you allow and no others, and keep the turns without secrets: what you said, what the agent
answered last, which tools succeeded, which files were written, which skill was at work,
and what you corrected. The agents' own files are only read.

A night (sleep run) makes tasks of what you corrected, trains the skills and the memory file
that they are about, and stages a proposal that says what it rests on. It sends text of
sessions to the models of the profile, to hosts that you agreed to and to no others; all
other commands send nothing. Into a project nothing is written but by sleep adopt and rollback, and
by nights whose profile has sleep.auto_adopt.

What is read stands in the profile, ~/.config/skillopt/sleep.yaml. docs/sleep.md says more.
Alone, skillopt sleep shows the last night on one screen.`,
		Example: `  skillopt sleep doctor                    which agents' sessions are there
  skillopt sleep init                      choose the projects
  skillopt sleep harvest                   read what is new
  skillopt sleep sessions --corrected      where did I correct them
  skillopt sleep session 01a2024d          one session, turn by turn
  skillopt sleep run                       a night: from sessions to a proposal
  skillopt sleep                           the last night on one screen
  skillopt sleep diff                      what it would change
  skillopt sleep adopt                     write it into the documents
  skillopt sleep status                    the week, what waits, how fares what was adopted
  skillopt sleep rollback                  take it back
  skillopt sleep schedule                  a night each night`,
	}
	group(c)
	c.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.checkColor(); err != nil {
			return err
		}
		return recoverAdoptions(cmd.Context(), a, profile)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return sleepAlone(cmd.Context(), a, profile, cmd.Help)
	}
	c.PersistentFlags().StringVar(&profile, "profile", "", "another profile than ~/.config/skillopt/sleep.yaml, or what sleep schedule has written for a timer")
	c.AddCommand(sleepInitCommand(a, &profile), sleepHarvestCommand(a, &profile), sleepStatusCommand(a, &profile), sleepReportCommand(a, &profile), sleepSessionsCommand(a, &profile), sleepSessionCommand(a, &profile),
		sleepDoctorCommand(a, &profile), sleepConsentCommand(a, &profile), sleepForgetCommand(a, &profile), sleepResetCommand(a, &profile),
		sleepRunCommand(a, &profile), sleepMineCommand(a, &profile), sleepReviewCommand(a, &profile), sleepExplainCommand(a, &profile), sleepShowCommand(a, &profile), sleepDiffCommand(a, &profile), sleepDiscardCommand(a, &profile),
		sleepScheduleCommand(a, &profile), sleepUnscheduleCommand(a, &profile),
		sleepAdoptCommand(a, &profile), sleepRollbackCommand(a, &profile), sleepHistoryCommand(a, &profile), sleepBlameCommand(a, &profile))
	return c
}

// sleepSetup is what the sleep commands work with.
type sleepSetup struct {
	profile string // its file
	found   bool   // the file is there
	loaded  *config.Loaded
	dir     string // of the bank
	timer   *timed // what a timer starts nights with; nil: the profile is the user's own
	places  transcript.Places
	folders config.Folders
	clouds  skillopt.Clouds
}

// sleepSetup reads the profile, which need not be there, with settings of the command line over it.
func (a *app) sleepSetup(profile string, sets ...string) (sleepSetup, error) {
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
		return a.sleepSetupOf("", path, sets...)
	}
	return a.sleepSetupOf(path, path, sets...)
}

// sleepSetupOf reads the profile at path; "": all is as without one, and named is where it
// would be.
func (a *app) sleepSetupOf(path, named string, sets ...string) (sleepSetup, error) {
	folders, err := config.UserFolders()
	if err != nil {
		return sleepSetup{}, err
	}
	s := sleepSetup{profile: named, folders: folders, found: path != "", dir: folders.SleepDir(), clouds: a.Clouds}
	s.places = transcript.Places{Home: folders.Home, OS: folders.OS, Env: folders.Lookup, Given: map[string]string{}}
	if s.loaded, err = a.loadConfig(path, sets, nil); err != nil {
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
	names := sourceNames()
	for name := range c.Stores {
		if !names[name] {
			return usagef("%s: sleep.stores: there is no source %q; there are %s", s.profile, name, strings.Join(allSources(), ", "))
		}
	}
	if c.Memory != "" && !target.IsMemory(c.Memory) {
		return usagef("%s: sleep.memory: %q is no memory file; allowed: %s, and rules such as .cursor/rules/style.mdc", s.profile, c.Memory, strings.Join(target.MemoryFiles(), ", "))
	}
	for _, name := range c.Sources {
		if !names[name] {
			return usagef("%s: sleep.sources: there is no source %q; there are %s", s.profile, name, strings.Join(allSources(), ", "))
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

func sourceNames() map[string]bool {
	out := map[string]bool{}
	for _, name := range allSources() {
		out[name] = true
	}
	return out
}

// absolute is a path of the profile: from ~, or relative to the profile.
func (s sleepSetup) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(s.folders.Home, rest)
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(filepath.Dir(s.profile), path)
	}
	return filepath.Clean(path)
}

// projects are the folders that the user allowed. Without any nothing is read.
func (s sleepSetup) projects() (harvest.Projects, error) {
	list := s.loaded.Config.Sleep.Projects
	if len(list) == 0 {
		return harvest.Projects{}, usagef("%s allows no project, so nothing is read; `skillopt sleep init` shows the projects and asks, or name folders under sleep.projects", s.profile)
	}
	return harvest.NewProjects(s.allowed()...), nil
}

// allowed are the folders under sleep.projects, absolute.
func (s sleepSetup) allowed() []string {
	out := []string{}
	for _, dir := range s.loaded.Config.Sleep.Projects {
		out = append(out, s.absolute(dir))
	}
	return out
}

// moved says which allowed folders are not there.
func (s sleepSetup) moved() []string {
	var out []string
	for _, dir := range s.allowed() {
		switch info, err := os.Stat(dir); {
		case err != nil:
			out = append(out, fmt.Sprintf("%s: sleep.projects: %s: %v; if the project has moved, put the folder where it is now beside it", s.profile, dir, reasonOf(err)))
		case !info.IsDir():
			out = append(out, fmt.Sprintf("%s: sleep.projects: %s is not a folder; name the folder of a project", s.profile, dir))
		}
	}
	return out
}

// sources are those that the profile names.
func (s sleepSetup) sources() []transcript.Source {
	chosen := map[string]bool{}
	for _, name := range s.loaded.Config.Sleep.Sources {
		chosen[name] = true
	}
	var out []transcript.Source
	for _, src := range transcript.Sources() {
		if len(chosen) == 0 || chosen[src.Name()] {
			out = append(out, src)
		}
	}
	return out
}

// workers is how many stores are read at a time.
func workers() int { return min(4, runtime.GOMAXPROCS(0)) }

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
