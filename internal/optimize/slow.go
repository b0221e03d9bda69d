package optimize

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// SlowInput is what the slow update works on.
type SlowInput struct {
	Ask      Ask
	Prompts  *prompt.Set
	Previous string // skill document at the end of the previous epoch
	Current  string // skill document now; its region holds the guidance so far
	Pairs    []Pair // the two on the same tasks
	View     View   // what is shown of them
}

// SlowResult is the guidance for the slow-update region of the skill.
type SlowResult struct {
	Content   string   `json:"slow_update_content"` // without region markers; "" if the reply was lost
	Reasoning string   `json:"reasoning"`
	Calls     int      `json:"calls"`
	Lost      []string `json:"lost,omitempty"` // keys of requests without a usable reply
}

// SlowUpdate asks for guidance that takes the place of the one in Current. It
// does not decide whether the guidance is taken over.
func SlowUpdate(ctx context.Context, in SlowInput) (SlowResult, error) {
	told, pairs := in.View.writePairs(in.Pairs)
	text, err := in.Prompts.SlowUpdate(prompt.SlowUpdateInput{
		PreviousSkill:    in.Previous,
		CurrentSkill:     in.Current,
		PreviousGuidance: skill.SlowText(in.Current),
		Agent:            told,
		Comparison:       pairs,
	})
	if err != nil {
		return SlowResult{}, fmt.Errorf("slow update question: %w", err)
	}
	q := Request{
		Key: "slow_update", Stage: model.StageSlowUpdate, System: text.System, User: text.User,
		Schema: namedSchema("slow_update", objectSchema(property{"reasoning", textSchema}, property{slowField, textSchema})),
	}
	g, err := askGuidance(ctx, in.Ask, q, slowField)
	if errors.Is(err, ErrLost) {
		return SlowResult{Calls: 1, Lost: []string{q.Key}}, nil
	}
	if err != nil {
		return SlowResult{}, err
	}
	return SlowResult{Content: g.Content, Reasoning: g.Reasoning, Calls: 1}, nil
}

// Fields that hold the guidance.
const (
	slowField = "slow_update_content"
	metaField = "meta_skill_content"
)

// Guidance is a text that the optimizer wrote at the end of an epoch.
type Guidance struct {
	Content   string // trimmed, as is the reasoning
	Reasoning string
}

// ParseSlowUpdate reads the reply to a slow-update request. Values that are no
// text are turned into text. A missing, empty or null content is an error;
// white space is empty guidance.
func ParseSlowUpdate(text string) (Guidance, error) {
	g, err := parseGuidance(text, slowField)
	if err != nil {
		return Guidance{}, fmt.Errorf("slow update reply: %w", err)
	}
	return g, nil
}

func parseGuidance(text, field string) (Guidance, error) {
	reply, err := jsonx.Object(text)
	if err != nil {
		return Guidance{}, err
	}
	raw, ok := reply[field]
	if !ok {
		return Guidance{}, fmt.Errorf("the field %q is missing", field)
	}
	if !pytext.Truthy(raw) {
		return Guidance{}, fmt.Errorf("the field %q is empty", field)
	}
	g := Guidance{Content: trimSpace(pytext.Text(raw))}
	if reasoning, ok := reply["reasoning"]; ok {
		g.Reasoning = trimSpace(pytext.Text(reasoning))
	}
	return g, nil
}

// askGuidance asks for a text. It is stricter than the parsers: the content
// must be a string and say something apart from the markers of a region, which
// are taken out of it, as are characters that steer or hide.
func askGuidance(ctx context.Context, ask Ask, q Request, field string) (Guidance, error) {
	read := func(text string) (Guidance, error) {
		reply, err := jsonx.Object(text)
		if err != nil {
			return Guidance{}, fmt.Errorf("%s reply: %w", q.Stage, err)
		}
		content, ok := reply[field].(string)
		if !ok {
			return Guidance{}, fmt.Errorf("%s reply: the field %q is not a string", q.Stage, field)
		}
		content = trimSpace(skill.StripMarkers(skill.Plain(content)))
		if content == "" {
			return Guidance{}, fmt.Errorf("%s reply: the field %q is empty", q.Stage, field)
		}
		return Guidance{Content: content, Reasoning: optionalText(reply["reasoning"])}, nil
	}
	q.Accept = func(text string) error {
		_, err := read(text)
		return err
	}
	reply, err := ask(ctx, q)
	if err != nil {
		return Guidance{}, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	return read(reply)
}
