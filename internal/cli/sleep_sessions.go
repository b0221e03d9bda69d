package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepSessionsOptions are the flags of sleep sessions.
type sleepSessionsOptions struct {
	skill, since string
	corrected    bool
}

func sleepSessionsCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepSessionsOptions
	c := &cobra.Command{
		Use:   "sessions [ID]",
		Short: "List the sessions that are kept, the newest first, or show one turn by turn",
		Long: `List the sessions that are kept, the newest first. With the id of one, or how it begins, show
that one: turns, tools, corrections, skill, what was redacted.`,
		Example: `  skillopt sleep sessions
  skillopt sleep sessions --corrected --since 7d
  skillopt sleep sessions --skill house-rules --project ~/src/shop
  skillopt sleep sessions 01a2024d`,
		Args: atMost(1, "at most the id of one session, or how it begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showSession(cmd.Context(), a, *at, args[0])
			}
			return o.run(cmd.Context(), a, *at)
		},
	}
	c.Flags().StringVar(&o.skill, "skill", "", "with this skill at work")
	c.Flags().StringVar(&o.since, "since", "", "that ended since a date (2026-01-31), a time (RFC 3339), or so long ago (72h, 7d)")
	c.Flags().BoolVar(&o.corrected, "corrected", false, "in which you corrected the agent")
	return c
}

// listedSession is a session in a list.
type listedSession struct {
	ID          string            `json:"session"`
	Source      string            `json:"source"`
	Project     string            `json:"project"`
	Started     time.Time         `json:"started"`
	Ended       time.Time         `json:"ended"`
	Turns       int               `json:"turns"`
	Skills      []string          `json:"skills"`
	Corrections []correction.Mark `json:"corrections"`
	Failed      int               `json:"failed"` // turns
	First       string            `json:"first"`  // the beginning of what was said first
}

func newListedSession(s bank.Session) listedSession {
	l := listedSession{ID: s.ID, Source: s.Source, Project: s.Project, Started: s.Started, Ended: s.Ended, Turns: len(s.Turns), Skills: []string{}, Corrections: correction.Marks(s.Turns), First: firstWords(s.Turns[0].User)}
	if l.Corrections == nil {
		l.Corrections = []correction.Mark{}
	}
	for i := range s.Turns {
		if skill := s.Turns[i].Skill; skill != "" && !slices.Contains(l.Skills, skill) {
			l.Skills = append(l.Skills, skill)
		}
		if s.Turns[i].Failed != "" {
			l.Failed++
		}
	}
	return l
}

func firstWords(text string) string {
	text = oneLine(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}

func (o *sleepSessionsOptions) run(ctx context.Context, a *app, at sleepFlags) (err error) {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	f := bank.Filter{Project: setup.projectFilter()}
	if f.Since, err = parseSince(o.since, time.Now()); err != nil {
		return err
	}
	b, err := setup.look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	list := []listedSession{}
	err = b.Sessions(ctx, f, func(s bank.Session) error {
		if l := newListedSession(s); o.takes(l) {
			list = append(list, l)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, list)
	}
	return printSessions(a, list)
}

func (o *sleepSessionsOptions) takes(l listedSession) bool {
	return (o.skill == "" || slices.Contains(l.Skills, o.skill)) &&
		(!o.corrected || len(l.Corrections) > 0)
}

func printSessions(a *app, list []listedSession) error {
	if len(list) == 0 {
		a.printer(a.Err).line("no such sessions are kept")
		return nil
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ENDED\tSESSION\tAGENT\tPROJECT\tTURNS\tCORRECTED\tSKILL\tFIRST WORDS")
	for _, l := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", l.Ended.Local().Format("2006-01-02 15:04"), oneLine(shortID(l.ID)), l.Source, oneLine(filepath.Base(l.Project)),
			l.Turns, dash(len(l.Corrections)), oneLine(strings.Join(l.Skills, ",")), l.First)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return nil
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// shortID returns as much of an id as suffices to name a session.
func shortID(id string) string {
	if len(id) > 13 {
		return id[:13]
	}
	return id
}

// shownSession is a session with what is seen in it.
type shownSession struct {
	bank.Session

	Corrections []correction.Mark `json:"corrections"`
}

func showSession(ctx context.Context, a *app, at sleepFlags, id string) error {
	return at.withBank(ctx, a, sleepSetup.look, func(_ sleepSetup, b *bank.Bank) error {
		s, err := oneSession(ctx, b, id)
		if err != nil {
			return err
		}
		shown := shownSession{Session: s, Corrections: correction.Marks(s.Turns)}
		if shown.Corrections == nil {
			shown.Corrections = []correction.Mark{}
		}
		if a.json {
			return printJSON(a.Out, shown)
		}
		printSession(a.stdoutPrinter(), shown)
		return nil
	})
}

// oneSession finds the session of an id, or of the only id that begins so.
func oneSession(ctx context.Context, b *bank.Bank, id string) (bank.Session, error) {
	var found []bank.Session
	err := b.Sessions(ctx, bank.Filter{ID: id}, func(s bank.Session) error {
		found = append(found, s)
		return nil
	})
	if err != nil {
		return bank.Session{}, err
	}
	if i := slices.IndexFunc(found, func(s bank.Session) bool { return s.ID == id }); i >= 0 {
		return found[i], nil
	}
	switch len(found) {
	case 0:
		return bank.Session{}, usagef("no session %s is kept; `skillopt sleep sessions` lists them", id)
	case 1:
		return found[0], nil
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].Source+" "+found[i].ID)
	}
	return bank.Session{}, usagef("%d sessions begin with %s: %s; give more of the id", len(found), id, strings.Join(ids, ", "))
}

func printSession(out printer, s shownSession) {
	out.line(fmt.Sprintf("%s session %s", s.Source, oneLine(s.ID)))
	out.line("project: " + oneLine(s.Project))
	if s.Commit != "" {
		out.line(fmt.Sprintf("commit: %s (%s) %s", oneLine(s.Commit), s.CommitBy, oneLine(s.Branch)))
	}
	out.line(fmt.Sprintf("from %s to %s, %s, %s", s.Started.Local().Format("2006-01-02 15:04:05"), s.Ended.Local().Format("15:04:05"), wording.Plural(len(s.Turns), "turn", "turns"), s.Origin))
	for i := range s.Turns {
		t := &s.Turns[i]
		out.line("")
		out.line(fmt.Sprintf("turn %d, %s", i+1, t.Started.Local().Format("15:04:05")))
		out.hang("  you:   ", t.User)
		switch {
		case t.Failed != "":
			out.hang("  failed: ", t.Failed)
		case t.Agent != "":
			out.hang("  agent: ", t.Agent)
		}
		for _, part := range turnFacts(t) {
			out.hang("  ", part)
		}
		for _, m := range s.Corrections {
			if m.Turn == i {
				out.hang("  corrected: ", signsText(m.Signs))
			}
		}
	}
}
