// Package prune is the operation that measures what each rule of a skill is worth, and
// the one that removes those that are worth nothing.
//
// It knows sessions, and carries out the comparisons that internal/prune asks for. It
// knows nothing of how rules are judged.
package prune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Options say how Ablate and Prune work. The zero value is usable.
type Options struct {
	Split   string  // on whose tasks rules are judged: "" is selection
	Certify string  // on whose tasks the result is; "" is train, or Split if that is empty
	Margin  float64 // largest loss of score that does not matter; 0 is 0.05
	Passes  int     // evaluations of a task by a text at most, on average; 0 is 10

	// Record is a run directory: what it has recorded answers equal requests. So does what the
	// newest ablation of the skill has recorded, where there is one in run.dir.
	Record string

	// Seed is the skill that training began with, whose lines Prune leaves where they are unless
	// SeedLines is set; "": the skill of the configuration, where another one is pruned.
	Seed      string
	SeedLines bool
}

const (
	pruneMargin = 0.05
	prunePasses = 10
	freshSample = 1000 // the first sample of a certificate: far from those of any training
)

// Ablate leaves each rule of a skill out, one at a time, and measures what that does.
func Ablate(ctx context.Context, cfg config.Config, o Options, so session.Options) (*result.Ablation, error) {
	var out *result.Ablation
	err := do(ctx, cfg, o, so, result.Ablate, func(ctx context.Context, p *pruning) (err error) {
		out, err = p.ablate(ctx)
		return err
	})
	return out, err
}

// Run removes what does not pull its weight from a skill: the rules that ablation finds
// harmful or useless, one after the other, each removal measured against what the ones
// before have left, and compares the result with the whole skill afresh.
func Run(ctx context.Context, cfg config.Config, o Options, so session.Options) (*result.Pruned, error) {
	var out *result.Pruned
	err := do(ctx, cfg, o, so, result.Prune, func(ctx context.Context, p *pruning) (err error) {
		out, err = p.prune(ctx)
		return err
	})
	return out, err
}

// pruning is one run of Ablate or Run.
type pruning struct {
	session *session.Session
	o       Options
	kind    result.Kind // Ablate or Prune
	files   []string    // whose rules are judged
	rules   []prune.Rule
	stay    map[string]bool // lines of the seed skill
	judge   []task.Task
	certify []task.Task
	splits  []task.Split      // that are read
	before  *result.TestReads // who had read the test split, nil unless it is among them
}

// do carries out work in a session of its own.
func do(ctx context.Context, cfg config.Config, o Options, so session.Options, kind result.Kind, work func(context.Context, *pruning) error) error {
	s, err := session.Prepare(ctx, cfg, so, model.Target)
	if err != nil {
		return err
	}
	p := &pruning{session: s, o: o, kind: kind}
	s.Measured = true // what a run has trained is pruned
	return s.Do(ctx, session.Op{
		Kind: kind, Suffix: "-" + string(kind),
		Check: func() error { return p.settle(ctx) },
		Ask:   p.plan,
		Begin: func(context.Context) error { return p.keep(s.Skill, result.WholeFile, result.WholeFolder) },
		Work: func(ctx context.Context) (result.Status, error) {
			if err := p.begin(ctx); err != nil {
				return "", err
			}
			if err := work(ctx, p); err != nil {
				return "", tooFew(err)
			}
			return result.Completed, nil
		},
	})
}

// settle checks the options and finds rules and tasks.
func (p *pruning) settle(ctx context.Context) error {
	if err := errors.Join(p.defaults(), p.settings().Validate()); err != nil {
		return fault.Input(err)
	}
	if err := errors.Join(p.tasks(), p.keepSeed(ctx)); err != nil {
		return err
	}
	about := fmt.Sprintf("%s, margin %g", p.o.Split, p.o.Margin)
	if p.kind == result.Prune {
		about += ", certified on " + p.o.Certify
	}
	if len(p.files) != 1 || p.files[0] != skill.Main {
		about += ", rules of " + strings.Join(p.files, ", ")
	}
	if len(p.stay) > 0 {
		about += ", seed lines stay"
	}
	p.session.Identify(string(p.kind), about)
	if p.kind == result.Prune {
		if err := p.readAblation(ctx); err != nil {
			return err
		}
	}
	if p.o.Record == "" {
		return nil
	}
	return p.session.ReadKnown(ctx, p.o.Record)
}

// readAblation has the newest ablation of the same skill in run.dir answer equal requests, where
// sampling keeps other runs from answering.
func (p *pruning) readAblation(ctx context.Context) error {
	if t := p.session.Config.Models.Target.Temperature; p.session.Config.Record.Reuse == "never" || t != nil && *t == 0 {
		return nil
	}
	entries, err := run.List(p.session.Config.Run.Dir)
	if err != nil {
		return nil //nolint:nilerr // without the folder there is no ablation
	}
	id, err := p.session.Identity()
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) {
		if e.Err == nil && e.Manifest.Kind == result.Ablate && e.Manifest.Identity["skill"] == id["skill"] {
			return p.session.ReadKnown(ctx, e.Dir)
		}
	}
	return nil
}

// maxSeed is the size of the largest seed skill, in bytes.
const maxSeed = 1 << 20

// keepSeed finds the lines of the seed skill, and takes the rules that hold one from those that
// are judged.
func (p *pruning) keepSeed(ctx context.Context) error {
	seed := p.o.Seed
	if seed == "" && p.session.Options.Skill != nil {
		seed = p.session.Config.Skill
	}
	if p.kind != result.Prune || p.o.SeedLines || seed == "" {
		return nil
	}
	if info, err := os.Stat(seed); err == nil && info.IsDir() {
		seed = filepath.Join(seed, skill.Main)
	}
	text, err := disk.Read(ctx, seed, maxSeed)
	if err != nil {
		return fault.Input(fmt.Errorf("read the seed skill: %w", err))
	}
	p.stay = map[string]bool{}
	for _, r := range prune.Rules(string(text)) {
		for line := range strings.SplitSeq(r.Text, "\n") {
			if strings.ContainsFunc(line, unicode.IsLetter) {
				p.stay[strings.TrimSpace(line)] = true
			}
		}
	}
	if p.rules = slices.DeleteFunc(p.rules, p.stays); len(p.rules) == 0 {
		return fault.Input(errors.New("every rule holds a line of the seed skill, and those stay: --seed-lines (SeedLines) measures them, too"))
	}
	return nil
}

// stays reports whether a rule holds a line of the seed skill.
func (p *pruning) stays(r prune.Rule) bool {
	for line := range strings.SplitSeq(r.Text, "\n") {
		if r.File == "" && p.stay[strings.TrimSpace(line)] {
			return true
		}
	}
	return false
}

// defaults completes the options and finds the rules.
func (p *pruning) defaults() error {
	if p.o.Split == "" {
		p.o.Split = string(task.Selection)
	}
	if p.o.Certify == "" {
		p.o.Certify = string(task.Train)
		if len(p.session.Set.Split(task.Train)) == 0 {
			p.o.Certify = p.o.Split
		}
	}
	if p.o.Margin == 0 {
		p.o.Margin = pruneMargin
	}
	if p.o.Passes == 0 {
		p.o.Passes = prunePasses
	}
	p.files = slices.DeleteFunc(p.session.Scope.Of(p.session.Skill), func(name string) bool { return !prune.Cuttable(name) })
	if p.rules = prune.ParseRules(p.session.Skill, p.files, p.session.Scope); len(p.rules) == 0 {
		if p.session.Scope.Region() != "" {
			return errors.New("the skill has no rule to leave out: no paragraph or list item in its learned region, which edits.region names; `skillopt skill lint` reports a region that is none")
		}
		return fmt.Errorf("the skill has no rule to leave out: no paragraph or list item outside of front matter and protected regions in the Markdown files that edits.files names (%s)", strings.Join(p.session.Scope.Patterns(), ", "))
	}
	return nil
}

// keep writes a skill into the run: SKILL.md as a file, and where the skill has more, all
// of it as a folder too.
func (p *pruning) keep(s skill.Skill, document, folder string) error {
	if err := p.session.Run.WriteFile(document, []byte(s.Text())); err != nil || len(s.Others()) == 0 {
		return err
	}
	return p.session.Run.WriteSkill(folder, s)
}

func (p *pruning) settings() prune.Settings {
	return prune.Settings{Margin: p.o.Margin, Level: 1 - p.session.Config.Gate.Alpha, Passes: p.o.Passes, Deterministic: p.session.Models.Deterministic(), Joint: p.kind == result.Prune}
}

// tasks finds those of the splits.
func (p *pruning) tasks() error {
	if err := p.session.RequireScored(); err != nil {
		return err
	}
	judge, err := session.Splits(p.o.Split)
	if err != nil {
		return err
	}
	p.judge, p.splits, p.o.Split = p.of(judge), judge, splitName(judge)
	if len(p.judge) == 0 {
		return p.session.Set.Require(judge...)
	}
	if p.kind != result.Prune {
		return nil
	}
	certify, err := session.Splits(p.o.Certify)
	if err != nil {
		return err
	}
	p.o.Certify = splitName(certify)
	if p.certify = p.of(certify); len(p.certify) == 0 {
		return p.session.Set.Require(certify...)
	}
	p.splits = append(p.splits, certify...)
	return nil
}

// splitName names what session.Splits returns.
func splitName(splits []task.Split) string {
	if len(splits) > 1 {
		return "all"
	}
	return string(splits[0])
}

// of returns the tasks of splits, without those that the skill shows as worked examples.
func (p *pruning) of(splits []task.Split) []task.Task {
	var out []task.Task
	for _, s := range splits {
		out = append(out, p.session.Set.Split(s)...)
	}
	return p.session.Data.Unshown(out, p.session.Skill)
}

// testRead reports whether the test split is among those that are read.
func (p *pruning) testRead() bool {
	for _, s := range p.splits {
		if s == task.Test {
			return true
		}
	}
	return false
}

// rollouts returns how many rollouts there are at most. The last round of a comparison may begin
// just before its passes are used up. Most end long before, and what two of them share is asked
// once.
func (p *pruning) rollouts() int {
	comparison := 2 * (p.o.Passes + 1) * len(p.judge)
	if p.kind != result.Prune {
		return len(p.rules) * comparison
	}
	certificate := 2 * (prune.CertifyPasses*p.o.Passes + 1) * len(p.certify) // and again where answers differ
	return 3*len(p.rules)*comparison + certificate                           // each rule by itself; together as often, and one after the other
}

// begin warns, and takes from the record what was settled before.
func (p *pruning) begin(ctx context.Context) (err error) {
	s := p.session
	s.EmitWarnings()
	if p.testRead() {
		s.Emit(event.Warning{Text: "tasks of the test split are read: what they show of this skill afterwards is no longer a test"})
	}
	p.before, err = s.ReadTest(ctx, p.splits)
	return err
}

func (p *pruning) ablate(ctx context.Context) (*result.Ablation, error) {
	got, err := p.pruner().Ablate(ctx)
	if err != nil {
		return nil, err
	}
	out := p.describe(got)
	p.account(&out)
	kept := out
	kept.RunDir = "." // a run directory can be moved
	return &out, p.session.Run.WriteJSON(result.AblationFile, kept)
}

func (p *pruning) prune(ctx context.Context) (*result.Pruned, error) {
	out, err := p.work(ctx)
	if err != nil {
		return nil, err
	}
	p.account(&out.Ablation)
	kept, r := *out, p.session.Run
	kept.RunDir = "."
	return out, errors.Join(p.keep(out.Left, result.PrunedFile, result.PrunedFolder), r.WriteFile(run.PullFile, report.FormatPruned(out)), r.WriteJSON(result.PruningFile, kept))
}

// work prunes, and compares what is left with the whole skill.
func (p *pruning) work(ctx context.Context) (*result.Pruned, error) {
	got, err := p.pruner().Prune(ctx)
	if err != nil {
		return nil, err
	}
	whole := p.session.Skill
	all := prune.ParseRules(whole, p.files, p.session.Scope)
	out := &result.Pruned{
		SeedRules: toRules(slices.DeleteFunc(all, func(r prune.Rule) bool { return !p.stays(r) })),
		Ablation:  p.describe(got), Removed: toRules(got.RemovedRules()), Pruned: p.session.Scope.Hash(got.Skill), Text: got.Skill.Text(), Left: got.Skill,
		Bytes: [2]int{p.bytes(whole), p.bytes(got.Skill)}, Steps: []result.Removal{}, CertifiedOn: p.o.Certify,
	}
	for _, s := range got.Steps {
		out.Steps = append(out.Steps, result.Removal{
			Rule: s.Rule.Number, Removed: s.Removed, Verdict: string(s.Verdict), Difference: s.Difference, Low: s.Low, High: s.High,
			Pairs: s.Pairs, Unmeasured: selectIDs(p.judge, s.Lost), With: s.With,
		})
	}
	if len(out.Removed) == 0 {
		return out, nil
	}
	bench := p.bench("certificate", p.certify)
	bench.First = max(freshSample, got.Samples)
	settings := p.settings()
	settings.Deterministic, settings.Variance = got.Deterministic, got.Variance
	p.session.Emit(event.StageStarted{Stage: "certificate", Total: 2 * len(p.certify)})
	c, err := prune.Certify(ctx, bench, settings, got.Skill, whole)
	out.Certificate = &result.NotWorse{
		Certified: c.NotWorse, Worse: c.Worse, HeldOut: p.heldOut(), Deterministic: c.Deterministic, Tasks: len(p.certify), Passes: c.Passes, Pairs: c.Pairs,
		Difference: c.Difference, Low: c.Low, High: c.High, Wins: c.Wins, Losses: c.Losses, Ties: c.Ties, Unmeasured: selectIDs(p.certify, c.Lost),
		Unanswered: newUnanswered(c.Effect),
	}
	return out, err
}

// bytes returns how long the files are that rules are left out of.
func (p *pruning) bytes(s skill.Skill) int {
	n := 0
	for _, name := range p.files {
		text, _ := s.File(name)
		n += len(text)
	}
	return n
}

// heldOut reports whether no task of the certificate was judged by.
func (p *pruning) heldOut() bool {
	judged := map[string]bool{}
	for _, t := range p.judge {
		judged[t.ID] = true
	}
	for _, t := range p.certify {
		if judged[t.ID] {
			return false
		}
	}
	return true
}
