package conformance

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestLoadJSONOrJSONL(t *testing.T) {
	t.Parallel()
	run(t, "load_json_or_jsonl", checkLoadJSON)
}

func checkLoadJSON(in, out map[string]any) string {
	content, _ := in["content"].(string)
	items, err := task.Items([]byte(content))
	values := make([]any, len(items))
	for i, it := range items {
		values[i] = recordedNumbers(it.Value)
	}
	return diffRecorded(values, err, out)
}

// recordedNumbers writes numbers that JSON has not the way the vectors do. It
// changes v.
func recordedNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil && math.IsInf(f, 0) {
			return recordedNumbers(f)
		}
	case float64:
		name := "nan"
		if math.IsInf(v, 1) {
			name = "inf"
		}
		if math.IsInf(v, -1) {
			name = "-inf"
		}
		return map[string]any{"$nonfinite": name}
	case []any:
		for i := range v {
			v[i] = recordedNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = recordedNumbers(v[key])
		}
	}
	return v
}

// TestEvalSearchQA holds the answer tag, exact match and F1 against the SQuAD
// evaluation. The substring match is not ours.
func TestEvalSearchQA(t *testing.T) {
	t.Parallel()
	extractor, err := check.ParseExtract(map[string]any{"tag": "answer", "fallback": "last_line"})
	if err != nil {
		t.Fatal(err)
	}
	run(t, "eval_searchqa", func(in, out map[string]any) string {
		c := recordedAs[struct {
			Gold       []string `json:"gold"`
			Prediction string   `json:"prediction"`
		}](t, in)
		answer, err := extractor.Answer(c.Prediction)
		if err != nil {
			t.Fatal(err)
		}
		exact := 0
		if check.ExactMatch(answer, c.Gold) {
			exact = 1
		}
		want, _ := out["ok"].(map[string]any)
		want = map[string]any{"em": want["em"], "f1": want["f1"], "predicted_answer": want["predicted_answer"]}
		got := map[string]any{"em": exact, "f1": check.F1(answer, c.Gold), "predicted_answer": answer}
		return diffRecorded(got, nil, map[string]any{"ok": want})
	})
}
