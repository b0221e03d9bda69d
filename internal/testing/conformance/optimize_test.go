package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// stageDiff compares a result of ours, in its JSON form, with a recorded one.
// Numbers are compared by value.
func stageDiff(want, got any) string {
	return cmp.Diff(stageJSON(want), stageJSON(got), cmp.Comparer(func(a, b json.Number) bool {
		x, errX := a.Float64()
		y, errY := b.Float64()
		return errX == nil && errY == nil && math.Abs(x-y) <= 1e-12
	}))
}

func stageJSON(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("unmarshalable: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return fmt.Sprintf("not JSON: %v", err)
	}
	return out
}

func wholeNumber(v any) int {
	n, _ := v.(json.Number).Int64()
	return int(n)
}

func modeOf(v any) optimize.Mode {
	name, ok := v.(string)
	if !ok {
		name = fmt.Sprint(v) // null and booleans: no names of a mode
	}
	mode, _ := optimize.ParseMode(name)
	return mode
}

func patchesOf(v any) []optimize.Patch {
	var patches []optimize.Patch
	for _, p := range v.([]any) {
		patches = append(patches, p.(map[string]any))
	}
	return patches
}

// answering answers every request with the same text, as the callers of the
// stages do: a reply that is not accepted is lost.
func answering(reply string, calls *int) optimize.Ask {
	return func(_ context.Context, q optimize.Request) (string, error) {
		*calls++
		if q.Accept(reply) != nil {
			return "", optimize.ErrLost
		}
		return reply, nil
	}
}

func TestAnalystReply(t *testing.T) {
	t.Parallel()
	run(t, "analyst_reply", func(in, out map[string]any) string {
		aware, emit := in["skill_aware"] == true, in["emit_notes"] == true
		got := map[string]any{}
		for key, o := range map[string]optimize.AnalystOptions{
			"error_analyst":   {Source: skill.FromFailure, Notes: aware},
			"success_analyst": {Source: skill.FromSuccess, Notes: aware && emit},
		} {
			o.Mode, o.Budget = optimize.ModePatch, wholeNumber(in["budget"])
			record, err := optimize.ParseAnalyst(in["response"].(string), o)
			if err != nil {
				record = nil
			}
			got[key] = map[string]any{"ok": record}
		}
		want := stageJSON(out)
		if !strings.Contains(in["response"].(string), `"patch"`) {
			return stageDiff(withoutReason(want), withoutReason(stageJSON(got)))
		}
		return stageDiff(want, got)
	})
}

// withoutReason drops the free text of the empty patch that stands for a reply
// with notes only.
func withoutReason(out any) any {
	analyst, _ := out.(map[string]any)["error_analyst"].(map[string]any)
	record, _ := analyst["ok"].(map[string]any)
	if patch, ok := record["patch"].(map[string]any); ok {
		delete(patch, "reasoning")
	}
	return out
}

func TestAppendixNotesParse(t *testing.T) {
	t.Parallel()
	run(t, "appendix_notes_parse", func(in, out map[string]any) string {
		return stageDiff(out["ok"], optimize.Notes(in["result"]))
	})
}

func TestUpdateMode(t *testing.T) {
	t.Parallel()
	run(t, "update_mode", func(in, out map[string]any) string {
		mode := modeOf(in["mode"])
		l := mode.Labels()
		ok := func(s string) any { return map[string]any{"ok": s} }
		return stageDiff(out, map[string]any{
			"key":        ok(mode.Key()),
			"normalized": ok(string(mode)),
			"labels":     []any{ok(l.Plural), ok(l.PluralTitle), ok(l.Singular), ok(l.SingularTitle)},
		})
	})
}

func TestPayloadItems(t *testing.T) {
	t.Parallel()
	run(t, "payload_items", func(in, out map[string]any) string {
		mode := modeOf(in["mode"])
		items := optimize.Items(in["container"], mode)
		if items == nil {
			items = []any{}
		}
		return stageDiff(out, map[string]any{
			"items":     map[string]any{"ok": items},
			"truncated": map[string]any{"ok": optimize.Truncate(in["container"], mode, wholeNumber(in["max"]))},
		})
	})
}

func TestNormalisePatches(t *testing.T) {
	t.Parallel()
	run(t, "normalise_patches", func(in, out map[string]any) string {
		failures, successes := optimize.NormalisePatches(in["raw"].([]any), optimize.ModePatch)
		return stageDiff(out["ok"], map[string]any{"failure": failures, "success": successes})
	})
}

func TestMergePatches(t *testing.T) {
	t.Parallel()
	run(t, "merge_patches", func(in, out map[string]any) string {
		var calls int
		result, err := optimize.Aggregate(t.Context(), optimize.AggregateInput{
			Ask:       oneAtATime(answering(in["every_response"].(string), &calls)),
			Prompts:   prompt.Default(),
			Mode:      optimize.ModePatch,
			FanIn:     wholeNumber(in["batch_size"]),
			Failures:  patchesOf(in["failure"]),
			Successes: patchesOf(in["success"]),
		})
		if err != nil {
			return err.Error()
		}
		if calls != result.Calls {
			return fmt.Sprintf("%d calls made, %d reported", calls, result.Calls)
		}
		return stageDiff(out, map[string]any{"calls": calls, "ok": result.Patch})
	})
}

// oneAtATime lets one request through at a time.
func oneAtATime(ask optimize.Ask) optimize.Ask {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, q optimize.Request) (string, error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		return ask(ctx, q)
	}
}

func TestRankSelect(t *testing.T) {
	t.Parallel()
	run(t, "rank_select", func(in, out map[string]any) string {
		var calls int
		mode := modeOf(in["mode"])
		result, err := optimize.Rank(t.Context(), optimize.RankInput{
			Ask:     answering(in["response"].(string), &calls),
			Prompts: prompt.Default(),
			Mode:    mode,
			Patch:   optimize.NewPatch(mode, "R", in["edits"].([]any)),
			Budget:  wholeNumber(in["budget"]),
		})
		if err != nil {
			return err.Error()
		}
		return stageDiff(out["ok"], result.Patch)
	})
}

func outcomesOf(v any) []trajectory.Outcome {
	var outcomes []trajectory.Outcome
	for _, e := range v.([]any) {
		r := e.(map[string]any)
		o := trajectory.Outcome{ID: fmt.Sprint(r["id"]), Status: score.OK, FailReason: "unknown"}
		if n, ok := r["hard"].(json.Number); ok {
			o.Hard, _ = n.Float64()
		}
		if reason, ok := r["fail_reason"].(string); ok {
			o.FailReason = reason
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

func TestFailurePatterns(t *testing.T) {
	t.Parallel()
	run(t, "failure_patterns", func(in, out map[string]any) string {
		return stageDiff(out["ok"], optimize.FailurePatterns(outcomesOf(in["results"])))
	})
}

func TestMinibatches(t *testing.T) {
	t.Parallel()
	run(t, "minibatches", func(in, out map[string]any) string {
		o := optimize.MinibatchOptions{
			Size:        wholeNumber(in["minibatch_size"]),
			FailureOnly: in["failure_only"] == true,
		}
		if n, ok := in["seed"].(json.Number); ok {
			seed, _ := n.Int64()
			o.Seed = &seed
		}
		outcomes := outcomesOf(in["results"])
		ids := func(batches [][]int) [][]string {
			out := [][]string{}
			for _, b := range batches {
				var names []string
				for _, i := range b {
					names = append(names, outcomes[i].ID)
				}
				out = append(out, names)
			}
			return out
		}
		failures, successes := optimize.Minibatches(outcomes, o)
		return stageDiff(out["ok"], map[string]any{"failure": ids(failures), "success": ids(successes)})
	})
}
