package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// script answers requests by key and remembers what it was asked. A key
// without an answer, or with one that is not accepted, is lost.
type script struct {
	replies map[string]string

	mu    sync.Mutex
	asked map[string]Request
}

func (s *script) ask(ctx context.Context, q Request) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]Request{}
	}
	if _, twice := s.asked[q.Key]; twice {
		return "", fmt.Errorf("key %s asked twice", q.Key)
	}
	s.asked[q.Key] = q
	reply, ok := s.replies[q.Key]
	if !ok || q.Accept(reply) != nil {
		return "", ErrLost
	}
	return reply, nil
}

func outcome(id string, hard float64) trajectory.Outcome {
	return trajectory.Outcome{ID: id, Status: score.OK, Hard: hard, Soft: hard, FailReason: "class: detail"}
}

func edit(content string, support int) map[string]any {
	return map[string]any{"op": "append", "content": content, "support_count": support}
}

func contents(items []any) []string {
	out := []string{}
	for _, e := range items {
		item, _ := asObject(e)
		s, _ := item["content"].(string)
		out = append(out, s)
	}
	return out
}

const oneEdit = `{"batch_size": 9, "failure_summary": [{"failure_type": "t", "count": "2", "description": "d", "classification": "SKILL_DEFECT"}],
 "patch": {"reasoning": "r", "edits": [{"op": "append", "content": "A"}, {"op": "append", "content": "B"}, {"op": "append", "content": "C"}]}}`

func reflectInput(ask Ask, outcomes ...trajectory.Outcome) ReflectInput {
	return ReflectInput{
		Ask: ask, Prompts: prompt.Default(), Mode: ModePatch, Outcomes: outcomes,
		Skill: "# Skill", Size: 2, Seed: 7, Budget: 2,
	}
}

func TestReflect(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{
		"analyst_error/0":   oneEdit,
		"analyst_error/1":   "no JSON",
		"analyst_success/0": `{"success_patterns": ["p", 5, null], "patch": {"edits": []}}`,
	}}
	unmeasured := outcome("u", 0)
	unmeasured.Status = score.Unmeasured
	in := reflectInput(s.ask, outcome("a", 0), outcome("b", 1), outcome("c", 0), unmeasured, outcome("d", 0))
	in.StepBuffer, in.MetaSkill = "earlier", "memory"
	got, err := Reflect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"analyst_error/1"}, got.Lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if got.Calls != 3 || got.Failures != 3 || got.Successes != 1 || got.Unmeasured != 1 {
		t.Errorf("counts: %+v", got)
	}
	if len(got.Analyses) != 2 {
		t.Fatalf("%d analyses, want 2", len(got.Analyses))
	}
	first := got.Analyses[0]
	if diff := cmp.Diff([]string{"A", "B"}, contents(first.Patch.Items(ModePatch))); diff != "" {
		t.Errorf("edits beyond the budget (-want +got):\n%s", diff)
	}
	if first.BatchSize != 2 || len(first.TaskIDs) != 2 {
		t.Errorf("batch size %d of %v, want what the analyst saw", first.BatchSize, first.TaskIDs)
	}
	if diff := cmp.Diff([]FailureType{{Type: "t", Count: 2, Description: "d"}}, got.Diagnoses()); diff != "" {
		t.Errorf("diagnoses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p", "5"}, got.Analyses[1].SuccessPatterns); diff != "" {
		t.Errorf("success patterns (-want +got):\n%s", diff)
	}
	failures, successes := got.Patches(ModePatch)
	if len(failures) != 1 || len(successes) != 0 {
		t.Errorf("%d failure and %d success patches", len(failures), len(successes))
	}
	item, _ := asObject(failures[0].Items(ModePatch)[0])
	if item["support_count"] != 2 || item["source_type"] != "failure" {
		t.Errorf("provenance: %v", item)
	}
	q := s.asked["analyst_error/0"]
	if q.Stage != model.StageAnalystError || !strings.Contains(q.User, "earlier") || !strings.Contains(q.User, "memory") {
		t.Errorf("question: %+v", q)
	}
}

func TestReflectSkillAware(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{
		"analyst_error/0": `{"failure_summary": [{"failure_type": "t", "classification": "EXECUTION_LAPSE"}, 5, {"classification": "OTHER"}], "appendix_notes": ["remember"]}`,
		"analyst_error/1": `{"patch": null, "appendix_notes": {"x": 1}}`,
		"analyst_error/2": `{"patch": "none", "appendix_notes": "again"}`,
	}}
	in := reflectInput(s.ask, outcome("a", 0), outcome("b", 0), outcome("c", 0))
	in.Shallow, in.SkillAware = true, true
	got, err := Reflect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"remember", "again"}, got.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	want := []FailureType{{Type: "t", Count: 1, Class: ExecutionLapse}, {Count: 1}}
	if diff := cmp.Diff(want, got.Diagnoses()); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"analyst_error/1"}, got.Lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if failures, _ := got.Patches(ModePatch); len(failures) != 0 {
		t.Errorf("notes only, yet patches %v", failures)
	}
}

func TestReflectFullRewriteHasNoBudget(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{
		"analyst_error/0": `{"patch": {"skill_candidates": [{"new_skill": "a"}, {"new_skill": "b"}, {"new_skill": "c"}]}}`,
	}}
	in := reflectInput(s.ask, outcome("a", 0))
	in.Mode, in.Budget = ModeFullRewrite, 1
	got, err := Reflect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Analyses[0].Patch.Items(ModeFullRewrite)); n != 3 {
		t.Errorf("%d candidates kept, want 3", n)
	}
}

func TestReflectRefusesUnusablePatches(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no patch":        `{"batch_size": 1}`,
		"null":            `{"patch": null}`,
		"no list":         `{"patch": {"edits": "x"}}`,
		"another mode's":  `{"patch": {"revise_suggestions": []}}`,
		"nothing usable":  `{"patch": {"edits": ["x", 5]}}`,
		"prose":           `I would add a rule.`,
		"notes unasked":   `{"appendix_notes": ["n"]}`,
		"a cut off reply": `{"patch": {"edits": [{"op": "append"`,
	} {
		s := &script{replies: map[string]string{"analyst_error/0": reply}}
		got, err := Reflect(t.Context(), reflectInput(s.ask, outcome("a", 0)))
		if err != nil || len(got.Lost) != 1 {
			t.Errorf("%s: lost %v, error %v", name, got.Lost, err)
		}
	}
}

func TestStagesStopOnOtherErrors(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	ask := func(context.Context, Request) (string, error) { return "", stop }
	patch := NewPatch(ModePatch, "r", []any{edit("a", 1), edit("b", 1)})
	stages := map[string]func() error{
		"reflect": func() error {
			_, err := Reflect(t.Context(), reflectInput(ask, outcome("a", 0)))
			return err
		},
		"aggregate": func() error {
			_, err := Aggregate(t.Context(), AggregateInput{Ask: ask, Prompts: prompt.Default(), Failures: []Patch{patch, patch}})
			return err
		},
		"merge_final": func() error {
			_, err := Aggregate(t.Context(), AggregateInput{Ask: ask, Prompts: prompt.Default(), Failures: []Patch{patch}, Successes: []Patch{patch}})
			return err
		},
		"rank": func() error {
			_, err := Rank(t.Context(), RankInput{Ask: ask, Prompts: prompt.Default(), Patch: patch, Budget: 1})
			return err
		},
	}
	for name, stage := range stages {
		if err := stage(); !errors.Is(err, stop) {
			t.Errorf("%s: %v, want the error of the question", name, err)
		}
	}
}

func TestStagesRefuseUnknownModes(t *testing.T) {
	t.Parallel()
	s := &script{}
	patch := Patch{"edits": []any{edit("a", 1), edit("b", 1)}}
	if _, err := Rank(t.Context(), RankInput{Ask: s.ask, Prompts: prompt.Default(), Mode: "x", Patch: patch, Budget: 1}); err == nil {
		t.Error("rank: no error")
	}
	in := AggregateInput{Ask: s.ask, Prompts: prompt.Default(), Mode: "x", Failures: []Patch{patch, patch}}
	if _, err := Aggregate(t.Context(), in); err == nil {
		t.Error("merge: no error")
	}
	in.Failures, in.Successes = []Patch{patch}, []Patch{patch}
	if _, err := Aggregate(t.Context(), in); err == nil {
		t.Error("final merge: no error")
	}
	r := reflectInput(s.ask, outcome("a", 0))
	r.Mode = "x"
	if _, err := Reflect(t.Context(), r); err == nil {
		t.Error("reflect: no error")
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	s := &script{replies: map[string]string{
		"merge/failure/1/0": `{"reasoning": "m", "edits": [{"op": "append", "content": "a"}, {"op": "append", "content": "new", "support_count": 4}]}`,
		"merge_final":       `{"reasoning": "f", "edits": [{"op": "append", "content": "a"}, {"op": "append", "content": "s"}]}`,
	}}
	one := func(content string, source string) Patch {
		e := edit(content, 2)
		e["source_type"] = source
		return NewPatch(ModePatch, "because\nof <b>", []any{e})
	}
	got, err := Aggregate(t.Context(), AggregateInput{
		Ask: s.ask, Prompts: prompt.Default(), Mode: ModePatch, FanIn: 2,
		Failures:  []Patch{one("a", "failure"), one("a", "failure"), one("c", "failure")},
		Successes: []Patch{one("s", "success"), one("t", "success")},
		Skill:     "# Skill",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"merge/failure/2/0", "merge/success/1/0"}, got.Lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	want := []any{
		map[string]any{"op": "append", "content": "a", "support_count": 4, "source_type": "failure"},
		map[string]any{"op": "append", "content": "s", "support_count": 2, "source_type": "success"},
	}
	if diff := cmp.Diff(want, got.Patch.Items(ModePatch)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got.Calls != 4 || got.Items != 2 {
		t.Errorf("calls %d, items %d", got.Calls, got.Items)
	}
	q := s.asked["merge/failure/1/0"]
	for _, part := range []string{`{"content":"a","op":"append"`, `Reasoning: because\nof <b>`, "### Patch 2 of 2"} {
		if !strings.Contains(q.User, part) {
			t.Errorf("question lacks %q:\n%s", part, q.User)
		}
	}
	if q.Stage != model.StageMerge || s.asked["merge_final"].Stage != model.StageMergeFinal {
		t.Error("stages of the questions are wrong")
	}
}

func TestAggregateDoesNotChangeItsInput(t *testing.T) {
	t.Parallel()
	patches := []Patch{
		NewPatch(ModePatch, "r", []any{map[string]any{"op": "append", "content": "a"}}),
		NewPatch(ModePatch, "r", []any{map[string]any{"op": "append", "content": "b"}, "junk"}),
	}
	before, _ := json.Marshal(patches)
	s := &script{}
	if _, err := Aggregate(t.Context(), AggregateInput{Ask: s.ask, Prompts: prompt.Default(), Mode: ModePatch, Failures: patches}); err != nil {
		t.Fatal(err)
	}
	after, _ := json.Marshal(patches)
	if string(before) != string(after) {
		t.Errorf("input changed:\n%s\n%s", before, after)
	}
}

// Without any usable reply no proposal may get lost, whatever the shape of the
// tree, and failures stay before successes.
func TestAggregateFallbackKeepsEveryEdit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		serial := 0
		group := func(name string) (patches []Patch, all []string) {
			for range rapid.IntRange(0, 9).Draw(t, name) {
				var items []any
				for range rapid.IntRange(1, 4).Draw(t, "items") {
					serial++
					items = append(items, edit(fmt.Sprint(serial), 1))
					all = append(all, fmt.Sprint(serial))
				}
				patches = append(patches, NewPatch(ModePatch, "r", items))
			}
			return patches, all
		}
		in := AggregateInput{Prompts: prompt.Default(), Mode: ModePatch, FanIn: rapid.IntRange(-1, 6).Draw(t, "fan-in")}
		var want, more []string
		in.Failures, want = group("failures")
		in.Successes, more = group("successes")
		in.Ask = (&script{}).ask
		got, err := Aggregate(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append(append([]string{}, want...), more...), contents(got.Patch.Items(ModePatch))); diff != "" {
			t.Fatalf("edits (-want +got):\n%s", diff)
		}
		if len(got.Lost) != got.Calls {
			t.Fatalf("%d calls, %d lost", got.Calls, len(got.Lost))
		}
	})
}

// Whatever the model replies, a selection keeps the budget and consists of
// distinct proposals.
func TestRankKeepsTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		budget := rapid.IntRange(-1, 6).Draw(t, "budget")
		indices := rapid.SliceOf(rapid.IntRange(-3, 15)).Draw(t, "indices")
		reply, _ := json.Marshal(map[string]any{"reasoning": "w", "selected_indices": indices})
		var items []any
		for i := range n {
			items = append(items, edit(fmt.Sprint(i), 1))
		}
		s := &script{replies: map[string]string{"ranking": string(reply)}}
		got, err := Rank(context.Background(), RankInput{
			Ask: s.ask, Prompts: prompt.Default(), Mode: ModePatch,
			Patch: NewPatch(ModePatch, "r", items), Budget: budget,
		})
		if err != nil {
			t.Fatal(err)
		}
		kept := contents(got.Patch.Items(ModePatch))
		if len(kept) > max(0, budget) || len(kept) != got.Items || len(kept) != len(got.Selected) || got.Total != n {
			t.Fatalf("kept %v of %d with budget %d: %+v", kept, n, budget, got)
		}
		seen := map[string]bool{}
		for i, c := range kept {
			if seen[c] || c != fmt.Sprint(got.Selected[i]) {
				t.Fatalf("selected %v, kept %v", got.Selected, kept)
			}
			seen[c] = true
		}
		if n > 0 && budget > 0 && len(kept) == 0 {
			t.Fatal("nothing kept")
		}
	})
}

func TestRank(t *testing.T) {
	t.Parallel()
	three := NewPatch(ModePatch, "r", []any{edit("a\nb", 1), edit("c", 2), edit("d", 3)})
	tests := []struct {
		name   string
		mode   Mode
		budget int
		reply  string
		want   RankResult
	}{
		{"enough budget", ModePatch, 3, "", RankResult{Total: 3, Items: 3, Selected: []int{0, 1, 2}, Method: KeptAll}},
		{"ranked", ModePatch, 2, `{"selected_indices": [2, 0, 1]}`, RankResult{Total: 3, Items: 2, Selected: []int{2, 0}, Method: ByModel, Calls: 1}},
		{"lost", ModePatch, 2, `no`, RankResult{Total: 3, Items: 2, Selected: []int{0, 1}, Method: Truncated, Calls: 1, Lost: []string{"ranking"}}},
		{"no budget asks nobody", ModePatch, 0, `{"selected_indices": [2]}`, RankResult{Total: 3, Items: 0, Selected: []int{}, Method: Truncated}},
		{"whole skills are not ranked", ModeFullRewrite, 0, "", RankResult{Selected: []int{}, Method: KeptAll}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{replies: map[string]string{"ranking": tt.reply}}
			got, err := Rank(t.Context(), RankInput{Ask: s.ask, Prompts: prompt.Default(), Mode: tt.mode, Patch: three, Budget: tt.budget})
			if err != nil {
				t.Fatal(err)
			}
			got.Patch = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(s.asked) != tt.want.Calls {
				t.Errorf("%d questions, want %d", len(s.asked), tt.want.Calls)
			}
		})
	}
}

func TestItemLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode Mode
		item any
		want string
	}{
		{
			ModePatch,
			map[string]any{"op": "replace", "target": "x\r\ny", "content": "[1] a\nb", "support_count": 3, "source_type": "failure"},
			`[0] op=replace support=3 source=failure target=x\ny content=[1] a\nb`,
		},
		{
			ModePatch,
			map[string]any{"op": "append", "content": strings.Repeat("ä", maxItemLine+5)},
			"[0] op=append content=" + strings.Repeat("ä", maxItemLine) + "...",
		},
		{ModePatch, "junk", "[0] "},
		{
			ModeRewrite,
			map[string]any{"type": "add", "title": "T", "motivation": "m", "instruction": "i", "priority_hint": "high", "support_count": json.Number("2")},
			"[0] type=add support=2 priority=high title=T motivation=m instruction=i",
		},
		{ModeFullRewrite, map[string]any{"title": "T", "new_skill": "# S\nx"}, `[0] title=T content=# S\nx`},
	}
	for _, tt := range tests {
		if got := ItemLines(NewPatch(tt.mode, "", []any{tt.item}), tt.mode, false); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestSchemasAreStrict(t *testing.T) {
	t.Parallel()
	schemas := []*model.Schema{rankingSchema(), rewriteSchema(false), rewriteSchema(true), compactSchema()}
	for _, mode := range []Mode{ModePatch, ModeRewrite, ModeFullRewrite} {
		for _, forms := range []Forms{{}, {Files: true}, {Description: true}, {Files: true, Description: true}, {Description: true, Alone: true}} {
			schemas = append(schemas, mergeSchema(mode, forms), mergeFinalSchema(mode, forms),
				analystSchema(mode, forms, skill.FromFailure, false),
				analystSchema(mode, forms, skill.FromFailure, true),
				analystSchema(mode, forms, skill.FromSuccess, false))
		}
	}
	for _, s := range schemas {
		var tree any
		if err := json.Unmarshal(s.JSON, &tree); err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, s.JSON)
			continue
		}
		checkStrict(t, s.Name, tree)
	}
}

func checkStrict(t *testing.T, path string, v any) {
	node, ok := v.(map[string]any)
	if !ok {
		t.Errorf("%s: no schema: %v", path, v)
		return
	}
	switch node["type"] {
	case "object":
		properties := node["properties"].(map[string]any)
		if node["additionalProperties"] != false || len(node["required"].([]any)) != len(properties) {
			t.Errorf("%s: not strict: %v", path, node)
		}
		for name, p := range properties {
			checkStrict(t, path+"."+name, p)
		}
	case "array":
		checkStrict(t, path+"[]", node["items"])
	case "string", "integer":
	default:
		t.Errorf("%s: type %v", path, node["type"])
	}
}
