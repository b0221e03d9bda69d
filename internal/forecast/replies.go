package forecast

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// fillSchema returns a small JSON value that a schema describes.
func fillSchema(schema []byte) string {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return "{}"
	}
	out, err := json.Marshal(fill(s))
	if err != nil {
		return "{}"
	}
	return string(out)
}

func fill(schema any) any {
	s, _ := schema.(map[string]any)
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	switch s["type"] {
	case "object":
		out := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(props)) {
			out[name] = fill(props[name])
		}
		return out
	case "array":
		n, _ := s["minItems"].(float64)
		out := make([]any, int(math.Max(1, n)))
		for i := range out {
			out[i] = fill(s["items"])
		}
		return out
	case "number", "integer":
		return 1
	case "boolean":
		return true
	}
	return strings.Repeat("word ", 12)
}

// scores returns the score of a rollout. A few scores of candidates that are held to what was won,
// and of several answers to a train task, are otherwise: what follows from that is counted too.
func (r *dryRun) scores(p rollout.Place, t task.Task, s skill.Skill) float64 {
	hard := r.solves(t, s)
	varies := r.keep && p.Sample == 0 && strings.HasSuffix(p.Prefix, "/gate/cand") || r.several && strings.HasSuffix(p.Prefix, "/rollout")
	if varies && chance(p.Key(t)) < priorFlips {
		return 1 - hard
	}
	return hard
}

// solves returns 1 when the skill holds enough edits that help for this task.
func (r *dryRun) solves(t task.Task, s skill.Skill) float64 {
	good := strings.Count(s.Text(), helpful)
	if r.alone && r.scenario.helps > 0 && skill.ExampleRanges(s.Text()) != nil {
		good++
	}
	share := solvable - (solvable-min(r.scenario.solved, solvable))*math.Pow(1-edgePerEdit, float64(good))
	if chance(t.ID) < share {
		return 1
	}
	return 0
}

// chance returns a number in [0, 1) that a text represents.
func chance(text string) float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	x := h.Sum64() // the last bytes reach only the low bits: mix them
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return float64((x^x>>33)>>11) / (1 << 53)
}

// helpful marks an edit of a placeholder that helps.
const helpful = "(helps)"

// ask returns the placeholder of the optimizer.
func (r *dryRun) ask(prefix string) optimize.Ask {
	return func(_ context.Context, q optimize.Request) (string, error) {
		reply := r.reply(prefix+"/"+q.Key, q.Stage)
		t := tally{calls: 1, asked: len(q.System) + len(q.User), said: len(reply)}
		if q.Schema != nil {
			t.asked += len(q.Schema.JSON)
		}
		if !r.isPaid(prefix + "/" + q.Key) {
			r.count(stageRole{q.Stage, model.Optimizer}, t)
		}
		if q.Accept != nil && q.Accept(reply) != nil {
			return "", optimize.ErrLost
		}
		return reply, nil
	}
}

// reply returns what a placeholder says in a stage.
func (r *dryRun) reply(key, stage string) string {
	why := strings.Repeat("word ", 24)
	patch := func(n int) map[string]any { return map[string]any{"reasoning": why, r.mode.Key(): r.items(key, n)} }
	var out any
	switch stage {
	case model.StageAnalystError, model.StageContrast:
		out = map[string]any{
			"batch_size": 8, "patch": patch(2),
			"failure_summary": []any{map[string]any{"failure_type": "wrong form", "count": 3, "description": why}},
		}
	case model.StageAnalystSuccess:
		out = map[string]any{"batch_size": 8, "success_patterns": []any{why}, "patch": patch(int(chance(key) + priorPraise))}
	case model.StageMerge, model.StageMergeFinal:
		out = patch(3)
	case model.StageRanking:
		chosen := []int{0, 1, 2}
		if strings.Contains(key, "/second/") { // which asks for fewer than there are
			chosen = chosen[:1]
		}
		out = map[string]any{"reasoning": why, "selected_indices": chosen}
	case model.StageLRAutonomous:
		out = map[string]any{"learning_rate": 2, "reasoning": why, "confidence": "low", "risk_notes": []any{}}
	case model.StageRewrite:
		out = map[string]any{"reasoning": why, "change_summary": []any{why}, "new_skill": r.grown(key)}
	case model.StageSlowUpdate:
		out = map[string]any{"reasoning": why, "slow_update_content": strings.Repeat("word ", 20)}
	case model.StageMetaSkill:
		out = map[string]any{"reasoning": why, "meta_skill_content": strings.Repeat("word ", 40)}
	default:
		return strings.Repeat("word ", 60)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	return string(text)
}

// items returns n proposals of a placeholder, in the form of the update mode.
func (r *dryRun) items(key string, n int) []any {
	out := make([]any, n)
	for i := range out {
		text := r.edit(fmt.Sprint(key, "#", i))
		switch r.mode {
		case optimize.ModeRewrite:
			out[i] = map[string]any{"type": "add", "title": "A rule", "motivation": text, "instruction": text, "priority_hint": "high"}
		case optimize.ModeFullRewrite:
			out[i] = map[string]any{"title": "A rule", "change_summary": []any{text}, "new_skill": r.grown(key)}
		default:
			out[i] = map[string]any{"op": "append", "target": "", "content": text, "support_count": 2, "source_type": "failure"}
		}
	}
	return out
}

// edit returns a line of its own that helps or not.
func (r *dryRun) edit(key string) string {
	text := fmt.Sprintf("- Rule %.0f", 1e6*chance(key))
	if chance(key+"?") < r.scenario.helps && !r.isPaid(key) {
		text += " " + helpful
	}
	return text + strings.Repeat(" word", max(0, r.scenario.length-len(text))/5)
}

// grown returns the skill with one edit more.
func (r *dryRun) grown(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.latest, "# Skill") + "\n" + r.edit(key)
}
