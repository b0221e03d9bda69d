package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// AggregateInput is what the aggregate stage works on.
type AggregateInput struct {
	Ask     Ask
	Prompts *prompt.Set
	Mode    Mode
	FanIn   int // patches merged by one call; below 2 acts as 2

	Failures  []Patch // as NormalisePatches returns them
	Successes []Patch
	Skill     string // the current skill document
	MetaSkill string // the optimizer's memory, may be empty
	View      View   // of which the rules for files, and for whole skills, count
}

// AggregateResult is one patch made of many.
type AggregateResult struct {
	Patch Patch    `json:"patch"`
	Items int      `json:"items"`
	Calls int      `json:"calls"`          // requests sent
	Lost  []string `json:"lost,omitempty"` // keys of requests without a usable reply: their patches were concatenated
}

// Aggregate merges failure and success patches hierarchically: each group level
// by level, FanIn patches a call, all calls of a level at once and both groups
// side by side; a single leftover passes through. One last call merges the two
// groups, failures first in priority; a group without items is left out of it.
// A call without a usable reply is replaced by concatenation, so no edit gets
// lost. Merged items carry the level at which they were made (merge_level).
func Aggregate(ctx context.Context, in AggregateInput) (AggregateResult, error) {
	failures := merger{AggregateInput: in, source: skill.FromFailure}
	successes := merger{AggregateInput: in, source: skill.FromSuccess}
	var failed, succeeded merged
	g, gctx := taskgroup.WithContext(ctx)
	g.Go(func() (err error) {
		failed, err = failures.mergeAll(gctx, in.Failures)
		return err
	})
	g.Go(func() (err error) {
		succeeded, err = successes.mergeAll(gctx, in.Successes)
		return err
	})
	if err := g.Wait(); err != nil {
		return AggregateResult{}, err
	}
	last, err := in.mergeFinal(ctx, failed.patch, succeeded.patch)
	if err != nil {
		return AggregateResult{}, err
	}
	return AggregateResult{
		Patch: last.patch,
		Items: len(last.patch.Items(in.Mode)),
		Calls: failed.calls + succeeded.calls + last.calls,
		Lost:  append(append(failed.lost, succeeded.lost...), last.lost...),
	}, nil
}

// merged is a patch and what it took to make it.
type merged struct {
	patch Patch
	calls int
	lost  []string
}

// merger merges the patches of one group.
type merger struct {
	AggregateInput
	source skill.Source
}

// mergeAll reduces patches to one. Each level shrinks the list, since a chunk
// holds at least two patches unless it is the leftover.
func (m merger) mergeAll(ctx context.Context, patches []Patch) (merged, error) {
	fanIn := max(2, m.FanIn)
	var total merged
	for level := 1; len(patches) > 1; level++ {
		chunks := chunk(patches, fanIn)
		results := make([]merged, len(chunks))
		g, gctx := taskgroup.WithContext(ctx)
		for i, c := range chunks {
			g.Go(func() (err error) {
				results[i], err = m.mergeChunk(gctx, c, place{level, i})
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return merged{}, err
		}
		patches = patches[:0:0]
		for _, r := range results {
			patches = append(patches, r.patch)
			total.calls += r.calls
			total.lost = append(total.lost, r.lost...)
		}
	}
	if len(patches) == 1 {
		total.patch = patches[0]
	}
	return total, nil
}

// place is where in the tree of merges a call is.
type place struct{ level, index int }

func (m merger) mergeChunk(ctx context.Context, patches []Patch, at place) (merged, error) {
	if len(patches) == 1 {
		return merged{patch: patches[0]}, nil
	}
	text, err := m.Prompts.Merge(prompt.MergeInput{
		Mode:      string(m.Mode),
		Failures:  m.source == skill.FromFailure,
		Patches:   renderPatches(patches, m.Mode),
		MetaSkill: m.MetaSkill,
		Skill:     m.Skill,
		Level:     at.level,
	})
	if err != nil {
		return merged{}, fmt.Errorf("merge question: %w", err)
	}
	q := m.mergeRequest(text)
	q.Schema = mergeSchema(m.Mode, m.View.Forms)
	q.Key = fmt.Sprintf("merge/%s/%d/%d", m.source, at.level, at.index)
	q.Stage = model.StageMerge
	patch, err := m.askMerge(ctx, q)
	switch {
	case errors.Is(err, ErrLost):
		patch = NewPatch(m.Mode, "fallback concatenation", allItems(patches, m.Mode))
		return merged{patch: markLevel(patch, m.Mode, at.level), calls: 1, lost: []string{q.Key}}, nil
	case err != nil:
		return merged{}, err
	}
	patch = inheritProvenance(patch, m.Mode, allItems(patches, m.Mode))
	return merged{patch: markLevel(patch, m.Mode, at.level), calls: 1}, nil
}

// mergeFinal joins the two groups.
func (in AggregateInput) mergeFinal(ctx context.Context, failure, success Patch) (merged, error) {
	failed, succeeded := failure.Items(in.Mode), success.Items(in.Mode)
	switch {
	case len(failed) == 0 && len(succeeded) == 0:
		return merged{patch: NewPatch(in.Mode, "no updates from either group", nil)}, nil
	case len(succeeded) == 0:
		return merged{patch: failure}, nil
	case len(failed) == 0:
		return merged{patch: success}, nil
	}
	text, err := in.Prompts.MergeFinal(prompt.MergeFinalInput{
		Mode:         string(in.Mode),
		FailurePatch: renderItems(failed),
		SuccessPatch: renderItems(succeeded),
		MetaSkill:    in.MetaSkill,
		Skill:        in.Skill,
	})
	if err != nil {
		return merged{}, fmt.Errorf("final merge question: %w", err)
	}
	q := in.mergeRequest(text)
	q.Schema = mergeFinalSchema(in.Mode, in.View.Forms)
	q.Key, q.Stage = "merge_final", model.StageMergeFinal
	both := slices.Concat(failed, succeeded)
	patch, err := in.askMerge(ctx, q)
	switch {
	case errors.Is(err, ErrLost):
		patch = NewPatch(in.Mode, "fallback: failure first, then success", both)
		return merged{patch: patch, calls: 1, lost: []string{q.Key}}, nil
	case err != nil:
		return merged{}, err
	}
	return merged{patch: inheritProvenance(patch, in.Mode, both), calls: 1}, nil
}

func (in AggregateInput) mergeRequest(text prompt.Text) Request {
	return Request{
		System: in.View.system(text.System),
		User:   text.User,
		Accept: func(reply string) error {
			patch, err := ParseMerge(reply, in.Mode)
			if err != nil || in.Mode != ModeFullRewrite {
				return err
			}
			folder := in.View.folder(in.Skill)
			folder.Unseen = nil // the candidates hold the texts
			return folder.oneWholeSkill(patch.Items(in.Mode))
		},
	}
}

func (in AggregateInput) askMerge(ctx context.Context, q Request) (Patch, error) {
	reply, err := in.Ask(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	return ParseMerge(reply, in.Mode)
}
