package draft

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// TriggerDir is the folder, below the one that is written, that holds the record of a draft
// of trigger tasks.
const TriggerDir = "draft-triggers"

// MinTriggers is the smallest number of trigger tasks that can be asked for: one of a kind.
const MinTriggers = 2

// TriggerTask is a drafted trigger task. Its JSON is a line of a task file.
type TriggerTask struct {
	ID       string       `json:"id"` // of what it says: the same prompt has the same
	Prompt   string       `json:"prompt"`
	Trigger  task.Trigger `json:"trigger"`
	Why      string       `json:"why,omitempty"` // it is of that kind, as its author says, for a reviewer
	Doubts   []string     `json:"doubts,omitempty"`
	Reviewed bool         `json:"reviewed"`
}

// TriggerResult is the result of a draft of trigger tasks.
type TriggerResult struct {
	Tasks []TriggerTask // those that should load the skill first
	Fell  []Fall        // in the order in which they fell
}

// Count returns the number of tasks of a kind.
func (r TriggerResult) Count(kind task.Trigger) int {
	n := 0
	for _, t := range r.Tasks {
		if t.Trigger == kind {
			n++
		}
	}
	return n
}

// kinds returns the kinds of trigger tasks, in the order in which they are asked for.
func kinds() []task.Trigger { return []task.Trigger{task.TriggerShould, task.TriggerShouldNot} }

// PlanTriggers returns how many calls a draft of n trigger tasks makes at most, by stage, when
// every reply can be used.
func PlanTriggers(m Material, n int, seed int64) (write, check int) {
	parts := Sections(m)
	calls := rounds * len(triggerCalls(parts, allotKinds(parts, n, seed)))
	return calls, answers * calls
}

// CheckTriggers reports why no trigger tasks can be drafted for a skill: it states nothing,
// or has no front matter with a description to test.
func CheckTriggers(m Material) error {
	if len(Sections(m)) == 0 {
		return ErrNothingToTest
	}
	if _, err := skill.New(strings.Join(m.Files[0].Lines, "\n")).WithDescription("Any description."); err != nil {
		return fmt.Errorf("trigger tasks test its description, which front matter has to hold (name and description between two lines ---): %w", err)
	}
	return nil
}

// Triggers drafts trigger tasks: half of them prompts that should load the skill, and one
// more where their number is odd. The error is that of Ask, of CheckTriggers, or says how
// many there can be.
func Triggers(ctx context.Context, o Options) (TriggerResult, error) {
	if err := CheckTriggers(o.Material); err != nil {
		return TriggerResult{}, err
	}
	if o.Tasks < MinTriggers || o.Tasks > MaxTasks {
		return TriggerResult{}, fmt.Errorf("%d trigger tasks are asked for, %d to %d can be", o.Tasks, MinTriggers, MaxTasks)
	}
	d := &triggerDrafter{Options: o, parts: Sections(o.Material), linter: newTriggerLinter(o.Material, o.Known)}
	var err error
	if d.prompts, err = loadTriggerPrompts(); err != nil {
		return TriggerResult{}, err
	}
	wanted := allotKinds(d.parts, o.Tasks, o.Seed)
	for round := range rounds {
		if err := d.round(ctx, round+1, wanted); err != nil {
			return TriggerResult{}, err
		}
	}
	return TriggerResult{Tasks: d.tasks(), Fell: d.fell}, nil
}

// byKind are numbers of tasks by part, of the one kind and of the other.
type byKind map[task.Trigger][]int

// allotKinds divides n tasks over both kinds, and those of a kind over parts.
func allotKinds(parts []Section, n int, seed int64) byKind {
	return byKind{
		task.TriggerShould:    Allot(parts, (n+1)/2, seed),
		task.TriggerShouldNot: Allot(parts, n/2, seed),
	}
}

// triggerCall is what one call is asked for: prompts of either kind about parts of one file.
// Each has the part that it is about.
type triggerCall struct {
	file  int
	parts map[task.Trigger][]int
	asked []triggerShare
}

// triggerShare is how many prompts of a kind are to be about a part.
type triggerShare struct {
	kind task.Trigger
	share
}

func (c triggerCall) tasks() int {
	n := 0
	for _, s := range c.asked {
		n += s.n
	}
	return n
}

// triggerCalls packs the tasks that parts want into calls, at most TasksPerCall of either
// kind. A near miss is nearest if the same call asks for what it misses.
func triggerCalls(parts []Section, wanted byKind) []triggerCall {
	var calls []triggerCall
	for _, kind := range kinds() {
		used := map[int]int{} // calls of a file that have prompts of this kind
		for _, c := range chunks(parts, wanted[kind]) {
			i := nth(calls, c.file, used[c.file])
			used[c.file]++
			if i < 0 {
				i = len(calls)
				calls = append(calls, triggerCall{file: c.file, parts: map[task.Trigger][]int{}})
			}
			for _, s := range c.shares {
				calls[i].asked = append(calls[i].asked, triggerShare{kind, s})
				calls[i].parts[kind] = append(calls[i].parts[kind], slices.Repeat([]int{s.part}, s.n)...)
			}
		}
	}
	return calls
}

// nth returns the place of the nth call, from 0, that is about a file; -1 if there are fewer.
func nth(calls []triggerCall, file, n int) int {
	for i, c := range calls {
		if c.file != file {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return -1
}

// triggerDrafter is a draft of trigger tasks under way.
type triggerDrafter struct {
	Options

	parts   []Section
	prompts triggerPrompts
	linter  *triggerLinter
	kept    []triggerCandidate
	fell    []Fall
}

// triggerCandidate is a trigger task on its way.
type triggerCandidate struct {
	kind   task.Trigger
	part   int
	prompt string
	why    string
	doubts []string
}

func (d *triggerDrafter) fall(c triggerCandidate, why Reason, detail string) {
	d.fell = append(d.fell, Fall{Reason: why, Detail: excerpt(detail, 300), Prompt: excerpt(c.prompt, 120)})
}

// round asks for the tasks that parts still lack, and keeps those that hold.
func (d *triggerDrafter) round(ctx context.Context, n int, wanted byKind) error {
	missing := byKind{}
	for _, kind := range kinds() {
		missing[kind] = slices.Clone(wanted[kind])
	}
	for _, c := range d.kept {
		missing[c.kind][c.part]--
	}
	calls := triggerCalls(d.parts, missing)
	if len(calls) == 0 {
		return nil
	}
	replies, err := d.write(ctx, n, calls)
	if err != nil {
		return err
	}
	found := make([][]triggerCandidate, len(calls))
	for i, c := range calls {
		found[i] = d.sift(c, replies[i])
	}
	return d.judge(ctx, n, calls, found)
}

// write makes calls and returns what came, in their order; nil for one whose reply is lost.
func (d *triggerDrafter) write(ctx context.Context, round int, calls []triggerCall) ([][]triggerProposal, error) {
	out := make([][]triggerProposal, len(calls))
	known := d.knownPrompts()
	err := d.each(ctx, model.StageDraft, len(calls), func(ctx context.Context, i int) error {
		system, user, err := d.renderRequest(calls[i], i, known)
		if err != nil {
			return err
		}
		text, err := d.Ask(ctx, Request{
			Key: fmt.Sprintf("t%d/c%d", round, i+1), Stage: model.StageDraft, System: system, User: user, Schema: triggerSchema(),
			Accept: func(text string) error {
				_, err := readTriggers(text)
				return err
			},
		})
		if errors.Is(err, ErrLost) {
			return nil
		}
		if err != nil {
			return err
		}
		out[i], err = readTriggers(text)
		return err
	})
	return out, err
}

// knownPrompts returns the prompts that there are, of both kinds.
func (d *triggerDrafter) knownPrompts() []string {
	out := slices.Clone(d.Known)
	for _, c := range d.kept {
		out = append(out, c.prompt)
	}
	return out
}

// sift returns what of a reply was asked for and can be used. The prompts of a kind are about the
// parts that were asked for, in that order.
func (d *triggerDrafter) sift(call triggerCall, reply []triggerProposal) []triggerCandidate {
	var found []triggerCandidate
	given := map[task.Trigger]int{}
	for _, p := range reply {
		one := p.triggerCandidate
		if p.err != nil {
			d.fall(one, NotWhole, p.err.Error())
			continue
		}
		parts := call.parts[one.kind]
		if given[one.kind]++; given[one.kind] > len(parts) {
			d.fall(one, Surplus, "")
			continue
		}
		one.part = parts[given[one.kind]-1]
		if why, detail := d.linter.lint(one.prompt); why != "" {
			d.fall(one, why, detail)
			continue
		}
		found = append(found, one)
	}
	for _, kind := range kinds() {
		for range len(call.parts[kind]) - given[kind] {
			d.fall(triggerCandidate{}, NotWritten, "")
		}
	}
	return found
}

// tasks returns what was kept, by kind and part, with names.
func (d *triggerDrafter) tasks() []TriggerTask {
	var out []TriggerTask
	for _, kind := range kinds() {
		for part := range d.parts {
			for _, c := range d.kept {
				if c.kind == kind && c.part == part {
					out = append(out, TriggerTask{ID: triggerID(c), Prompt: c.prompt, Trigger: kind, Why: c.why, Doubts: c.doubts})
				}
			}
		}
	}
	return out
}

// triggerID derives the name of a trigger task from what it asks. The name is the same whatever else a file
// holds, so that what was added to one once is found there.
func triggerID(c triggerCandidate) string {
	sum := sha256.Sum256([]byte(string(c.kind) + "\x00" + c.prompt))
	return strings.ReplaceAll(string(c.kind), "_", "-") + "-" + hex.EncodeToString(sum[:5])
}

// EncodeTriggers writes trigger tasks as lines of a task file.
func EncodeTriggers(tasks []TriggerTask) ([]byte, error) { return lines(tasks) }
