package conformance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestComparisonPairs(t *testing.T) {
	t.Parallel()
	run(t, "comparison_pairs", func(in, out map[string]any) string {
		var tasks []task.Task
		for _, v := range in["items"].([]any) {
			item := v.(map[string]any)
			tasks = append(tasks, task.Task{
				ID:     fmt.Sprint(item["id"]),
				Prompt: firstOf(item, "task_description", "instruction", "question"),
			})
		}
		pairs := optimize.Compare(tasks, rolloutsOf(in["prev"]), rolloutsOf(in["curr"]))
		got := map[string]any{
			"pairs":     recordedPairs(pairs),
			"counts":    countByCategory(pairs),
			"changed":   idsOf(optimize.SelectPairs(pairs, optimize.PairsChanged)),
			"unchanged": idsOf(optimize.SelectPairs(pairs, optimize.PairsUnchanged)),
		}
		return diffRecorded(got, nil, out)
	})
}

func firstOf(m map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, ok := m[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// rolloutsOf reads recorded results. A hard score may be a boolean.
func rolloutsOf(v any) []trajectory.Outcome {
	var outcomes []trajectory.Outcome
	for _, r := range v.([]any) {
		m := r.(map[string]any)
		outcomes = append(outcomes, trajectory.Outcome{
			ID:         fmt.Sprint(m["id"]),
			Type:       firstOf(m, "task_type"),
			Hard:       rolloutScore(m["hard"]),
			Soft:       rolloutScore(m["soft"]),
			Answer:     firstOf(m, "predicted_answer", "answer"),
			FailReason: firstOf(m, "fail_reason"),
		})
	}
	return outcomes
}

func rolloutScore(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return 0
}

// recordedPairs writes pairs as the vectors do, where hard scores are 0 or 1.
func recordedPairs(pairs []optimize.Pair) []any {
	list := []any{}
	side := func(s optimize.Side) map[string]any {
		hard := 0
		if s.Hard > 0 {
			hard = 1
		}
		return map[string]any{"hard": hard, "soft": s.Soft, "predicted_answer": s.Answer, "fail_reason": s.FailReason}
	}
	for _, p := range pairs {
		list = append(list, map[string]any{
			"id": p.ID, "category": p.Category, "task": p.Task, "prev": side(p.Prev), "curr": side(p.Curr),
		})
	}
	return list
}

func countByCategory(pairs []optimize.Pair) map[optimize.Category]int {
	counts := map[optimize.Category]int{
		optimize.Improved: 0, optimize.Regressed: 0, optimize.PersistentFail: 0, optimize.StableSuccess: 0,
	}
	for _, p := range pairs {
		counts[p.Category]++
	}
	return counts
}

func idsOf(pairs []optimize.Pair) []string {
	ids := []string{}
	for _, p := range pairs {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestPairPolicy(t *testing.T) {
	t.Parallel()
	run(t, "pair_policy", func(in, out map[string]any) string {
		policy, err := optimize.ParsePairPolicy(truthyText(in["policy"]))
		return diffRecorded(policy, err, out)
	})
}

func TestRepresentativeItems(t *testing.T) {
	t.Parallel()
	run(t, "representative_items", func(in, out map[string]any) string {
		types := map[string]string{}
		for _, v := range in["items"].([]any) {
			item := v.(map[string]any)
			types[fmt.Sprint(item["id"])] = firstOf(item, "task_type", "subtype")
		}
		got := optimize.Representative(optimize.RepresentativeInput{
			Outcomes: rolloutsOf(in["results"]), Types: types,
			Failures: wholeNumber(in["n_failures"]), Successes: wholeNumber(in["n_successes"]),
			Seed: int64(wholeNumber(in["seed"])),
		})
		if got == nil {
			got = []string{}
		}
		return diffRecorded(got, nil, out)
	})
}

func TestSafePairID(t *testing.T) {
	t.Parallel()
	run(t, "safe_pair_id", func(in, out map[string]any) string {
		return diffRecorded(optimize.SafePairID(fmt.Sprint(in["value"])), nil, out)
	})
}

func TestOptimizerReply(t *testing.T) {
	t.Parallel()
	run(t, "optimizer_reply", checkOptimizerReply)
}

func checkOptimizerReply(in, out map[string]any) string {
	text := in["response"].(string)
	slow, err := optimize.ParseSlowUpdate(text)
	if diff := diffReply("slow_update", guidance("slow_update_content", slow), err, out); diff != "" {
		return diff
	}
	meta, err := optimize.ParseMetaSkill(text)
	if diff := diffReply("meta_skill", guidance("meta_skill_content", meta), err, out); diff != "" {
		return diff
	}
	rewrite, err := optimize.ParseRewrite(text)
	return diffReply("rewrite", rewrite, err, out)
}

func guidance(field string, g optimize.Guidance) map[string]any {
	return map[string]any{field: g.Content, "reasoning": g.Reasoning}
}

// diffReply compares a parsed reply with the recorded one, where null stands
// for a reply that cannot be used.
func diffReply(key string, got any, err error, out map[string]any) string {
	if err != nil {
		got = nil
	}
	if diff := diffRecorded(got, nil, out[key].(map[string]any)); diff != "" {
		return key + ": " + diff
	}
	return ""
}

func TestLRAutonomous(t *testing.T) {
	t.Parallel()
	run(t, "lr_autonomous", func(in, out map[string]any) string {
		r := optimize.ParseLearningRate(in["response"].(string), wholeNumber(in["n_items"]))
		got := map[string]any{
			"learning_rate": r.LearningRate, "raw_learning_rate": r.Raw, "available_update_items": r.Available,
			"clamped": r.Clamped, "fallback": r.Fallback, "confidence": r.Confidence, "reasoning": r.Reasoning,
			"risk_notes": r.RiskNotes, "raw_response": in["response"],
		}
		return diffRecorded(got, nil, out)
	})
}
