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
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// sleepShowOptions are the flags of sleep show.
type sleepShowOptions struct{ why bool }

func sleepShowCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepShowOptions
	c := &cobra.Command{
		Use:   "show [NIGHT]",
		Short: "Show a night, and how what it has staged differs from the live documents",
		Long: `Show a night: the result for each document, its evidence, and how the texts that it has
staged differ from the bytes that the night began with. Without NIGHT the last one. Nothing of it
is in force: a proposal changes nothing by itself. With --json the texts are there as a whole.

With --why it says why the night had that result. The first line names the cause. Then it walks
from the stores of sessions to the verdict: stores, sessions, turns, tasks, checks, baseline,
edits, verdict, with counts and up to three examples each, and ends with the one command
that helps.`,
		Example: `  skillopt sleep show
  skillopt sleep show 20261125-200000 --json
  skillopt sleep show --why`,
		Args: atMost(1, "at most one night"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.why {
				return showWhy(cmd.Context(), a, *at, nightArg(args))
			}
			return showNight(cmd.Context(), a, *at, nightArg(args))
		},
	}
	c.Flags().BoolVar(&o.why, "why", false, "say why it had its result, from the sessions to the verdict")
	return c
}

// nightArg returns the name of a night among arguments, "" for the last one.
func nightArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// shownNight is the result of sleep show.
type shownNight struct {
	*night.Report

	Texts map[string]string   `json:"texts"` // what is staged, by target
	Diffs []nightDiff         `json:"diffs"`
	Words []result.NightWords `json:"words"`    // of the user, that rules come from
	Adopt map[string]string   `json:"adopt_by"` // the command that adopts what Diffs show, by target
}

// nightDiff is what a night would change of a document, or of a file of its folder.
type nightDiff struct {
	Target string `json:"target"`
	Diff   string `json:"diff"`
	Hash   string `json:"hash"` // of the document with its files, for sleep adopt --expect; "": it cannot be adopted as it is
}

func showNight(ctx context.Context, a *app, at sleepFlags, id string) error {
	return withNight(ctx, a, at, id, func(s sleepSetup, r *night.Report) error {
		shown := shownNight{Report: r, Texts: map[string]string{}, Diffs: []nightDiff{}, Adopt: map[string]string{}}
		p, err := readProposal(s, r)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if p != nil {
			if err := shown.addStaged(ctx, a, s, p); err != nil {
				return err
			}
		}
		if a.json {
			if shown.Words, err = userWords(ctx, s, r); err != nil {
				return err
			}
			return printJSON(a.Out, ask.Shareable(shown))
		}
		printNightAlone(a.stdoutPrinter(), r)
		next := nextCommand(r)
		if p != nil {
			next = adoptCommand(p)
		}
		for _, d := range shown.Diffs {
			if _, err := fmt.Fprintf(a.Out, "\n==> %s, staged and not in force\n", oneLine(d.Target)); err != nil {
				return err
			}
			if err := a.writeDiff(d.Diff); err != nil {
				return err
			}
		}
		a.stdoutPrinter().line("next: " + oneLine(s.command(next)))
		return nil
	})
}

// adoptCommand returns the command that adopts all that a night has staged.
func adoptCommand(p *night.Proposal) string {
	if len(p.Items) > 1 {
		return "skillopt sleep adopt " + p.Night + " --all"
	}
	return "skillopt sleep adopt " + p.Night
}

// addStaged adds what a night has staged.
func (n *shownNight) addStaged(ctx context.Context, a *app, s sleepSetup, p *night.Proposal) error {
	for _, item := range p.Items {
		hash := hashToAdopt(ctx, a, s, n.Report, sleepAdoptOptions{targets: []string{item.Target}})
		live, err := p.Live(item.Target)
		if err != nil {
			return usagef("%v", err)
		}
		text, err := p.Text(item.Target)
		if err != nil {
			return usagef("%v", err)
		}
		files, err := p.Files(item.Target)
		if err != nil {
			return usagef("%v", err)
		}
		add := func(name, live, text string) {
			n.Texts[name] = text
			n.Diffs = append(n.Diffs, nightDiff{Target: name, Diff: record.DiffText(live, text, name, "live", "proposed").Diff, Hash: hash})
		}
		add(item.Target, live, text)
		if hash != "" {
			n.Adopt[item.Target] = s.command(fmt.Sprintf("skillopt sleep adopt %s --project %s --target %s --expect %.12s", n.ID, shellWord(n.Project), shellWord(item.Target), hash))
		}
		for _, f := range files {
			add(item.Target+"/"+f.Path, f.Base, f.Text)
		}
	}
	return nil
}

// userWords returns what the user said in the sessions that the rules of a night come from, as far as it is kept. The tasks
// are in the order in which the rules name them.
func userWords(ctx context.Context, s sleepSetup, r *night.Report) (out []result.NightWords, err error) {
	out = []result.NightWords{}
	b, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	known, err := allTasks(ctx, b)
	if err != nil {
		return nil, err
	}
	for i := range r.Targets {
		for _, rule := range r.Targets[i].Rules {
			for _, id := range rule.Tasks {
				if t, kept := known[id]; kept && t.Project == r.Project {
					out = append(out, result.NightWords{Task: id, Asked: t.Task.Task.Prompt, Said: t.Task.Task.Hidden})
					delete(known, id)
				}
			}
		}
	}
	return out, nil
}

// withNight calls f with a night, or with the last one.
func withNight(ctx context.Context, a *app, at sleepFlags, id string, f func(sleepSetup, *night.Report) error) error {
	return at.withBank(ctx, a, sleepSetup.look, func(setup sleepSetup, b *bank.Bank) error {
		r, err := setup.findNight(ctx, b, id)
		if err != nil {
			return err
		}
		return f(setup, r)
	})
}

// readProposal reads what a night has staged, as this user's night has written it. fs.ErrNotExist: it has staged nothing.
func readProposal(s sleepSetup, r *night.Report) (*night.Proposal, error) {
	p, err := night.Open(s.dir, r.Project, r.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		err = p.Verify(s.dir)
	}
	if err != nil {
		return nil, usagef("%v: `%s`", err, s.command("skillopt sleep adopt --discard "+r.ID))
	}
	return p, nil
}

// requireProposal calls readProposal where there has to be a proposal.
func requireProposal(s sleepSetup, r *night.Report) (*night.Proposal, error) {
	p, err := readProposal(s, r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nothingStaged(s, r)
	}
	return p, err
}

// nothingStaged returns the error of a night without a proposal.
func nothingStaged(s sleepSetup, r *night.Report) error {
	return usagef("night %s has staged nothing; `%s` says why", r.ID, s.command("skillopt sleep show --why "+r.ID))
}

// sleepAlone shows the last night on one screen; where there is none, it says what to do.
func sleepAlone(ctx context.Context, a *app, at sleepFlags, help func() error) (err error) {
	setup, err := a.sleepSetup(at)
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
	r, err := setup.findNight(ctx, b, "")
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(r))
	}
	printNight(a.stdoutPrinter(), setup, r)
	printBeside(a.stdoutPrinter(), setup, nights, r)
	return nil
}

// printBeside names the nights of other projects that belong to the same morning.
func printBeside(out printer, s sleepSetup, nights []bank.Night, shown *night.Report) {
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
		out.line(fmt.Sprintf("also: %s: %s; %s", oneLine(row.Project), strings.Join(parts, ", "), oneLine(s.command("skillopt sleep show "+row.ID))))
	}
}
