package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bounds on what is read of a reply with trigger tasks.
const (
	maxTriggerPrompt = 8 << 10 // bytes
	maxTriggerList   = 100     // prompts; a call is asked for 2*TasksPerCall
	maxWhy           = 300     // characters; the rest is cut
)

// triggerSchema describes a reply for servers with structured output.
func triggerSchema() *model.Schema {
	return &model.Schema{Name: "drafted_prompts", JSON: json.RawMessage(`{"type":"object","properties":{"prompts":{"type":"array","items":{` +
		`"type":"object","properties":{"trigger":{"type":"string","enum":["should","should_not"]},"prompt":{"type":"string"},"why":{"type":"string"}},` +
		`"required":["trigger","prompt","why"],"additionalProperties":false}}},` +
		`"required":["prompts"],"additionalProperties":false}`)}
}

// triggerProposal is a trigger task as a reply has it: read, and not yet believed.
type triggerProposal struct {
	triggerCandidate
	err error // why it is no task
}

// readTriggers reads what a call brought. The error says why the reply is of no use; what is
// wrong with a single prompt is in its proposal.
func readTriggers(text string) ([]triggerProposal, error) {
	reply, err := jsonx.UniqueObject(text)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	list, ok := reply["prompts"].([]any)
	switch {
	case !ok:
		return nil, errors.New(`draft: the field "prompts", a list, is missing`)
	case len(list) == 0:
		return nil, errors.New(`draft: the list "prompts" is empty`)
	case len(list) > maxTriggerList:
		return nil, fmt.Errorf(`draft: the list "prompts" has %d entries, at most %d are read: write as many as were asked for`, len(list), maxTriggerList)
	}
	out := make([]triggerProposal, len(list))
	for i, v := range list {
		out[i].err = out[i].read(v)
	}
	return out, nil
}

func (c *triggerCandidate) read(v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return errors.New("it is no object")
	}
	raw := scalarText(m["prompt"])
	c.prompt = strings.TrimSpace(wording.Plain(raw))
	switch {
	case c.prompt == "":
		return errors.New("it has no prompt")
	case len(words(c.prompt)) == 0:
		return errors.New("its prompt has no words")
	case len(c.prompt) > maxTriggerPrompt:
		return fmt.Errorf("its prompt has %d bytes, at most %d are allowed", len(c.prompt), maxTriggerPrompt)
	case strings.ContainsRune(raw, 0):
		return errors.New("its prompt holds a zero byte")
	}
	kind := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(scalarText(m["trigger"]))))
	if c.kind = task.Trigger(kind); c.kind != task.TriggerShould && c.kind != task.TriggerShouldNot {
		return fmt.Errorf("its trigger is %q, allowed: %s, %s", excerpt(wording.Plain(scalarText(m["trigger"])), 40), task.TriggerShould, task.TriggerShouldNot)
	}
	c.why = excerpt(wording.Plain(scalarText(m["why"])), maxWhy)
	return nil
}
