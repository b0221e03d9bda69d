package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// simulated is the target and the optimizer, told apart by the stage.
type simulated struct{ dials }

// Generate implements model.Client.
func (m simulated) Generate(_ context.Context, req model.Request) (model.Response, error) {
	q, sample := newQuestion(req.Model, req.Messages), ""
	if req.Seed != nil {
		sample = strconv.FormatInt(*req.Seed, 10)
	}
	text, err := m.answer(req.Tags.Stage, q, sample)
	if err != nil {
		return model.Response{}, err
	}
	usage := trajectory.Usage{Input: int64(len(q.system)+len(q.user)) / 4, Output: int64(len(text)+3) / 4}
	return model.Response{Text: text, Finish: model.FinishStop, Usage: usage, Model: req.Model}, nil
}

// answer returns the text of the answer to a question of a stage.
func (m simulated) answer(stage string, q question, sample string) (string, error) {
	var reply map[string]any
	switch stage {
	case stageRollout:
		return m.solve(q, sample), nil
	case stageReflection:
		return m.reflect(q), nil
	case stageError:
		reply = m.analyseFailures(q)
	case stageSuccess:
		reply = m.analyseSuccesses(q)
	case stageMerge, stageMergeFinal:
		reply = merge(q)
	case stageRanking:
		reply = m.rank(q)
	case stageSlow:
		reply = m.updateSlowly(q)
	case stageMeta:
		reply = map[string]any{"reasoning": "short", "meta_skill_content": "Prefer one rule a failing kind; do not repeat a rule that is already present."}
	default:
		return "", fmt.Errorf("stage %q is not simulated", stage)
	}
	data, err := json.MarshalIndent(reply, "", " ")
	if err != nil {
		return "", fmt.Errorf("encode the reply of %s: %w", stage, err)
	}
	return string(data), nil
}

// draw returns a number in [0, 1) that depends on the seed and on every part.
func (m simulated) draw(parts ...string) float64 {
	return chance(append([]string{strconv.FormatUint(m.seed, 10)}, parts...)...)
}

// solve answers a task: right if the skill holds the rule of its kind and no harm for it.
func (m simulated) solve(q question, sample string) string {
	id, kind := lastItem(q.user)
	if id == "" {
		return "<answer>unknown</answer>"
	}
	known := kindNumber(kind) < freeKinds || named(ruleText, q.system)[kind]
	if !known || named(harmText, q.system)[kind] || m.draw("noise", id) < m.noise || m.draw("flip", id, q.system, sample) < m.flip {
		return "No rule tells me how to read it.\n<answer>code unknown</answer>"
	}
	return "The registry entry of " + id + " gives it.\n<answer>" + codeWord(id) + "</answer>"
}

// updateSlowly writes guidance, with the rule of the most frequent kind that has none.
func (m simulated) updateSlowly(q question) map[string]any {
	guidance := "When unsure, look for the registry line of the item first."
	have := named(ruleText, q.skill())
	for _, k := range countKinds(q.trajectories()) {
		if !have[k.kind] && kindNumber(k.kind) >= freeKinds {
			guidance += "\n" + rule(k.kind)
			break
		}
	}
	return map[string]any{"reasoning": "longitudinal view", "slow_update_content": guidance}
}
