package optimize

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// LearningRateInput is what the model sees that decides on the edit budget of
// a step.
type LearningRateInput struct {
	Ask     Ask
	Prompts *prompt.Set
	Mode    Mode
	Patch   Patch  // as Aggregate returns it
	Skill   string // the current skill document

	RolloutHard *float64 // mean scores of the step's rollout, nil if unmeasured
	RolloutSoft *float64

	// With View.Whole also this is shown.
	View      View
	Rollouts  int    // measured rollouts of the step
	Failed    int    // of them, those that failed
	History   string // earlier steps of the epoch, as StepBuffer renders them
	MetaSkill string // the optimizer's memory, may be empty
}

// LearningRateResult is the edit budget that the model chose.
type LearningRateResult struct {
	LearningRate int      `json:"learning_rate"`          // 0 to Available
	Raw          int      `json:"raw_learning_rate"`      // as the model wrote it, not below 0
	Available    int      `json:"available_update_items"` // items of the patch
	Clamped      bool     `json:"clamped"`                // Raw was above Available
	Fallback     bool     `json:"fallback"`               // no usable number came: 0
	Confidence   string   `json:"confidence"`
	Reasoning    string   `json:"reasoning"`
	RiskNotes    []string `json:"risk_notes"`
	Calls        int      `json:"calls"`
	Lost         []string `json:"lost,omitempty"` // keys of requests without a usable reply
}

// LearningRate asks how many items of a patch to apply. Without items it asks
// nothing; without a usable reply the answer is 0, so that nothing is changed
// on a guess.
func LearningRate(ctx context.Context, in LearningRateInput) (LearningRateResult, error) {
	n := len(in.Patch.Items(in.Mode))
	if n == 0 {
		return LearningRateResult{RiskNotes: []string{}}, nil
	}
	text, err := in.Prompts.LearningRate(in.promptInput(n))
	if err != nil {
		return LearningRateResult{}, fmt.Errorf("learning rate question: %w", err)
	}
	q := Request{
		Key: "lr_autonomous", Stage: model.StageLRAutonomous, System: in.View.system(text.System), User: text.User,
		Schema: learningRateSchema(),
		Accept: func(reply string) error {
			if ParseLearningRate(reply, n).Fallback {
				return errors.New("learning rate reply: no whole number in the field \"learning_rate\" of a JSON object")
			}
			return nil
		},
	}
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		r := ParseLearningRate("", n)
		r.Calls, r.Lost = 1, []string{q.Key}
		return r, nil
	}
	if err != nil {
		return LearningRateResult{}, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	r := ParseLearningRate(reply, n)
	r.Calls = 1
	return r, nil
}

// promptInput returns what the model is shown of n items.
func (in LearningRateInput) promptInput(n int) prompt.LearningRateInput {
	out := prompt.LearningRateInput{
		Mode: string(in.Mode), Items: in.View.items(in.Patch, in.Mode), Count: n, Skill: in.Skill,
		Score: fmt.Sprintf("hard=%s soft=%s", scoreText(in.RolloutHard), scoreText(in.RolloutSoft)),
	}
	if in.View.Whole {
		out.Score += fmt.Sprintf(", %d of %d tasks failed", in.Failed, in.Rollouts)
		out.StepBuffer, out.MetaSkill = in.History, in.MetaSkill
	}
	return out
}

// ParseLearningRate reads the reply to a learning-rate request over n items.
// The number is clamped to 0..n; a reply without one gives 0 and is marked as
// a fallback. Broken JSON is not repaired: a number that decides how much
// changes is not guessed.
func ParseLearningRate(text string, n int) LearningRateResult {
	r := LearningRateResult{Available: n, Fallback: true, RiskNotes: []string{}}
	reply, err := jsonx.Exact(text)
	if err != nil {
		return r
	}
	r.Confidence, r.Reasoning = optionalText(reply["confidence"]), optionalText(reply["reasoning"])
	r.RiskNotes = append(r.RiskNotes, textList(reply["risk_notes"])...)
	raw, ok := schedule.CoerceBudget(reply["learning_rate"])
	if !ok {
		return r
	}
	r.Fallback, r.Raw, r.LearningRate, r.Clamped = false, raw, min(raw, n), raw > n
	return r
}

func learningRateSchema() *model.Schema {
	return namedSchema("learning_rate", objectSchema(
		property{"learning_rate", countSchema},
		property{"reasoning", textSchema},
		property{"confidence", levelSchema},
		property{"risk_notes", textsSchema},
	))
}
