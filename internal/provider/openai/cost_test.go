package openai

import (
	"encoding/json"
	"testing"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A cost is read where the server says it; counts that are none lose no answer.
func TestUsageInOddShapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		usage trajectory.Usage
		usd   float64 // -1: none
	}{
		`{"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.25}`:                    {trajectory.Usage{Input: 7, Output: 3}, 0.25},
		`{"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.25, "is_byok": true}`:   {trajectory.Usage{Input: 7, Output: 3}, -1},
		`{"prompt_tokens": 7, "completion_tokens": 3, "cost": "much", "is_byok": null}`: {trajectory.Usage{Input: 7, Output: 3}, -1},
		`{"prompt_tokens": 1e30, "completion_tokens": "many"}`:                          {trajectory.Usage{}, -1},
		`{"prompt_tokens": -1, "completion_tokens": null, "cost": null}`:                {trajectory.Usage{}, -1},
	} {
		var u wireUsage
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		usd := -1.0
		if said := u.usd(); said != nil {
			usd = *said
		}
		if u.counts() != want.usage || usd != want.usd {
			t.Errorf("%s: %+v, $%v", text, u.counts(), usd)
		}
	}
}
