package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/sleeptasks"
	"github.com/seed-f4525e22/skillopt/score"
)

// sleepTasks are recorded tasks.
func sleepTasks(in map[string]any) (tasks []sleeptasks.Task) {
	for _, raw := range in["tasks"].([]any) {
		t := raw.(map[string]any)
		tasks = append(tasks, sleeptasks.Task{ID: t["id"].(string), Project: t["project"].(string), Intent: t["intent"].(string), Split: t["split"].(string)})
	}
	return tasks
}

func TestSleepTaskID(t *testing.T) {
	t.Parallel()
	run(t, "sleep_task_id", func(in, out map[string]any) string {
		return diffRecorded(sleeptasks.TaskID(in["project"].(string), in["intent"].(string)), nil, out)
	})
}

func TestSleepDedup(t *testing.T) {
	t.Parallel()
	run(t, "sleep_dedup", func(in, out map[string]any) string {
		rows := []string{}
		for _, t := range sleeptasks.Dedupe(sleepTasks(in)) {
			rows = append(rows, t.ID+"|"+t.Intent)
		}
		return diffRecorded(rows, nil, out)
	})
}

// The ids of these tasks were made unique by their places.
func TestSleepAssignSplits(t *testing.T) {
	t.Parallel()
	run(t, "sleep_assign_splits", func(in, out map[string]any) string {
		tasks := sleepTasks(in)
		for i := range tasks {
			tasks[i].ID = fmt.Sprintf("%s-%d", tasks[i].ID, i)
		}
		divided, err := sleeptasks.AssignSplits(tasks, sleeptasks.DefaultShares(), recordedAs[int64](t, in["seed"]))
		rows := [][]string{}
		for _, t := range divided {
			rows = append(rows, []string{t.ID, t.Split})
		}
		return diffRecorded(rows, err, out)
	})
}

func TestSleepSplit(t *testing.T) {
	t.Parallel()
	run(t, "sleep_split", func(in, out map[string]any) string {
		s := sleeptasks.Slice(sleepTasks(in))
		ids := func(tasks []sleeptasks.Task) []string {
			out := []string{}
			for _, t := range tasks {
				out = append(out, t.ID)
			}
			return out
		}
		return diffRecorded(map[string]any{"train": ids(s.Train), "val": ids(s.Val), "extra": []bool{s.Leaked}}, nil, out)
	})
}

// The mean of no tasks is told apart from a mean of 0 elsewhere: here both are what was recorded.
func TestSleepAggregate(t *testing.T) {
	t.Parallel()
	run(t, "sleep_aggregate", func(in, out map[string]any) string {
		mean := score.Mean(sleepPairs(t, in["scores"]))
		return diffRecorded([]float64{mean.Hard, mean.Soft}, nil, out)
	})
}

// sleepPairs are recorded rows of hard and soft scores.
func sleepPairs(t *testing.T, rows any) (pairs []score.Pair) {
	for _, row := range rows.([]any) {
		pairs = append(pairs, sleepPair(t, row))
	}
	return pairs
}

func sleepPair(t *testing.T, row any) score.Pair {
	t.Helper()
	list := row.([]any)
	hard, ok := sleepNumber(list[0])
	soft, also := sleepNumber(list[1])
	if !ok || !also {
		t.Fatalf("recorded scores %v: want two numbers", row)
	}
	return score.Pair{Hard: hard, Soft: soft}
}

func TestSleepTaskDeltas(t *testing.T) {
	t.Parallel()
	run(t, "sleep_task_deltas", func(in, out map[string]any) string {
		arm := func(name string) map[string]score.Pair {
			pairs := map[string]score.Pair{}
			for id, row := range in[name].(map[string]any) {
				pairs[id] = sleepPair(t, row)
			}
			return pairs
		}
		weight, _ := sleepNumber(in["weight"])
		by := score.Projection{Metric: score.Metric(in["metric"].(string)), MixedWeight: weight}
		deltas, err := sleeptasks.Deltas(textList(in["ids"]), arm("baseline"), arm("candidate"), by)
		rows := []any{}
		for _, d := range deltas {
			rows = append(rows, map[string]any{
				"task_id": d.TaskID, "tags": []string{}, "baseline_score": d.Baseline, "candidate_score": d.Candidate, "status": d.Status, "scores_are_finite": d.Finite,
			})
		}
		return diffRecorded(rows, err, out)
	})
}

func TestSleepCharBound(t *testing.T) {
	t.Parallel()
	run(t, "sleep_char_bound", func(in, out map[string]any) string {
		got, err := sleeptasks.CharBound(unmarked(in["arg"]))
		return diffRecorded(got, err, out)
	})
}

func TestSleepRefusal(t *testing.T) {
	t.Parallel()
	run(t, "sleep_refusal", func(in, out map[string]any) string {
		answer, _ := in["response"].(string)
		return diffRecorded(sleeptasks.Refusal(answer), nil, out)
	})
}

// unmarked is a recorded value in which numbers that JSON has not are those numbers.
func unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unmarked(e)
		}
		return out
	case map[string]any:
		if name, ok := v["$nonfinite"].(string); ok {
			f, err := strconv.ParseFloat(name, 64)
			if err != nil {
				return v
			}
			return f
		}
		out := map[string]any{}
		for key, e := range v {
			out[key] = unmarked(e)
		}
		return out
	}
	return v
}

// unread is what a message says of a pattern that is none, whose words are free.
var unread = regexp.MustCompile(`(\[invalid regex|regex does not compile) \([^\n]*?\)(\]|: )`)

// freed is a recorded value without words that are free.
func freed(v any) any {
	switch v := v.(type) {
	case string:
		return unread.ReplaceAllString(v, "$1$2")
	case []string:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = freed(e)
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = freed(e)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for key, e := range v {
			object[key] = freed(e)
		}
		return object
	}
	return v
}

func TestSleepJudge(t *testing.T) {
	t.Parallel()
	run(t, "sleep_judge", func(in, out map[string]any) string {
		answer, _ := in["response"].(string)
		var tools []string
		if in["tools_called"] != nil {
			tools = textList(in["tools_called"])
		}
		v, err := sleeptasks.Judge(unmarked(in["judge"]), answer, tools)
		return diffRecorded([]any{v.Hard, v.Soft, freed(v.Why)}, err, freed(out).(map[string]any))
	})
}

func TestSleepJudgeValidate(t *testing.T) {
	t.Parallel()
	run(t, "sleep_judge_validate", func(in, out map[string]any) string {
		judge := unmarked(in["judge"])
		faults, warnings := sleeptasks.Validate(judge)
		return diffRecorded([]any{freed(append([]string{}, faults...)), freed(append([]string{}, warnings...))}, nil, freed(out["validate"]).(map[string]any)) +
			diffRecorded(sleeptasks.ShapeOnly(judge), nil, out["shape_only"].(map[string]any))
	})
}

func TestSleepLearned(t *testing.T) {
	t.Parallel()
	run(t, "sleep_learned", func(in, out map[string]any) string {
		doc := in["doc"].(string)
		return cmp.Diff(out, map[string]any{
			"extract": map[string]any{"ok": sleeptasks.Learned(doc)},
			"lines":   map[string]any{"ok": anyList(sleeptasks.LearnedLines(doc))},
			"strip":   map[string]any{"ok": sleeptasks.WithoutLearned(doc)},
			"set":     map[string]any{"ok": sleeptasks.WithLearned(doc, textList(in["lines"]))},
		})
	})
}

func TestSleepMemoryEdits(t *testing.T) {
	t.Parallel()
	run(t, "sleep_memory_edits", func(in, out map[string]any) string {
		var edits []sleeptasks.LearnedEdit
		for _, raw := range in["edits"].([]any) {
			e := raw.(map[string]any)
			edits = append(edits, sleeptasks.LearnedEdit{Op: e["op"].(string), Anchor: e["anchor"].(string), Content: e["content"].(string)})
		}
		doc, applied, unmatched := sleeptasks.EditLearned(in["doc"].(string), edits)
		return diffRecorded(map[string]any{
			"doc": doc, "applied": append([]int{}, applied...), "unmatched": append([]int{}, unmatched...), "lines": sleeptasks.LearnedLines(doc),
		}, nil, out)
	})
}
