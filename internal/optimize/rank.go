package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
)

// RankInput is what the rank stage works on.
type RankInput struct {
	Ask     Ask
	Prompts *prompt.Set
	Mode    Mode
	Patch   Patch // as Aggregate returns it
	Budget  int   // most items that may pass; below 0 acts as 0

	Skill     string // the current skill document
	MetaSkill string // the optimizer's memory, may be empty
	View      View   // what is shown of the items
}

// RankResult is the part of a patch that keeps the budget.
type RankResult struct {
	Patch    Patch  `json:"patch"`
	Total    int    `json:"total"`    // items before the selection
	Items    int    `json:"items"`    // items after it, never above the budget
	Selected []int  `json:"selected"` // their 0-based indices, in the order chosen
	Method   Method `json:"method"`
	Calls    int    `json:"calls"`
	// Keys of requests without a usable reply.
	Lost []string `json:"lost,omitempty"`
}

// Method says how the items of a RankResult were chosen.
type Method string

const (
	KeptAll   Method = "all"       // there were no more than the budget
	ByModel   Method = "ranked"    // the optimizer chose
	Truncated Method = "truncated" // the first ones, since the budget is 0 or no usable reply came
)

// Rank keeps at most Budget items of a patch. The optimizer is asked only when
// there are more; without a usable reply the first ones are kept. ModeFullRewrite
// has no budget: all items pass, with View.Whole in the order of the optimizer, who is
// asked if there are several.
func Rank(ctx context.Context, in RankInput) (RankResult, error) {
	items := in.Patch.Items(in.Mode)
	in.Budget = max(0, in.Budget)
	whole := in.Mode == ModeFullRewrite && in.View.Whole && len(items) > 1
	if whole {
		in.Budget = len(items)
	} else if len(items) <= in.Budget || in.Mode == ModeFullRewrite {
		return RankResult{
			Patch: in.Patch, Total: len(items), Items: len(items), Selected: upTo(len(items)), Method: KeptAll,
		}, nil
	}
	if in.Budget == 0 {
		return in.keepFirst(items), nil
	}
	text, err := in.Prompts.Ranking(prompt.RankingInput{
		Mode:      string(in.Mode),
		Budget:    in.Budget,
		Items:     in.View.items(in.Patch, in.Mode),
		Skill:     in.Skill,
		MetaSkill: in.MetaSkill,
	})
	if err != nil {
		return RankResult{}, fmt.Errorf("ranking question: %w", err)
	}
	q := Request{
		Key: "ranking", Stage: model.StageRanking, System: in.View.system(text.System), User: text.User,
		Schema: rankingSchema(),
		Accept: func(reply string) error {
			_, err := ParseRanking(reply, len(items), in.Budget)
			return err
		},
	}
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		r := in.keepFirst(items)
		r.Calls, r.Lost = 1, []string{q.Key}
		return r, nil
	}
	if err != nil {
		return RankResult{}, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	ranking, err := ParseRanking(reply, len(items), in.Budget)
	if err != nil {
		return RankResult{}, err
	}
	if whole {
		ranking.Selected = withRest(ranking.Selected, len(items))
	}
	return in.keepSelected(items, ranking), nil
}

// keepFirst keeps the first items.
func (in RankInput) keepFirst(items []any) RankResult {
	note := fmt.Sprintf("[fallback truncated %d->%d %s]", len(items), in.Budget, in.Mode.Labels().Plural)
	return RankResult{
		Patch:    in.Patch.with(in.Mode, items[:in.Budget:in.Budget]).withNote(note),
		Total:    len(items),
		Items:    in.Budget,
		Selected: upTo(in.Budget),
		Method:   Truncated,
	}
}

// keepSelected keeps what the optimizer chose, in its order.
func (in RankInput) keepSelected(items []any, r Ranking) RankResult {
	chosen := make([]any, len(r.Selected))
	for i, index := range r.Selected {
		chosen[i] = items[index]
	}
	note := fmt.Sprintf("[optimizer-ranked: selected %d/%d %s]", len(chosen), len(items), in.Mode.Labels().Plural)
	patch := in.Patch.with(in.Mode, chosen).withNote(note)
	patch["ranking_details"] = r.Reply
	return RankResult{
		Patch: patch, Total: len(items), Items: len(chosen), Selected: r.Selected, Method: ByModel, Calls: 1,
	}
}

// withRest puts behind what was selected of n what was not: should the first of them be
// of no use, the next is tried.
func withRest(selected []int, n int) []int {
	for _, i := range upTo(n) {
		if !slices.Contains(selected, i) {
			selected = append(selected, i)
		}
	}
	return selected
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
