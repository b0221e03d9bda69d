package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/timer"
)

// sleepScheduleOptions are the flags of sleep schedule.
type sleepScheduleOptions struct {
	flags nightFlags
	at    string
	kind  string
	keys  []string
	print bool
	list  bool
	off   bool
}

func sleepScheduleCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepScheduleOptions
	c := &cobra.Command{
		Use:   "schedule",
		Short: "Have the system carry out a night each night",
		Long: `Have the system start skillopt sleep run once a day: by a timer of the systemd user manager,
launchd, cron or the Task Scheduler, whichever is at work, or that of --kind. There is one
entry a project (--project), or one for all allowed projects; done again it is replaced.

What nights are started with goes into a file in sleep.dir that holds no secrets: the
profile, all flags, and the folders and the PATH of this shell. A night by hand is the
same: skillopt sleep run --profile FILE. Keys are not in it: one that is in a variable
of this shell alone is named, with what helps. They come from the file .env next to the
profile, mode 0600, or from the system's key store by its own command (--key).

A night that was missed, since the machine slept, is made up for once. On battery it is
skipped (sleep.on_battery). It ends at limits.time.

--off takes the timers of this sleep.dir out of their schedulers, or that of --project alone, and
deletes what was written for them: files, links, lines of the crontab, what nights were started
with, their logs. A night that is at work continues.`,
		Example: `  skillopt sleep schedule
  skillopt sleep schedule --at 03:17 --project ~/src/shop --set limits.time=2h
  skillopt sleep schedule --key 'OPENAI_API_KEY=secret-tool lookup service openai'
  skillopt sleep schedule --print --kind cron       what would be written
  skillopt sleep schedule --list                    what there is, and when it ran
  skillopt sleep schedule --off                     take it back`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.list && o.off:
				return usagef("--list and --off exclude each other")
			case o.off:
				return unschedule(cmd.Context(), a, *at)
			case o.list:
				return listTimers(cmd.Context(), a, *at)
			}
			return o.run(cmd.Context(), a, *at)
		},
	}
	c.Flags().StringVar(&o.at, "at", "03:17", "when, by the clock of this machine")
	c.Flags().StringVar(&o.kind, "kind", "auto", "auto, systemd, launchd, cron or taskscheduler")
	c.Flags().BoolVar(&o.print, "print", false, "print what would be written, and write nothing")
	c.Flags().BoolVar(&o.list, "list", false, "list the timers, when each last ran, and the result")
	c.Flags().BoolVar(&o.off, "off", false, "take all timers out, or that of --project, with all that was written for them")
	c.Flags().StringArrayVar(&o.keys, "key", nil, "NAME=COMMAND: a command that prints the key for a variable, such as one of the system's key store (may be given more than once)")
	c.Flags().BoolVar(&o.flags.Explore, "explore", false, "as sleep run --explore")
	c.Flags().BoolVar(&o.flags.NoHarvest, "no-harvest", false, "as sleep run --no-harvest")
	addSet(c, &o.flags.Set)
	return c
}

// scheduled is what sleep schedule has written, or would.
type scheduled struct {
	ID      string         `json:"id"`
	Kind    timer.Kind     `json:"kind"`
	At      timer.At       `json:"at"`
	Next    time.Time      `json:"next"`
	Profile string         `json:"profile"`
	Written bool           `json:"written"`
	Files   []timer.File   `json:"files"`
	Holds   *timer.Profile `json:"holds"`
}

func (o *sleepScheduleOptions) run(ctx context.Context, a *app, at sleepFlags) error {
	if err := o.ask(ctx); err != nil {
		return err
	}
	setup, err := a.sleepSetup(at, o.flags.Set...)
	if err != nil {
		return err
	}
	if setup.timer != nil {
		return usagef("%s is what a timer starts nights with; give --profile the user's own: %s", setup.timer.path, setup.profile)
	}
	when, err := timer.ParseAt(o.at)
	if err != nil {
		return usagef("--at %v", err)
	}
	kind, err := o.chooseKind(ctx, setup)
	if err != nil {
		return err
	}
	p, err := o.profile(ctx, a, setup, when, kind)
	if err != nil {
		return err
	}
	path := setup.timerFile(p.ID, timerProfile)
	entry := timer.Entry{
		ID: p.ID, At: when, Program: p.Program, Args: []string{"sleep", "run", "--profile", path, "--scheduled"},
		Profile: path, Log: setup.timerFile(p.ID, timerLog),
	}
	out := scheduled{ID: p.ID, Kind: kind, At: when, Next: when.Next(time.Now()), Profile: path, Holds: p}
	if out.Files, err = timer.Text(kind, entry, setup.host().Folders); err != nil {
		return err
	}
	if !o.print {
		if err := o.install(ctx, setup, p, entry); err != nil {
			return err
		}
		out.Written = true
	}
	return printScheduled(a, setup, out)
}

// ask tries the commands of --key, whatever this shell has: what they print is what nights will have.
func (o *sleepScheduleOptions) ask(ctx context.Context) (err error) {
	if o.flags.Keys, err = keyCommands(o.keys); err != nil || o.flags.Keys == nil {
		return err
	}
	folders, err := config.UserFolders()
	if err != nil {
		return err
	}
	nothing := func(string) (string, bool) { return "", false }
	return askedKeys(ctx, newTimerHost(folders), o.flags.Keys, nothing, config.SetEnvironment)
}

// chooseKind returns the scheduler of --kind, or one that is at work.
func (o *sleepScheduleOptions) chooseKind(ctx context.Context, s sleepSetup) (timer.Kind, error) {
	if o.kind == "auto" {
		return timer.Choose(ctx, s.host())
	}
	kind := timer.Kind(o.kind)
	if !slices.Contains(timer.Kinds(), kind) {
		return "", usagef("--kind %s: allowed: auto, systemd, launchd, cron, taskscheduler", o.kind)
	}
	if !o.print && !slices.Contains(timer.On(runtime.GOOS), kind) {
		return "", usagef("--kind %s: this system (%s) has none; with --print it is shown all the same", o.kind, runtime.GOOS)
	}
	return kind, nil
}

// profile returns the profile that nights are started with. It fails if they could not be carried out.
func (o *sleepScheduleOptions) profile(ctx context.Context, a *app, s sleepSetup, at timer.At, kind timer.Kind) (*timer.Profile, error) {
	allowed, err := s.projects()
	if err != nil {
		return nil, err
	}
	o.flags.Project = s.project
	if err := s.checkProject(allowed); err != nil {
		return nil, err
	}
	for _, set := range o.flags.Set {
		if s.loaded.Redactor().Text(set) != set {
			key, _, _ := strings.Cut(set, "=")
			return nil, usagef("--set %s: its value looks like a secret, and the file of a timer holds none; write it into the profile as ${NAME}, and NAME=... into %s", key, filepath.Join(filepath.Dir(s.profile), ".env"))
		}
	}
	list, err := s.ready()
	if err != nil {
		return nil, err
	}
	missing, err := findMissingConsents(ctx, s.dir, remote(list))
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, usagef("there is no consent that text of sessions and files of the projects go to %s as %s; run `skillopt sleep init` on a terminal first", oneLine(missing[0].Host), missing[0].Role)
	}
	p := &timer.Profile{Format: timer.Format, ID: timerID(s.dir, o.flags.Project), Kind: kind, At: at, Written: time.Now().UTC().Truncate(time.Second), Profile: s.profile, Folder: filepath.Dir(s.profile)}
	if len(o.flags.Set) > 0 {
		p.Folder = a.Dir
	}
	if p.Program, err = ownProgram(); err != nil {
		return nil, err
	}
	o.flags.Set = nonNil(o.flags.Set)
	if p.Flags, err = json.Marshal(o.flags); err != nil {
		return nil, fmt.Errorf("write the flags of a timer: %w", err)
	}
	if p.Env, err = surroundings(ctx, a, s, o.flags.Set); err != nil {
		return nil, err
	}
	before, _, err := timer.ReadProfile(ctx, s.timerFile(p.ID, timerProfile))
	if err == nil && before != nil && sameTimer(before, p) {
		p.Written = before.Written // done twice, it is the same bytes
	}
	return p, checkKeys(ctx, a, s, p, o.flags)
}

// sameTimer reports whether two profiles differ by when they were written alone.
func sameTimer(a, b *timer.Profile) bool {
	x, y := *a, *b
	x.Written, y.Written = time.Time{}, time.Time{}
	var flags nightFlags
	if json.Unmarshal(x.Flags, &flags) != nil {
		return false
	}
	data, err := json.Marshal(flags)
	equal := err == nil && string(data) == string(y.Flags) && maps.Equal(x.Env, y.Env)
	x.Flags, y.Flags, x.Env, y.Env = nil, nil, nil, nil
	one, err1 := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return equal && err1 == nil && err2 == nil && string(one) == string(two)
}

// install writes the profile and the entry; after an error all is as before.
func (o *sleepScheduleOptions) install(ctx context.Context, s sleepSetup, p *timer.Profile, e timer.Entry) (err error) {
	if err := os.MkdirAll(filepath.Join(s.dir, timersDir), 0o700); err != nil {
		return fmt.Errorf("make the folder of timers: %w", err)
	}
	lock := flock.New(filepath.Join(s.dir, timersDir, "lock"), flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return errors.Join(err, &timerLockedError{"another process writes timers at this moment; try again"})
	}
	defer func() { err = errors.Join(err, lock.Unlock(), removeFile(lock.Path())) }()
	before, readErr := os.ReadFile(e.Profile)
	if err := p.Write(e.Profile); err != nil {
		return err
	}
	scheduler, err := timer.Open(p.Kind, s.host())
	if err == nil {
		err = scheduler.Install(ctx, e)
	}
	if err == nil {
		return o.others(ctx, s, p)
	}
	if readErr != nil {
		err = errors.Join(err, removeFile(e.Profile))
		_ = os.Remove(filepath.Dir(e.Profile)) // it stays where others are in it
		return err
	}
	return errors.Join(err, os.WriteFile(e.Profile, before, 0o600))
}

// others takes the entry out of the schedulers that had it before: there is one a project.
func (o *sleepScheduleOptions) others(ctx context.Context, s sleepSetup, p *timer.Profile) error {
	host := s.host()
	for _, kind := range timer.On(host.OS) {
		if kind == p.Kind {
			continue
		}
		scheduler, err := timer.Open(kind, host)
		if err != nil {
			return err
		}
		_, err = scheduler.Remove(ctx, p.ID)
		var program *timer.ProgramError
		if err != nil && !errors.As(err, &program) {
			return fmt.Errorf("the entry is written, and an older one may be left in %s: %w", kind, err)
		}
	}
	return nil
}

func printScheduled(a *app, s sleepSetup, out scheduled) error {
	if a.json {
		return printJSON(a.Out, shareable(out))
	}
	to, errs := a.stdoutPrinter(), a.printer(a.Err)
	if !out.Written {
		for _, f := range out.Files {
			where := f.Path
			if where == "" {
				where = map[timer.Kind]string{timer.Cron: "crontab", timer.Tasks: "task skillopt-sleep-" + out.ID}[out.Kind]
			}
			to.line("==> " + oneLine(where))
			fmt.Fprint(to, f.Text)
		}
		data, err := json.MarshalIndent(out.Holds, "", "  ")
		if err != nil {
			return fmt.Errorf("print the profile of a timer: %w", err)
		}
		to.line("==> " + oneLine(out.Profile))
		to.line(string(data))
		errs.line("nothing was written")
		return nil
	}
	to.line(fmt.Sprintf("a night each day at %s by %s, next %s", out.At, out.Kind, out.Next.Format("2006-01-02 15:04")))
	to.line("it is started with " + oneLine(out.Profile))
	switch out.Kind {
	case timer.Systemd:
		errs.line("note: systemd starts it while you are logged in; `loginctl enable-linger` has it do so always")
	case timer.Cron:
		errs.line("note: cron asks once an hour whether a night is due, so that one that was missed is made up for")
		if !timer.CronSeems(runtime.GOOS, os.DirFS("/proc")) {
			errs.line("warning: no cron seems to be at work on this machine: nothing starts the night until one is")
		}
	}
	errs.line("next: " + s.command("skillopt sleep schedule --list"))
	errs.line("  " + s.command("skillopt sleep schedule --off") + " takes it back")
	return nil
}

// timerShown is a timer as it is shown.
type timerShown struct {
	ID      string      `json:"id"`
	Kind    timer.Kind  `json:"kind"`
	Found   bool        `json:"found"` // its scheduler has it
	At      timer.At    `json:"at"`
	Next    time.Time   `json:"next"`
	Project string      `json:"project"` // "": all that are allowed
	Profile string      `json:"profile"`
	State   timer.State `json:"state"`
	Trouble string      `json:"trouble"` // why it would not start, "" if nothing is known
}

func listTimers(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	list, err := setup.timers(ctx)
	if err != nil {
		return err
	}
	out := []timerShown{}
	for _, t := range list {
		p := t.profile
		if t.broken != nil {
			out = append(out, timerShown{ID: p.ID, Profile: t.path, Trouble: t.broken.Error()})
			continue
		}
		l := timerShown{ID: p.ID, Kind: p.Kind, At: p.At, Next: p.At.Next(time.Now()), Project: t.flags.Project, Profile: t.path}
		if l.State, err = timer.ReadState(ctx, setup.timerFile(p.ID, timerState)); err != nil {
			return err
		}
		l.Found, l.Trouble = setup.wouldStart(ctx, p)
		out = append(out, l)
	}
	if a.json {
		return printJSON(a.Out, shareable(out))
	}
	if len(out) == 0 {
		a.printer(a.Err).line("there is no timer; `skillopt sleep schedule` sets one")
	}
	for _, l := range out {
		printTimer(a.stdoutPrinter(), l)
	}
	return nil
}

// wouldStart reports whether a scheduler has the entry of a profile, and what is wrong.
func (s sleepSetup) wouldStart(ctx context.Context, p *timer.Profile) (bool, string) {
	scheduler, err := timer.Open(p.Kind, s.host())
	var found []timer.Found
	if err == nil {
		found, err = scheduler.List(ctx)
	}
	there := slices.ContainsFunc(found, func(f timer.Found) bool { return f.ID == p.ID })
	_, gone := os.Stat(p.Program)
	switch {
	case err != nil:
		return false, err.Error()
	case !there:
		return false, fmt.Sprintf("%s does not have it any more; `skillopt sleep schedule` writes it again", p.Kind)
	case gone != nil:
		return true, fmt.Sprintf("%s: %v; `skillopt sleep schedule` writes where the program is now", p.Program, stripPath(gone))
	}
	return true, ""
}

func printTimer(out printer, l timerShown) {
	if l.Kind == "" {
		out.line(l.ID + "  " + oneLine(l.Trouble))
		return
	}
	of := l.Project
	if of == "" {
		of = "all allowed projects"
	}
	out.line(fmt.Sprintf("%s  %s by %s, next %s: %s", l.ID, l.At, l.Kind, l.Next.Format("2006-01-02 15:04"), oneLine(of)))
	out.line("  started with " + oneLine(l.Profile))
	s := l.State
	switch {
	case s.Started.IsZero():
		out.line("  it has not started a night yet")
	case s.Ended.IsZero():
		out.line("  started " + s.Started.Local().Format("2006-01-02 15:04") + ", and has not ended, or was killed")
	default:
		out.line("  started " + s.Started.Local().Format("2006-01-02 15:04") + ", ended " + s.Ended.Local().Format("2006-01-02 15:04"))
	}
	for _, text := range []struct{ what, text string }{{"failed", s.Failed}, {"skipped", s.Skipped}, {"trouble", l.Trouble}} {
		if text.text != "" {
			out.line("  " + text.what + ": " + oneLine(text.text))
		}
	}
}

// unschedule takes the timer of --project out, or all of this sleep.dir and those whose profile is gone.
func unschedule(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	ids := []string{timerID(setup.dir, setup.project)}
	if setup.project == "" && setup.timer == nil {
		if ids, err = setup.ownTimers(ctx); err != nil {
			return err
		}
	}
	gone := map[string][]timer.Kind{}
	for _, id := range ids {
		_, none := os.Lstat(setup.timerFile(id, timerProfile))
		kinds, err := setup.unschedule(ctx, id)
		if err != nil {
			return err
		}
		if len(kinds) > 0 || none == nil {
			gone[id] = append([]timer.Kind{}, kinds...)
		}
	}
	return printUnscheduled(a, gone)
}

// ownTimers returns the IDs of all profiles of timers below sleep.dir, and of the user's entries whose profile is not there any more.
func (s sleepSetup) ownTimers(ctx context.Context) ([]string, error) {
	list, err := s.timers(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, t := range list {
		ids = append(ids, t.profile.ID)
	}
	host := s.host()
	for _, kind := range timer.On(host.OS) {
		scheduler, err := timer.Open(kind, host)
		if err != nil {
			return nil, err
		}
		found, err := scheduler.List(ctx)
		var program *timer.ProgramError
		if errors.As(err, &program) && program.Missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if _, err := os.Lstat(f.Profile); err != nil && !slices.Contains(ids, f.ID) {
				ids = append(ids, f.ID)
			}
		}
	}
	return ids, nil
}

func printUnscheduled(a *app, gone map[string][]timer.Kind) error {
	if a.json {
		return printJSON(a.Out, map[string]any{"gone": gone})
	}
	if len(gone) == 0 {
		a.printer(a.Err).line("there was no timer of it; `skillopt sleep schedule --list` lists them")
		return nil
	}
	var ids []string
	for id := range gone {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		by := "no scheduler had it any more"
		if kinds := gone[id]; len(kinds) > 0 {
			by = strings.Trim(fmt.Sprint(kinds), "[]")
		}
		a.stdoutPrinter().line(fmt.Sprintf("the timer %s is gone (%s), with all that was written for it", id, by))
	}
	return nil
}
