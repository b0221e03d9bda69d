package conformance

import "encoding/json"

// gateDifferences are the deliberate departures of gate.
var gateDifferences = map[string][]difference{
	"gate_eval": {{
		reason: "a candidate between a best that is below current and current is no progress: current is tested first",
		holds: func(in map[string]any) bool {
			if in["impl"] != "skillrl" {
				return false
			}
			c := gateCaseOf(in)
			candidate, err := c.candidateScore()
			return err == nil && c.BestScore < candidate && candidate <= c.CurrentScore
		},
		want: func(in, _ map[string]any) map[string]any {
			return map[string]any{"ok": map[string]any{
				"action":        "reject",
				"best_score":    in["best_score"],
				"best_skill":    in["best_skill"],
				"best_step":     in["best_step"],
				"current_score": in["current_score"],
				"current_skill": in["current_skill"],
			}}
		},
	}},
}

func gateCaseOf(in map[string]any) gateCase {
	var c gateCase
	if b, err := json.Marshal(in); err != nil || json.Unmarshal(b, &c) != nil {
		panic("recorded gate case is unreadable")
	}
	return c
}
