package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// sleepShowOptions are the flags of sleep show.
type sleepShowOptions struct{ project string }

func sleepShowCommand(a *app, profile *string) *cobra.Command {
	var o sleepShowOptions
	c := &cobra.Command{
		Use:   "show [NIGHT]",
		Short: "Show a night, and print what it has staged",
		Long: `Show a night: what became of each document, by what evidence, and the texts that it has
staged, whole. Without NIGHT the last one. Nothing of it is in force: a proposal changes
nothing by itself.`,
		Example: `  skillopt sleep show
  skillopt sleep show 20261125-200000 --json`,
		Args: atMost(1, "at most one night"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, *profile, nightArg(args))
		},
	}
	addNightProject(c, &o.project)
	return c
}

// nightArg is the name of a night among arguments, "" for the last one.
func nightArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func addNightProject(c *cobra.Command, dst *string) {
	c.Flags().StringVar(dst, "project", "", "a night of this project")
}

// shownNight is the result of sleep show.
type shownNight struct {
	*night.Report

	Texts map[string]string `json:"texts"` // what is staged, by target
}

func (o *sleepShowOptions) run(ctx context.Context, a *app, profile, id string) error {
	return withNight(ctx, a, profile, o.project, id, func(s sleepSetup, r *night.Report) error {
		shown := shownNight{Report: r, Texts: map[string]string{}}
		p, err := proposalOf(s, r)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if p != nil {
			for _, item := range p.Items {
				if shown.Texts[item.Target], err = p.Text(item.Target); err != nil {
					return usagef("%v", err)
				}
				files, err := p.Files(item.Target)
				if err != nil {
					return usagef("%v", err)
				}
				for _, f := range files {
					shown.Texts[item.Target+"/"+f.Path] = f.Text
				}
			}
		}
		if a.json {
			return printJSON(a.Out, ask.Shareable(shown))
		}
		printNight(a.shown(), r)
		if p == nil {
			return nil
		}
		for _, item := range p.Items {
			names := []string{item.Target}
			for _, f := range item.Files {
				names = append(names, item.Target+"/"+f.Path)
			}
			for _, name := range names {
				fmt.Fprintf(a.Out, "\n==> %s, staged and not in force\n%s", oneLine(name), printable(shown.Texts[name]))
			}
		}
		return nil
	})
}

// withNight calls f with a night, or with the last one.
func withNight(ctx context.Context, a *app, profile, project, id string, f func(sleepSetup, *night.Report) error) (err error) {
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	b, err := setup.look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := setup.nightOf(ctx, a, b, project, id)
	if err != nil {
		return err
	}
	return f(setup, r)
}

// proposalOf reads what a night has staged, as this user's night has written it. fs.ErrNotExist: it has staged nothing.
func proposalOf(s sleepSetup, r *night.Report) (*night.Proposal, error) {
	p, err := night.Open(s.dir, r.Project, r.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		err = p.Verify(s.dir)
	}
	if err != nil {
		return nil, usagef("%v: `skillopt sleep discard %s`", err, r.ID)
	}
	return p, nil
}

// stagedOf is proposalOf where there has to be one.
func stagedOf(s sleepSetup, r *night.Report) (*night.Proposal, error) {
	p, err := proposalOf(s, r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("night %s has staged nothing; `skillopt sleep explain %s` says why", r.ID, r.ID)
	}
	return p, err
}

// sleepAlone shows the last night on one screen; where there is none, it says what to do.
func sleepAlone(ctx context.Context, a *app, profile string, help func() error) (err error) {
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	b, err := bank.Look(ctx, setup.dir)
	if errors.Is(err, bank.ErrNone) && !a.json {
		return help()
	}
	if errors.Is(err, bank.ErrNone) {
		return usagef("nothing is kept in %s yet; `skillopt sleep harvest` reads sessions", setup.dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	nights, err := b.Nights(ctx, "")
	if err != nil {
		return err
	}
	if len(nights) == 0 && !a.json {
		return help()
	}
	r, err := setup.nightOf(ctx, a, b, "", "")
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(r))
	}
	printNight(a.shown(), r)
	printBeside(a.shown(), nights, r)
	return nil
}

// printBeside names the nights of other projects that belong to the same morning.
func printBeside(out printer, nights []bank.Night, shown *night.Report) {
	told := map[string]bool{shown.Project: true}
	for _, row := range nights { // the newest first
		var r night.Report
		if told[row.Project] || shown.Started.Sub(row.Started).Abs() > 24*time.Hour || json.Unmarshal(row.Data, &r) != nil {
			continue
		}
		told[row.Project] = true
		var parts []string
		for i := range r.Targets {
			parts = append(parts, fmt.Sprintf("%s %s", cmp.Or(oneLine(r.Targets[i].Target), "the night"), cmp.Or(string(r.Targets[i].Outcome), "not begun")))
		}
		if len(parts) == 0 {
			parts = append(parts, "no document was worked on")
		}
		out.line(fmt.Sprintf("also: %s: %s; skillopt sleep show %s", oneLine(row.Project), strings.Join(parts, ", "), oneLine(row.ID)))
	}
}
