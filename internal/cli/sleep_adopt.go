package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// sleepAdoptOptions are the flags of sleep adopt.
type sleepAdoptOptions struct {
	targets []string
	all     bool
	rules   []int
	expect  string
	branch  string
	measure bool
	yes     bool
	discard bool
}

func sleepAdoptCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepAdoptOptions
	c := &cobra.Command{
		Use:   "adopt [NIGHT]",
		Short: "Write what a night has staged into the documents that agents read",
		Long: `Show what would be written and what it rests on, ask, and write it: into the learned region of
each document, or into all of it where sleep.whole names the document. All documents are written, or
none; what they held before is kept, and skillopt sleep rollback puts it back. Without NIGHT the
last one.

A document that has changed outside of its learned region since the night is merged. One whose region
was edited, or that is reached over a link, is refused.

--branch NAME commits to a branch of the project's repository and writes no file. One that is there
is continued, if it is not checked out; a new one begins with what is checked out. What the branch has
of a document is what the proposal is merged with. No hook, filter or other program of the
repository's runs.

Without a terminal to ask on, --expect names the hash of what is to be written, which is printed
next to the diff. --rule takes some of the rules alone, --target some of the documents that were measured
together: nothing was measured of that part by itself, so that what is adopted is called suggested.
--measure compares it with the live document first, on the tasks that the night has confirmed the
whole by; that asks models, and is paid for once. What it is called then is the result of that.

--discard deletes what the night has staged instead. What is known of the night stays, and so do its
tasks: a later night may propose the same again. Evidence that it had begun to gather is dropped.`,
		Example: `  skillopt sleep adopt
  skillopt sleep adopt 20261125-200000 --target memory:CLAUDE.md
  skillopt sleep adopt --rule 1 --rule 3
  skillopt sleep adopt --rule 1 --measure
  skillopt sleep adopt --all --expect 4f0c2e9b7d11
  skillopt sleep adopt --branch skillopt/rules`,
		Args: atMost(1, "at most one night"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.discard {
				return o.discardStaged(cmd.Context(), a, *at, nightArg(args))
			}
			return o.run(cmd.Context(), a, *at, nightArg(args))
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.targets, "target", nil, "this document alone, such as memory:CLAUDE.md (may be repeated)")
	f.BoolVar(&o.all, "all", false, "all documents that the night proposes a text for")
	f.IntSliceVar(&o.rules, "rule", nil, "this rule of the document alone, by its number in the diff shown (may be repeated)")
	f.BoolVar(&o.measure, "measure", false, "measure what --rule or --target takes by itself before it is adopted; asks models")
	f.BoolVar(&o.yes, "yes", false, "with --measure: do not ask before spending; with --discard: before deleting")
	f.BoolVar(&o.discard, "discard", false, "delete what the night has staged instead, also where it is damaged")
	f.StringVar(&o.branch, "branch", "", "commit to this branch of the project's repository, and write no file")
	f.StringVar(&o.expect, "expect", "", "do not ask: what is written has this hash, or its first 12 digits")
	return c
}

// adoption is what is to be adopted.
type adoption struct {
	request adopt.Request
	planned []adopt.Planned
	hash    string
	night   *night.Report
	staged  *night.Proposal
}

func (o *sleepAdoptOptions) run(ctx context.Context, a *app, at sleepFlags, id string) error {
	if err := foreignProposal(a, at, id); err != nil {
		return err
	}
	var setup sleepSetup
	var report *night.Report
	err := withNight(ctx, a, at, id, func(s sleepSetup, r *night.Report) error {
		setup, report = s, r
		return nil
	})
	if err != nil {
		return err
	}
	what, err := o.prepare(ctx, a, setup, report)
	if err != nil {
		return err
	}
	if !a.json {
		if err := what.show(a); err != nil {
			return err
		}
	}
	if err := o.confirmWrite(a, what); err != nil {
		return err
	}
	store, err := setup.adoptions(a.version)
	if err != nil {
		return err
	}
	receipt, err := store.Adopt(ctx, what.request)
	if err != nil {
		return err
	}
	if receipt.Branch == nil { // else the live documents are what they were, and the evidence still counts
		err = setup.noteAdopted(ctx, what)
	}
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(receipt))
	}
	if b := receipt.Branch; b != nil {
		a.stdoutPrinter().line(oneLine(fmt.Sprintf("committed %.12s to branch %s of %s; git merge %s takes it into what is checked out", b.Commit, b.Name, b.Repository, b.Name)))
	}
	for _, c := range receipt.Files {
		if receipt.Branch == nil {
			a.stdoutPrinter().line("wrote " + oneLine(c.File()))
		}
	}
	a.stdoutPrinter().line(fmt.Sprintf("adopted as number %d; %s takes it back", receipt.N, setup.command(fmt.Sprintf("skillopt sleep rollback %d", receipt.N))))
	return nil
}

// prepare settles what is to be written.
func (o *sleepAdoptOptions) prepare(ctx context.Context, a *app, s sleepSetup, r *night.Report) (adoption, error) {
	out := adoption{night: r}
	p, err := requireProposal(s, r)
	if err != nil {
		return out, err
	}
	items, err := o.selectItems(p)
	if err != nil {
		return out, err
	}
	if o.measure && len(items) > 1 {
		return out, usagef("--measure is about one document: name it by --target")
	}
	out.staged = p
	out.request = adopt.Request{Project: r.Project, Night: r.ID, Branch: o.branch}
	for _, item := range items {
		it, err := o.item(p, item)
		if err != nil {
			return out, err
		}
		if len(item.Files) > 0 && len(o.rules) > 0 {
			return out, usagef("--rule: other files of %s were trained with it, so that it has no rules to choose from", item.Target)
		}
		part := o.partReason(r, items)
		if part != "" {
			it.Claim, it.Reason = string(night.Suggested), part
		}
		if o.measure {
			if err := o.measureItem(ctx, a, s, r, p, &it, part); err != nil {
				return out, err
			}
		}
		out.request.Items = append(out.request.Items, it)
		files, err := readFileItems(p, item)
		if err != nil {
			return out, err
		}
		for _, f := range files {
			f.Claim, f.Reason = it.Claim, it.Reason
			out.request.Items = append(out.request.Items, f)
		}
	}
	store, err := s.adoptions(a.version)
	if err != nil {
		return out, err
	}
	if out.planned, err = store.Plan(ctx, out.request); err != nil {
		return out, err
	}
	out.hash, err = hashRequest(out.request)
	return out, err
}

// hashToAdopt returns the hash that adopting with some options would ask for, "" if that would fail.
func hashToAdopt(ctx context.Context, a *app, s sleepSetup, r *night.Report, o sleepAdoptOptions) string {
	what, err := o.prepare(ctx, a, s, r)
	if err != nil {
		return ""
	}
	return what.hash
}

// hashRequest returns the hash of what a night's texts are, whatever the documents hold outside of their learned regions.
func hashRequest(q adopt.Request) (string, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("make the hash of a proposal: %w", err)
	}
	return target.Digest("skillopt adopt 1\n" + string(data)), nil
}

// selectItems returns the documents that the user named.
func (o *sleepAdoptOptions) selectItems(p *night.Proposal) ([]night.Item, error) {
	var names []string
	for _, item := range p.Items {
		names = append(names, item.Target)
	}
	there := strings.Join(names, ", ")
	switch {
	case o.all && len(o.targets) > 0:
		return nil, usagef("--all and --target exclude each other; night %s proposes texts for %s", p.Night, there)
	case len(o.targets) == 0 && !o.all && len(p.Items) > 1:
		return nil, usagef("night %s proposes texts for %s: name some by --target, or all by --all", p.Night, there)
	case len(o.targets) == 0:
		return p.Items, o.oneForRules(p.Items)
	}
	var out []night.Item
	for i, name := range o.targets {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, usagef("--target %q: night %s proposes texts for %s", name, p.Night, there)
		}
		if slices.Contains(o.targets[:i], name) {
			return nil, usagef("--target %s is given twice", name)
		}
		out = append(out, p.Items[at])
	}
	return out, o.oneForRules(out)
}

func (o *sleepAdoptOptions) oneForRules(items []night.Item) error {
	if len(o.rules) > 0 && len(items) != 1 {
		return usagef("--rule is about one document: name it by --target")
	}
	return nil
}

// item returns what is to be written into a document.
func (o *sleepAdoptOptions) item(p *night.Proposal, item night.Item) (adopt.Item, error) {
	base, err := p.Live(item.Target)
	if err != nil {
		return adopt.Item{}, usagef("%v", err)
	}
	text, err := p.Text(item.Target)
	if err != nil {
		return adopt.Item{}, usagef("%v", err)
	}
	out := adopt.Item{Target: item.Target, Base: base, New: item.LiveSHA == "", Proposed: text, Whole: item.Whole, Claim: string(item.Outcome), Reason: item.Reason}
	rules := item.Rules
	if len(o.rules) > 0 {
		if out.Proposed, rules, err = o.some(item, base, text); err != nil {
			return out, err
		}
	}
	for _, r := range rules {
		grounds, err := json.Marshal(r)
		if err != nil {
			return out, fmt.Errorf("note the grounds of a rule: %w", err)
		}
		out.Rules = append(out.Rules, adopt.Rule{Text: r.Text, Grounds: grounds})
	}
	return out, nil
}

// readFileItems returns what is to be written into the other files of a skill's folder.
func readFileItems(p *night.Proposal, item night.Item) ([]adopt.Item, error) {
	files, err := p.Files(item.Target)
	if err != nil {
		return nil, usagef("%v", err)
	}
	var out []adopt.Item
	for _, f := range files {
		out = append(out, adopt.Item{Target: item.Target + "/" + f.Path, Base: f.Base, New: f.New, Proposed: f.Text, Whole: true, Claim: string(item.Outcome), Reason: item.Reason})
	}
	return out, nil
}

// some returns a proposal with only those rules that the user named.
func (o *sleepAdoptOptions) some(item night.Item, base, text string) (string, []night.Rule, error) {
	if item.Whole {
		return "", nil, usagef("--rule: all of %s was trained (sleep.whole), so that it has no rules to choose from", item.Target)
	}
	added, err := adopt.Added(base, text)
	if err != nil {
		return "", nil, usagef("%s: %v", item.Target, err)
	}
	var rules []night.Rule
	for i, n := range o.rules {
		if n < 1 || n > len(added) {
			return "", nil, usagef("--rule %d: %s has %s, from 1", n, item.Target, wording.Plural(len(added), "new rule", "new rules"))
		}
		if slices.Contains(o.rules[:i], n) {
			return "", nil, usagef("--rule %d is given twice", n)
		}
		at := slices.IndexFunc(item.Rules, func(r night.Rule) bool { return r.Text == added[n-1] })
		if at >= 0 {
			rules = append(rules, item.Rules[at])
			continue
		}
		rules = append(rules, night.Rule{Text: added[n-1], Tasks: []string{}})
	}
	text, err = adopt.Some(base, text, o.rules)
	return text, rules, err
}

// confirmWrite has the user agree to what was shown.
func (o *sleepAdoptOptions) confirmWrite(a *app, what adoption) error {
	switch {
	case o.expect != "" && (len(o.expect) < 12 || !strings.HasPrefix(what.hash, o.expect)):
		return usagef("--expect %s: what would be written has the hash %s; nothing was written", oneLine(o.expect), what.hash)
	case o.expect != "":
		return nil
	case !a.Terminal || a.json:
		return usagef("there is no terminal to ask on: --expect %s adopts what skillopt sleep show prints", what.hash[:12])
	}
	return a.agree(fmt.Sprintf("write %s? [y/N] ", wording.Plural(len(what.planned), "document", "documents")), "nothing was written")
}

// show prints what would be written, and what it rests on.
func (w adoption) show(a *app) error {
	out := a.stdoutPrinter()
	if w.staged.Simulated {
		out.line("simulated models: the scores are those of a simulation")
	}
	if w.request.Branch != "" {
		out.line(oneLine("on branch " + w.request.Branch + "; no file is written"))
	}
	for i, p := range w.planned {
		it := w.request.Items[i]
		out.line(fmt.Sprintf("%s: %s: %s", oneLine(it.Target), it.Claim, oneLine(it.Reason)))
		where := "in " + p.Place.File()
		switch {
		case p.New:
			where = "a new file, " + p.Place.File()
		case p.Merged:
			where += ", which has changed outside of its learned region since; both are kept"
		}
		out.line("  " + oneLine(where))
		if err := a.writeDiff(record.DiffText(p.Live, p.Text, it.Target, "live", "proposed").Diff); err != nil {
			return err
		}
		added, err := adopt.Added(it.Base, it.Proposed)
		if err != nil || it.Whole {
			continue
		}
		for k, rule := range added {
			text := fmt.Sprintf("  rule %d: %s", k+1, oneLine(rule))
			if i := slices.IndexFunc(it.Rules, func(r adopt.Rule) bool { return r.Text == rule }); i >= 0 {
				text += groundsText(it.Rules[i])
			}
			out.line(text)
		}
	}
	if w.staged.Exploratory {
		out.line("exploratory: some of its tasks are not reviewed (skillopt sleep review)")
	}
	out.line("hash " + w.hash)
	return nil
}

// groundsText says what a rule rests on, as far as it is known.
func groundsText(rule adopt.Rule) string {
	var r night.Rule
	if json.Unmarshal(rule.Grounds, &r) != nil {
		return "" // nothing was noted
	}
	var parts []string
	if r.Step > 0 {
		parts = append(parts, "step "+strconv.Itoa(r.Step))
	}
	if r.Difference != nil {
		parts = append(parts, fmt.Sprintf("%+.3f with its step", *r.Difference))
	}
	if len(r.Tasks) > 0 {
		parts = append(parts, "asked for by "+wording.Plural(len(r.Tasks), "task", "tasks"))
	}
	if len(parts) == 0 {
		return "" // nothing is known
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// groundTasks returns the tasks whose failures asked for a rule.
func groundTasks(rule adopt.Rule) []string {
	var r night.Rule
	if json.Unmarshal(rule.Grounds, &r) != nil {
		return nil
	}
	return r.Tasks
}

// discardStaged deletes what a night has staged, which need not be as the night has written it.
func (o *sleepAdoptOptions) discardStaged(ctx context.Context, a *app, at sleepFlags, id string) error {
	if o.all || len(o.targets)+len(o.rules) > 0 || o.measure || o.branch != "" || o.expect != "" {
		return usagef("--discard deletes all that a night has staged: leave the flags that choose or measure out")
	}
	return at.withBank(ctx, a, sleepSetup.open, func(setup sleepSetup, b *bank.Bank) error {
		r, err := setup.findNight(ctx, b, id)
		if err != nil {
			return err
		}
		if _, err := night.Open(setup.dir, r.Project, r.ID); errors.Is(err, fs.ErrNotExist) {
			return nothingStaged(setup, r)
		}
		if err := a.sure(o.yes, "deletes for good", fmt.Sprintf("delete what night %s of %s has staged? [y/N] ", r.ID, oneLine(r.Project)), "nothing was deleted"); err != nil {
			return err
		}
		if err := night.Discard(setup.dir, r.Project, r.ID); err != nil {
			return err
		}
		for i := range r.Targets {
			if err := dropCandidates(ctx, b, r, r.Targets[i].Target, "discarded by the user"); err != nil {
				return err
			}
		}
		if a.json {
			return printJSON(a.Out, map[string]any{"night": r.ID, "project": r.Project, "discarded": true})
		}
		a.stdoutPrinter().line("discarded what night " + r.ID + " has staged; the live documents were never touched")
		return nil
	})
}

// noteAdopted ends the evidence for what is not carried any more: the live document is another one now.
func (s sleepSetup) noteAdopted(ctx context.Context, w adoption) (err error) {
	b, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return noteAdopted(ctx, b, w)
}

func noteAdopted(ctx context.Context, b *bank.Bank, w adoption) error {
	for _, it := range w.request.Items {
		if err := dropCandidates(ctx, b, w.night, it.Target, "it was adopted"); err != nil {
			return err
		}
	}
	return nil
}

// dropCandidates ends the evidence for what a night had staged for a document.
func dropCandidates(ctx context.Context, b *bank.Bank, r *night.Report, target, why string) error {
	list, err := b.Candidates(ctx, r.Project, target)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Night != r.ID || c.State != bank.Carried {
			continue
		}
		c.State, c.Reason = bank.Dropped, why
		if err := b.Update(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
