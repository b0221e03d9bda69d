package night

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// partRun is part of the names of runs that measure a part of a proposal, before its number and digest.
const partRun = "-part-"

// Part is the result of a part of a proposal that was measured by itself.
type Part struct {
	Outcome Outcome
	Reason  string
	Look    Look
	Usage   Spent
}

// Measure compares a live document with a part of what a night has staged for it, on the tasks by which the night has confirmed the whole, on
// fresh answers, looked at once. It is a run of its own, which continues where it was cut short and is paid for once. The first part of a
// night's proposal for a document has the level of a confirmation, each further one half of the one before: who tries many finds one
// that seems better.
func Measure(ctx context.Context, o Options, r *Report, p *Proposal, id, text string) (Part, error) {
	n := newNight(o)
	if err := checkConfinement(n.Config, n.Places.Home); err != nil {
		return Part{}, err
	}
	report := *r
	n.report, n.purse = &report, newPurse(n.Config)
	at := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Target == id })
	if at < 0 || r.Targets[at].Confirmed == nil {
		return Part{}, inputError("night %s has measured nothing of %s: of fewer than %d independent tasks no part can be", r.ID, id, MinTrain)
	}
	jobs, err := settler{n}.loadJobs(ctx, at)
	if err != nil {
		return Part{}, err
	}
	j := &jobs[at]
	if j.doc.Digest() != r.Targets[at].LiveSHA {
		return Part{}, inputError("%s has changed since night %s: a part of what that staged cannot be measured any more", j.doc.File(), r.ID)
	}
	part, err := p.stagedSkill(id, j.folder)
	if err != nil {
		return Part{}, err
	}
	part = part.WithText(text)
	if err := (workshop{n}).lay(jobs, at, 0); err != nil {
		return Part{}, err
	}
	var out Part
	err = workshop{n}.runInWorkspaces(ctx, j, func() (err error) {
		out, err = trainer{n}.part(ctx, j, part)
		return err
	})
	return out, err
}

func inputError(format string, args ...any) error {
	return &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf(format, args...)}
}

// loadJobs returns the documents of a night as they lie now, the one at a place with the tasks that it was confirmed by.
func (n settler) loadJobs(ctx context.Context, at int) ([]job, error) {
	of, err := n.groupClusters(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(n.report.Targets))
	for i, t := range n.report.Targets {
		kind, name, _ := strings.Cut(t.Target, ":")
		group := name
		if target.Kind(kind) == target.Memory {
			group = ""
			jobs[i].doc, err = target.FindMemory(n.Places, name)
		} else {
			jobs[i].doc, err = target.FindSkill(n.Places, name)
		}
		if err != nil {
			return nil, err
		}
		jobs[i].folder, jobs[i].out = n.readFolder(jobs[i].doc), t
		if i == at {
			jobs[i].picked.tonight = slices.DeleteFunc(of[group], func(c bank.Cluster) bool { return !slices.Contains(t.Confirmed.Tasks, c.Tasks[0].Task.Task.ID) })
		}
	}
	if len(jobs[at].picked.tonight) == 0 {
		return nil, inputError("the tasks that %s was confirmed by are gone", n.report.Targets[at].Target)
	}
	return jobs, nil
}

// part has the live document and a part of what was staged answer tasks.
func (n trainer) part(ctx context.Context, j *job, part skill.Skill) (Part, error) {
	cfg := n.targetSettings(j)
	cfg.Limits, cfg.Gate.Metric, cfg.Gate.Group, cfg.Record.Reuse = n.purse.limits, "hard", "", "never" // a ceiling of its own
	if cfg.Agent.Name != "" {
		cfg.Agent.Documents = over(n.Config.Agent.Documents, j.others.live, j.doc)
	}
	name, lvl, err := n.partName(j, part)
	if err != nil {
		return Part{}, err
	}
	tasks := clusterTasks(j.picked.tonight, func(int) task.Split { return task.Selection })
	c, err := skillopt.Compare(ctx, cfg, j.live(), part, append(n.options(name), skillopt.WithTasks(tasks), skillopt.WithSplit(string(task.Selection)),
		skillopt.WithPasses(1), skillopt.WithOneLook(lvl))...)
	if err = errors.Join(err, n.keep(context.WithoutCancel(ctx), false)); err != nil {
		return Part{}, err
	}
	l := c.Look
	if l == nil {
		return Part{}, fmt.Errorf("measure a part: %s ended before its look", name)
	}
	out := Part{Usage: n.report.ByRun[name], Look: Look{
		Run: n.relativePath(filepath.Join(n.Dir, RunsDir, n.runName(name))), Level: lvl, Test: l.Test, N: l.N, Wins: l.Wins, Losses: l.Losses, Ties: l.Ties,
		Difference: c.Difference, AtLeast: l.AtLeast, Better: l.Certified, Tasks: []string{}, Unanswered: bothUnanswered(c),
	}}
	out.Outcome, out.Reason = Rejected, fmt.Sprintf("this part by itself is no better on fresh answers: won %d, lost %d of %d", l.Wins, l.Losses, l.N)
	switch d := c.Difference; {
	case l.Certified && !n.report.Explore:
		out.Outcome, out.Reason = Supported, fmt.Sprintf("this part by itself is better on these tasks: won %d, lost %d of %d on fresh answers, at a level of %.3g", l.Wins, l.Losses, l.N, lvl)
	case d != nil && *d > 0:
		out.Outcome, out.Reason = Suggested, fmt.Sprintf("this part by itself won %d and lost %d of %d on fresh answers: that can be luck", l.Wins, l.Losses, l.N)
	}
	out.Reason += refusedText(out.Look.Unanswered)
	return out, nil
}

// partName returns the name of the run that measures a part, with its number, and the level that this leaves.
func (n trainer) partName(j *job, part skill.Skill) (name string, lvl float64, err error) {
	begin := n.report.ID + "-" + slug(j.doc.ID()) + partRun
	digest := target.Digest(part.Text() + part.Digest())[:12]
	entries, err := os.ReadDir(filepath.Join(n.Dir, RunsDir))
	if err != nil {
		return "", 0, fmt.Errorf("list the runs of nights: %w", err)
	}
	number := 1
	for _, e := range entries {
		rest, of := strings.CutPrefix(e.Name(), n.runName(begin))
		k, of2, _ := strings.Cut(rest, "-")
		i, err := strconv.Atoi(k)
		switch {
		case !of || err != nil:
		case of2 == digest:
			return begin + rest, partLevel(i), nil
		default:
			number = max(number, i+1)
		}
	}
	return begin + strconv.Itoa(number) + "-" + digest, partLevel(number), nil
}

// partLevel returns the level of the k-th part of a proposal that is measured.
func partLevel(k int) float64 {
	lvl := supportedLevel
	for range k - 1 {
		lvl /= 2
	}
	return lvl
}
