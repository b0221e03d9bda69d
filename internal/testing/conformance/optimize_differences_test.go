package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

// optimizeDifferences are those of the reflect, aggregate and rank stages.
var optimizeDifferences = map[string][]difference{
	"rank_select": {{
		reason: "the budget is a hard limit: with a budget of 0 the reference lets the first selected edit through",
		holds:  zeroBudgetLetsOneThrough,
		want:   func(in, _ map[string]any) map[string]any { return nothingSelected(in) },
	}},
}

func zeroBudgetLetsOneThrough(in map[string]any) bool {
	n := len(in["edits"].([]any))
	if wholeNumber(in["budget"]) != 0 || n == 0 {
		return false
	}
	var reply struct {
		Selected []any `json:"selected_indices"`
	}
	dec := json.NewDecoder(strings.NewReader(in["response"].(string)))
	dec.UseNumber()
	if dec.Decode(&reply) != nil || len(reply.Selected) == 0 {
		return false
	}
	switch first := reply.Selected[0].(type) {
	case bool:
		return true
	case json.Number:
		i, err := first.Int64()
		return err == nil && i >= 0 && i < int64(n)
	}
	return false
}

func nothingSelected(in map[string]any) map[string]any {
	mode := modeOf(in["mode"])
	n := len(in["edits"].([]any))
	return map[string]any{"ok": map[string]any{
		"reasoning": fmt.Sprintf("R [fallback truncated %d->0 %s]", n, mode.Labels().Plural),
		mode.Key():  []any{},
	}}
}
