package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// SecondTryInput is what the choice of the edits of a second try works on.
type SecondTryInput struct {
	Ask     Ask
	Prompts *prompt.Set

	Edits []skill.Edit // of the bundle that was not accepted; at least two
	Fared []Fared      // how the tasks that judge went with it

	Skill     string // the current skill document
	MetaSkill string // the optimizer's memory, may be empty
	View      View   // what is shown of the edits
}

// SecondTryResult is what of a bundle is tried again.
type SecondTryResult struct {
	Keep      []int   `json:"keep"` // 0-based indices of the edits, ascending; empty: there is no second try
	Of        int     `json:"of"`   // edits of the bundle
	Fared     []Fared `json:"fared"`
	Reasoning string  `json:"reasoning,omitempty"`
	// Keys of requests without a usable reply.
	Lost []string `json:"lost,omitempty"`
}

// SecondTry asks which edits of a rejected bundle deserve another try without the others.
// Without a usable reply there is none.
func SecondTry(ctx context.Context, in SecondTryInput) (SecondTryResult, error) {
	n := len(in.Edits)
	out := SecondTryResult{Keep: []int{}, Of: n, Fared: in.Fared}
	items := make([]any, n)
	for i, e := range in.Edits {
		items[i] = map[string]any{"op": string(e.Op), "file": e.File, "target": e.Target, "content": e.Content}
	}
	text, err := in.Prompts.SecondTry(prompt.SecondTryInput{
		Budget: n - 1, Fared: RenderFared(in.Fared), Items: in.View.items(NewPatch(ModePatch, "", items), ModePatch),
		Skill: in.Skill, MetaSkill: in.MetaSkill,
	})
	if err != nil {
		return out, fmt.Errorf("second try question: %w", err)
	}
	q := Request{
		Key: "ranking", Stage: model.StageRanking, System: in.View.system(text.System), User: text.User, Schema: rankingSchema(),
		Accept: func(reply string) error {
			_, _, err := parseKept(reply, n)
			return err
		},
	}
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		out.Lost = []string{"second/" + q.Key}
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	out.Keep, out.Reasoning, err = parseKept(reply, n)
	return out, err
}

// parseKept reads which of n edits a reply keeps. One that keeps all has not chosen.
func parseKept(text string, n int) (keep []int, reasoning string, err error) {
	reply, err := jsonx.Object(text)
	if err != nil {
		return nil, "", fmt.Errorf("second try reply: %w", err)
	}
	list, ok := reply["selected_indices"].([]any)
	if !ok {
		return nil, "", errors.New(`second try reply: the field "selected_indices" is not a list`)
	}
	keep = validIndices(list, n)
	switch {
	case len(keep) == 0 && len(list) > 0:
		return nil, "", fmt.Errorf("second try reply: selected_indices holds no index between 0 and %d", n-1)
	case len(keep) == n:
		return nil, "", fmt.Errorf("second try reply: all %d edits are selected; at least one is to be left out", n)
	}
	slices.Sort(keep)
	reasoning, _ = reply["reasoning"].(string)
	return append([]int{}, keep...), reasoning, nil
}
