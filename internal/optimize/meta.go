package optimize

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
)

// MetaInput is what the meta skill's renewal works on.
type MetaInput struct {
	Ask          Ask
	Prompts      *prompt.Set
	PreviousMeta string // the optimizer's memory so far, "" if there is none
	Previous     string // skill document at the end of the previous epoch
	Current      string // skill document now
	Pairs        []Pair // the two on the same tasks
	View         View   // what is shown of them
	History      string // steps of the epoch with their decisions, as StepBuffer renders them
}

// MetaResult is the optimizer's memory. It is passed to later stages and never
// enters the skill.
type MetaResult struct {
	Content   string   `json:"meta_skill_content"` // "" if the reply was lost: the memory stays as it was
	Reasoning string   `json:"reasoning"`
	Calls     int      `json:"calls"`
	Lost      []string `json:"lost,omitempty"` // keys of requests without a usable reply
}

// MetaSkill asks the optimizer to renew its memory.
func MetaSkill(ctx context.Context, in MetaInput) (MetaResult, error) {
	_, pairs := in.View.writePairs(in.Pairs) // the memory is about edits, not about what the agent was given
	text, err := in.Prompts.MetaSkill(prompt.MetaSkillInput{
		PreviousMeta:  in.PreviousMeta,
		PreviousSkill: in.Previous,
		CurrentSkill:  in.Current,
		Comparison:    pairs,
		History:       in.History,
	})
	if err != nil {
		return MetaResult{}, fmt.Errorf("meta skill question: %w", err)
	}
	q := Request{
		Key: "meta_skill", Stage: model.StageMetaSkill, System: text.System, User: text.User,
		Schema: namedSchema("meta_skill", objectSchema(property{"reasoning", textSchema}, property{metaField, textSchema})),
	}
	g, err := askGuidance(ctx, in.Ask, q, metaField)
	if errors.Is(err, ErrLost) {
		return MetaResult{Calls: 1, Lost: []string{q.Key}}, nil
	}
	if err != nil {
		return MetaResult{}, err
	}
	return MetaResult{Content: g.Content, Reasoning: g.Reasoning, Calls: 1}, nil
}

// ParseMetaSkill reads the reply to a meta-skill request. Values that are no
// text are turned into text. A missing, empty or blank content is an error.
func ParseMetaSkill(text string) (Guidance, error) {
	g, err := parseGuidance(text, metaField)
	if err == nil && g.Content == "" {
		err = fmt.Errorf("the field %q is blank", metaField)
	}
	if err != nil {
		return Guidance{}, fmt.Errorf("meta skill reply: %w", err)
	}
	return g, nil
}
