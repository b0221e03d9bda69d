// Package draft has a model write tasks for a skill: prompts with expected answers
// and checks (Run), or prompts that should load the skill and near misses (Triggers),
// spread over what SKILL.md and its references say.
// What the model writes is not trusted: each task is read strictly, linted,
// compared with the others and with the skill, and one with an expected answer is
// answered by its author a second time without it. What is kept is still a draft, which a
// person has to review (Review).
//
// It knows nothing about providers, records, retries or run directories: it asks
// through a function. The same skill, number, seed and replies give the same
// tasks, whatever the order in which replies arrive.
package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/model"
)

// RunDir is the folder, below the one that is written, that holds the record of
// a draft.
const RunDir = "draft"

// MaxTasks is the largest number of tasks that can be asked for at once.
const MaxTasks = 500

// rounds is how often tasks are asked for: a second time for those that fell.
const rounds = 2

// answers is how often an author answers a task, at most.
const answers = 2

// Request is one request to the author, the optimizer model.
type Request struct {
	Key    string // unique within a draft: "r1/c3", "r1/c3/t2/answer1"
	Stage  string // model.StageDraft or model.StageDraftCheck
	System string
	User   string
	Schema *model.Schema // of the reply; nil = free text

	// Accept reports why a reply cannot be used, nil if it can. It is pure.
	Accept func(text string) error
}

// Ask sends a request and returns the first reply that Accept took. It may be
// called concurrently. When there is none after all re-asks the error is ErrLost:
// the draft continues without it. Any other error ends the draft.
type Ask func(ctx context.Context, q Request) (string, error)

// ErrLost says that the model gave no usable reply.
var ErrLost = errors.New("no usable reply")

// Options say what to draft.
type Options struct {
	Material Material
	Tasks    int   // wanted, 1 to MaxTasks
	Seed     int64 // decides between parts of equal weight
	Ask      Ask

	// Known are prompts that there are already: trigger tasks are not to be like them.
	Known []string

	// Progress, if set, learns how many of the calls of a stage are done. It may
	// be called concurrently.
	Progress func(stage string, done, total int)
}

// Result holds the tasks that a draft kept, and those that it did not.
type Result struct {
	Tasks []Task
	Fell  []Fall // in the order in which they fell
}

// Task is a drafted task. Its JSON is a line of a task file.
type Task struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"` // of the part of the skill that it tests
	Prompt   string           `json:"prompt"`
	Gold     []string         `json:"gold"`
	Checks   []map[string]any `json:"checks"`
	Source   string           `json:"source"`           // the line that it tests: "SKILL.md:12: text"
	Doubts   []string         `json:"doubts,omitempty"` // what a reviewer should look at
	Reviewed bool             `json:"reviewed"`
}

// Fall is a task that was not kept.
type Fall struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Prompt string `json:"prompt,omitempty"` // its beginning
}

// Plan returns how many calls a draft of n tasks makes at most, by stage, when
// every reply can be used.
func Plan(m Material, n int, seed int64) (write, solve int) {
	parts := Sections(m)
	return rounds * len(chunks(parts, Allot(parts, n, seed))), rounds * answers * n
}

// Run drafts tasks. The error is that of Ask, or says that the skill states
// nothing that could be tested.
func Run(ctx context.Context, o Options) (Result, error) {
	d := &drafter{Options: o, material: o.Material, parts: Sections(o.Material)}
	if len(d.parts) == 0 {
		return Result{}, ErrNothingToTest
	}
	if o.Tasks < 1 || o.Tasks > MaxTasks {
		return Result{}, fmt.Errorf("%d tasks are asked for, 1 to %d can be", o.Tasks, MaxTasks)
	}
	var err error
	if d.prompts, err = loadPrompts(); err != nil {
		return Result{}, err
	}
	if d.linter, err = newLinter(o.Material, d.parts); err != nil {
		return Result{}, err
	}
	if d.extract, err = check.ParseExtract(map[string]any{"tag": AnswerTag}); err != nil {
		return Result{}, fmt.Errorf("set up answers: %w", err)
	}
	wanted := Allot(d.parts, o.Tasks, o.Seed)
	for round := range rounds {
		if err := d.round(ctx, round+1, wanted); err != nil {
			return Result{}, err
		}
	}
	d.close(o.Tasks)
	return Result{Tasks: d.tasks(), Fell: d.fell}, nil
}

// ErrNothingToTest says that a skill holds no text apart from headings, examples and
// comments.
var ErrNothingToTest = errors.New("the skill states nothing that a task could test: it has no text but headings, code and comments")

// drafter is a draft under way.
type drafter struct {
	Options

	material Material
	parts    []Section
	prompts  prompts
	linter   *linter
	extract  *check.Extractor
	kept     []candidate
	fell     []Fall
}

func (d *drafter) fall(c candidate, why Reason, detail string) {
	d.fell = append(d.fell, Fall{Reason: why, Detail: excerpt(detail, 300), Prompt: excerpt(c.prompt, 120)})
}

// round asks for the tasks that parts still lack, and keeps those that hold.
func (d *drafter) round(ctx context.Context, n int, wanted []int) error {
	missing := slices.Clone(wanted)
	for _, c := range d.kept {
		missing[c.part] = max(0, missing[c.part]-1)
	}
	list := chunks(d.parts, missing)
	if len(list) == 0 {
		return nil
	}
	replies, err := d.write(ctx, n, list)
	if err != nil {
		return err
	}
	found := d.sift(n, list, replies)
	held, err := d.solve(ctx, found)
	if err != nil {
		return err
	}
	d.kept = append(d.kept, held...)
	return nil
}

// write asks for the tasks of chunks and returns what came, in their order; nil
// for a chunk whose reply is lost.
func (d *drafter) write(ctx context.Context, round int, list []chunk) ([][]proposal, error) {
	out := make([][]proposal, len(list))
	known := d.knownPrompts()
	err := d.each(ctx, model.StageDraft, len(list), func(ctx context.Context, i int) error {
		system, user, err := d.renderRequest(list[i], known[list[i].file])
		if err != nil {
			return err
		}
		text, err := d.Ask(ctx, Request{
			Key: fmt.Sprintf("r%d/c%d", round, i+1), Stage: model.StageDraft, System: system, User: user, Schema: replySchema(),
			Accept: func(text string) error {
				_, err := readReply(text)
				return err
			},
		})
		if errors.Is(err, ErrLost) {
			return nil
		}
		if err != nil {
			return err
		}
		out[i], err = readReply(text)
		return err
	})
	return out, err
}

// knownPrompts returns the prompts that are kept, by file.
func (d *drafter) knownPrompts() map[int][]string {
	out := map[int][]string{}
	for _, c := range d.kept {
		file := d.parts[c.part].File
		out[file] = append(out[file], c.prompt)
	}
	return out
}

// sift lints what came, in order.
func (d *drafter) sift(round int, list []chunk, replies [][]proposal) []candidate {
	var found []candidate
	for i, c := range list {
		for n, p := range replies[i] {
			p.id = fmt.Sprintf("r%d/c%d/t%d", round, i+1, n+1)
			switch {
			case n >= c.tasks():
				d.fall(p.candidate, Surplus, "")
				continue
			case p.err != nil:
				d.fall(p.candidate, NotWhole, p.err.Error())
				continue
			}
			one := p.candidate
			if why, detail := d.linter.lint(&one, c.file); why != "" {
				d.fall(one, why, detail)
				continue
			}
			found = append(found, one)
		}
		for n := len(replies[i]); n < c.tasks(); n++ {
			d.fall(candidate{}, NotWritten, "")
		}
	}
	return found
}

// each calls work for 0 to n-1 at once and waits for all. How many calls are in
// flight is for Ask to bound. An answer that comes later does not end the others:
// the one who gives it must find all requests of the round.
func (o Options) each(ctx context.Context, stage string, n int, work func(ctx context.Context, i int) error) error {
	group, ctx := taskgroup.WithContext(ctx)
	finished := make(chan struct{}, n)
	for i := range n {
		group.Go(func() error {
			err := work(ctx, i)
			finished <- struct{}{}
			if o.Progress != nil {
				o.Progress(stage, len(finished), n)
			}
			return err
		})
	}
	return group.Wait()
}

// close cuts what is more than wanted from the end.
func (d *drafter) close(wanted int) {
	for _, c := range d.kept[min(wanted, len(d.kept)):] {
		d.fall(c, Surplus, "")
	}
	d.kept = d.kept[:min(wanted, len(d.kept))]
}

// tasks returns what was kept, by parts, with names.
func (d *drafter) tasks() []Task {
	slices.SortStableFunc(d.kept, func(a, b candidate) int { return a.part - b.part })
	slugs := d.slugs()
	numbers := map[string]int{}
	out := make([]Task, len(d.kept))
	for i, c := range d.kept {
		name := slugs[c.part]
		numbers[name]++
		file := d.material.Files[d.parts[c.part].File]
		out[i] = Task{
			ID: fmt.Sprintf("%s-%d", name, numbers[name]), Type: name, Prompt: c.prompt, Gold: c.gold, Checks: c.checks, Doubts: c.doubts,
			Source: fmt.Sprintf("%s:%d: %s", file.Path, c.line, excerpt(file.Lines[c.line-1], 300)),
		}
	}
	return out
}

// slugs names the parts: by their headings, in plain letters. Two with the same
// heading share a name.
func (d *drafter) slugs() []string {
	out := make([]string, len(d.parts))
	for i, p := range d.parts {
		text := p.Title
		if text == "" {
			text = strings.TrimSuffix(d.material.Files[p.File].Path, ".md")
		}
		var b strings.Builder
		for _, r := range strings.ToLower(text) {
			switch {
			case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
				b.WriteByte('-')
			}
		}
		slug := b.String()
		out[i] = strings.Trim(slug[:min(len(slug), 32)], "-")
		if out[i] == "" {
			out[i] = "part-" + fmt.Sprint(i+1)
		}
	}
	return out
}

// Encode writes tasks as lines of a task file.
func Encode(tasks []Task) ([]byte, error) { return lines(tasks) }

// lines writes values as JSON, one a line.
func lines[T any](list []T) ([]byte, error) {
	var out []byte
	for _, t := range list {
		line, err := encode(t)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}
