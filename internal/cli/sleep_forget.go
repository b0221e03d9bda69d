package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepForgetOptions are the flags of sleep forget.
type sleepForgetOptions struct{ yes, backups, all bool }

func sleepForgetCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepForgetOptions
	c := &cobra.Command{
		Use:   "forget PROJECT|SESSION | forget --all",
		Short: "Delete for good what is kept of a project or of a session, or all of it",
		Long: `Delete what is kept of a project, with all below its folder, or of one session, named by its
id or how it begins. What is deleted is overwritten; a search of the folder of what is kept
finds nothing of it. A digest of the name stays, by which a later harvest does not take the
same sessions again; sessions of a project that end later are, as long as it is under
sleep.projects. Turns that forks and resumed sessions have copied go with the session.

A timer of the project's own is taken out too. The agents' own files stay as they are. On a
terminal it asks first.

--all deletes everything that sleep keeps: sessions, what is known of stores, what was forgotten,
consent, timers. It need not be readable. The profile stays. The next harvest reads all again,
also what was forgotten.`,
		Example: `  skillopt sleep forget ~/src/shop
  skillopt sleep forget 01a2024d-26b4 --yes
  skillopt sleep forget --all`,
		Args: atMost(1, "the folder of a project, or the id of a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.all == (len(args) == 1):
				return usagef("forget takes the folder of a project or the id of a session, or --all; `skillopt sleep status` lists the projects")
			case o.all:
				return o.deleteAll(cmd.Context(), a, *at)
			}
			return o.run(cmd.Context(), a, *at, args[0])
		},
	}
	c.Flags().BoolVar(&o.all, "all", false, "all that sleep keeps, consent too")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&o.backups, "backups", false, "delete the backups of adopted files too")
	return c
}

// subject is what is to be forgotten, with the words for it.
type subject struct {
	bank.Subject

	name     string
	sessions int
}

func (o *sleepForgetOptions) run(ctx context.Context, a *app, at sleepFlags, name string) (err error) {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	s, err := findSubject(a, ctx, setup, name)
	if err != nil {
		return err
	}
	if err := a.sure(o.yes, "deletes for good", fmt.Sprintf("forget %s (%s)? [y/N] ", oneLine(s.name), wording.Plural(s.sessions, "session", "sessions")), "nothing was forgotten"); err != nil {
		return err
	}
	b, err := bank.Open(ctx, setup.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	rooms := setup.rooms(b)
	gone, err := bank.ForgetAll(ctx, rooms, s.Subject, o.backups, time.Now())
	if err != nil {
		return err
	}
	strange, err := bank.Strange(setup.dir, rooms)
	if err != nil {
		return err
	}
	return tellForgotten(a, setup, s, gone, strange)
}

// rooms returns all rooms that keep something below the folder of sleep. The room of nights asks the bank whose they
// are, so it goes before the bank.
func (s sleepSetup) rooms(b *bank.Bank) []bank.Room {
	return []bank.Room{timersRoom{s}, adoptionsRoom{s}, night.Room{Bank: b, Dir: s.dir}, bank.Own{B: b}}
}

// sure asks before something that cannot be taken back, or is not ours, is done; without a terminal no one can be asked.
func (a *app) sure(yes bool, what, question, declined string) error {
	switch {
	case yes:
		return nil
	case !a.Terminal:
		return usagef("this %s, and there is no terminal to ask on: give --yes", what)
	}
	return a.agree(question, declined)
}

// findSubject finds what the user named: a folder, or a session by its id or how it begins.
func findSubject(a *app, ctx context.Context, setup sleepSetup, name string) (s subject, err error) {
	if strings.TrimSpace(name) == "" {
		return s, usagef("forget takes the folder of a project, or the id of a session; `skillopt sleep status` lists the projects")
	}
	b, err := setup.look(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if !strings.ContainsAny(name, `/\~`) && name != "." && name != ".." {
		found, err := b.Names(ctx, name)
		if err != nil {
			return s, err
		}
		if i := slices.IndexFunc(found, func(n bank.Name) bool { return n.Session == name }); i >= 0 {
			found = slices.DeleteFunc(found, func(n bank.Name) bool { return n.Session != name })
		}
		switch sessions := distinct(found); {
		case len(sessions) == 1:
			return subject{Subject: bank.Subject{Source: found[0].Source, Session: found[0].Session}, name: sessions[0], sessions: 1}, nil
		case len(sessions) > 1:
			return s, usagef("%d sessions begin with %s: %s; give more of the id", len(sessions), name, strings.Join(sessions, ", "))
		}
	}
	return newProjectSubject(a, ctx, setup, b, name)
}

func distinct(list []bank.Name) []string {
	var out []string
	for _, n := range list {
		if name := n.Source + " session " + n.Session; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// newProjectSubject returns a folder as a subject. One that no one knows is refused: it is probably misspelt.
func newProjectSubject(a *app, ctx context.Context, setup sleepSetup, b *bank.Bank, name string) (s subject, err error) {
	dir := a.folder(name)
	projects := harvest.NewProjects(dir)
	s = subject{Subject: bank.Subject{Folders: projects.Folders(), Project: projects.Allow}, name: "project " + dir}
	parts, err := b.Parts(ctx)
	if err != nil {
		return s, err
	}
	for _, p := range parts {
		if projects.Allow(p.Project) {
			s.sessions += p.Sessions
		}
	}
	allowed := slices.ContainsFunc(setup.allowedFolders(), func(d string) bool { return projects.Allow(d) })
	if _, err := os.Stat(dir); s.sessions == 0 && err != nil && !allowed {
		return s, usagef("nothing is kept of a project or session %s; `skillopt sleep status` lists the projects, `skillopt sleep sessions` the sessions", name)
	}
	return s, nil
}

// tellForgotten says what went, and what stays and where.
func tellForgotten(a *app, setup sleepSetup, s subject, gone bank.Deleted, strange []string) error {
	listed := []string{}
	if s.Project != nil {
		for _, dir := range setup.allowedFolders() {
			if s.Project(dir) {
				listed = append(listed, dir)
			}
		}
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"forgotten": s.name, "sessions": gone.Sessions, "backups": nonNil(gone.Backups), "still_allowed": listed, "not_looked_at": nonNil(strange)})
	}
	out, errs := a.stdoutPrinter(), a.printer(a.Err)
	out.line(fmt.Sprintf("forgot %s: %s", oneLine(s.name), wording.Plural(gone.Sessions, "session", "sessions")))
	for _, path := range gone.Backups {
		out.line("backup of an adopted file: " + oneLine(path))
	}
	for _, dir := range listed {
		errs.line(fmt.Sprintf("note: %s is under sleep.projects in %s: what its agents write from now on is read; take it out there too if it is not to be", oneLine(dir), oneLine(setup.profile)))
	}
	for _, name := range strange {
		errs.line("warning: " + oneLine(filepath.Join(setup.dir, name)) + " is none of sleep's files and was not looked at")
	}
	return nil
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// deleteAll deletes all that is kept, whatever can be read of it.
func (o *sleepForgetOptions) deleteAll(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	if err := a.sure(o.yes, "deletes for good", "delete all that is kept in "+oneLine(setup.dir)+"? [y/N] ", "nothing was deleted"); err != nil {
		return err
	}
	rooms := setup.rooms(nil)
	strange, err := bank.Strange(setup.dir, rooms)
	if err != nil {
		return err
	}
	if err := bank.ResetAll(ctx, setup.dir, rooms); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"dir": setup.dir, "not_looked_at": nonNil(strange)})
	}
	a.stdoutPrinter().line("nothing is kept in " + oneLine(setup.dir) + " any more; the profile and the agents' own files are as they were")
	for _, name := range strange {
		a.printer(a.Err).line("warning: " + oneLine(filepath.Join(setup.dir, name)) + " is none of sleep's files and stays")
	}
	return nil
}
