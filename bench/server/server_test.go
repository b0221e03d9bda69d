package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// ideal returns models without noise or harm.
func ideal() simulated {
	return simulated{dials{seed: 1, need: 1, hit: 1, attendHow: "first"}}
}

// item asks for the code word of item number n.
func item(n int, kind string) string {
	return fmt.Sprintf("Item t%05d of kind %s: what is its code word?", n, kind)
}

// failures returns one trajectory for each kind, as all trainers of the family show them.
func failures(kinds ...string) string {
	var b strings.Builder
	for i, k := range kinds {
		fmt.Fprintf(&b, "### Trajectory %d\n[user] %s\n[assistant] <answer>code unknown</answer>\n\n", i+1, item(i, k))
	}
	return b.String()
}

// edits asks and returns the edits of the reply, in short: + and - with what follows "- ".
func edits(t *testing.T, m simulated, stage, user string) []string {
	t.Helper()
	text, err := m.answer(stage, question{model: "fake-optimizer", user: user}, "")
	if err != nil {
		t.Fatal(err)
	}
	var reply struct{ Edits []edit }
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out := []string{}
	for _, e := range reply.Edits {
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Target+e.Content, "- "), ":")
		out = append(out, map[string]string{"append": "+", "delete": "-"}[e.Op]+name)
	}
	return out
}

func TestAnalystsOfAllTrainersAreUnderstood(t *testing.T) {
	t.Parallel()
	skill := "# Skill\n\n" + rule("K03") + "\n"
	for name, user := range map[string]string{
		"ours":     "budget=9\n\n## Optimizer Memory\n\nshort\n\n## Current Skill\n\n" + skill + "\n## Failed Trajectories\n\n" + failures("K03", "K04", "K05") + "Batch size: 3.",
		"skillopt": "## Current Skill\n" + skill + "\n## Edits Budget\nL=9\n\n## Failed Trajectories (3 total)\n" + failures("K03", "K04", "K05"),
		"skillrl":  "## Current Skill\n" + skill + "\n## Edit Budget\nAT MOST 9 edits\n\n## Failed Trajectories (3 total)\n" + failures("K03", "K04", "K05"),
	} {
		q := question{model: "fake-optimizer", user: user}
		if got := q.stage(); got != stageError {
			t.Errorf("%s: stage %q", name, got)
		}
		if diff := cmp.Diff([]string{"+RULE-K04", "+RULE-K05"}, edits(t, ideal(), stageError, user)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReflection(t *testing.T) {
	t.Parallel()
	example := func(n int, kind, feedback string) string {
		return fmt.Sprintf("# Example %d\n## Inputs\n%s\n\n## Generated Outputs\nx\n\n## Feedback\nThe response is %s.\n\n", n, item(n, kind), feedback)
	}
	q := question{user: "Instructions:\n```\n# Skill\n" + harm("K04") + "\n```\n\nExamples:\n```\n" +
		example(1, "K03", "correct") + example(2, "K04", "incorrect") + "```\n\nWrite."}
	if got := q.stage(); got != stageReflection {
		t.Errorf("stage %q", got)
	}
	got, err := ideal().answer(stageReflection, q, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := "```\n# Skill\n" + rule("K04") + "\n```\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want the end %q", got, want)
	}
}

func TestDials(t *testing.T) {
	t.Parallel()
	five := failures("K02", "K03", "K04", "K05", "K06")
	ask := func(skill, trajectories string) string {
		return "budget=9\n\n## Current Skill\n\n" + skill + "\n\n## Failed Trajectories\n\n" + trajectories
	}
	all := []string{"+RULE-K02", "+RULE-K03", "+RULE-K04", "+RULE-K05", "+RULE-K06"}
	have := rule("K07") + "\n" + rule("K08")
	for name, c := range map[string]struct {
		set  func(*dials)
		user string
		want []string
	}{
		"none":      {func(*dials) {}, ask("", five), all},
		"budget":    {func(*dials) {}, strings.Replace(ask("", five), "budget=9", "budget=2", 1), all[:2]},
		"need":      {func(d *dials) { d.need = 2 }, ask("", failures("K02", "K03", "K03")), []string{"+RULE-K03"}},
		"first":     {func(d *dials) { d.attend = 2 }, ask("", five), all[:2]},
		"random":    {func(d *dials) { d.attend, d.attendHow, d.seed = 2, "random", 3 }, ask("", five), []string{"+RULE-K02", "+RULE-K06"}},
		"cap":       {func(d *dials) { d.limit = 1 }, ask("", five), []string{"+RULE-K03"}},
		"hit":       {func(d *dials) { d.hit = 0 }, ask("", failures("K02")), []string{"+NOTE-6b3301K02"}},
		"drop":      {func(d *dials) { d.drop = 1 }, ask(have, ""), []string{"-RULE-K08", "-RULE-K07"}},
		"harm":      {func(d *dials) { d.harm = 1 }, ask("", failures("K02")), []string{"+ANTI-K07", "+RULE-K02"}},
		"harm goes": {func(*dials) {}, ask(rule("K02")+"\n"+harm("K02"), failures("K02")), []string{"-ANTI-K02"}},
	} {
		m := ideal()
		c.set(&m.dials)
		if diff := cmp.Diff(c.want, edits(t, m, stageError, c.user)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	flipping := ideal()
	flipping.flip = 0.5
	hopeless := ideal()
	hopeless.noise = 1
	right := 0
	for seed := range 1000 {
		if text := flipping.solve(question{system: rule("K05"), user: item(7, "K05")}, fmt.Sprint(seed)); strings.Contains(text, codeWord("t00007")) {
			right++
		}
	}
	if right < 450 || right > 550 {
		t.Errorf("%d of 1000 draws are right at flip 0.5", right)
	}
	for name, c := range map[string]struct {
		m           simulated
		skill, kind string
		right       bool
	}{
		"without a rule":    {ideal(), "", "K05", false},
		"with its rule":     {ideal(), rule("K05"), "K05", true},
		"another's rule":    {ideal(), rule("K04"), "K05", false},
		"harm":              {ideal(), rule("K05") + harm("K05"), "K05", false},
		"needs none":        {ideal(), "", "K01", true},
		"no skill suffices": {hopeless, rule("K05"), "K05", false},
	} {
		text := c.m.solve(question{system: c.skill, user: item(7, c.kind)}, "")
		if got := strings.Contains(text, "<answer>"+codeWord("t00007")+"</answer>"); got != c.right {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	patches := `[{"edits":[{"op":"append","content":"- A","support_count":2},{"op":"delete","target":"- B"}]},{"edits":[{"op":"append","content":"- A","support_count":3}]}]`
	for name, user := range map[string]string{
		"ours":        "## Current Skill\n\n{x}\n\n## Patches to merge\n\n" + patches + "\n\nMerge round 1.",
		"peers":       "## Current Skill\nx\n\n## Patches to merge (2 total, merge level 1)\n" + patches,
		"peers' last": "## Current Skill\nx\n\n## Two pre-merged patch groups to combine\nGroup 1\n\n" + patches,
	} {
		q := question{user: user}
		if got := q.stage(); !strings.HasPrefix(got, stageMerge) {
			t.Errorf("%s: stage %q", name, got)
		}
		want := []map[string]any{{"op": "append", "content": "- A", "support_count": 5.0}, {"op": "delete", "target": "- B"}}
		if diff := cmp.Diff(want, merge(q)["edits"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRanking(t *testing.T) {
	t.Parallel()
	pool := "[0] op=append content=- NOTE-K02: x\n[1] op=append content='" + rule("K03") + "'\n[2] op=append content=" + harm("K04") + "\n[3] op=delete target=- ANTI-K05"
	fooled := ideal()
	fooled.fooled = 1
	for name, c := range map[string]struct {
		m    simulated
		user string
		want []int
	}{
		"ours":       {ideal(), "budget=2\n\n## Current Skill\n\nx\n\n## Candidates\n\n" + pool, []int{3, 1}},
		"peers":      {ideal(), "## Current Skill\nx\n\n## Edits Pool (4 edits, budget=2)\n" + pool + "\n\nSelect the 2 most important edits.", []int{3, 1}},
		"fooled":     {fooled, "budget=2\n\n## Candidates\n\n" + pool, []int{3, 2}},
		"second try": {ideal(), "budget=3\n\n## What The Change Won And Lost\n\n- K03: won 0, lost 2, same 1\n- K04: won 1, lost 1\n\n## Candidates\n\n" + pool, []int{3, 0, 2}},
	} {
		if got := (question{user: c.user}).stage(); got != stageRanking {
			t.Errorf("%s: stage %q", name, got)
		}
		if diff := cmp.Diff(c.want, c.m.rank(question{user: c.user})["selected_indices"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEndOfAnEpoch(t *testing.T) {
	t.Parallel()
	for user, stage := range map[string]string{
		"## Current Epoch's Skill\n" + rule("K02") + "\n\n## Previous Slow Update Guidance\nnone\n\n## Longitudinal Comparison\n" + failures("K02", "K03"): stageSlow,
		"## Previous Slow Update Guidance\n\nnone\n\n## Comparison\n\n" + failures("K03") + "\n## Current Skill\n\n" + rule("K02"):                         stageSlow,
		"## Previous Optimizer Meta Skill\n\nnone": stageMeta,
	} {
		q := question{user: user}
		if got := q.stage(); got != stage {
			t.Errorf("stage %q, want %q", got, stage)
		}
		text, err := ideal().answer(stage, q, "")
		if err != nil || strings.Contains(text, "RULE-K03") != (stage == stageSlow) {
			t.Errorf("%s: %s, %v", stage, text, err)
		}
	}
}

func TestUnknownStagesAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := ideal().answer("rewrite", question{}, ""); err == nil {
		t.Error("a stage that is not simulated was answered")
	}
}

// TestWire covers a stage without a header, a fault, the log and the count.
func TestWire(t *testing.T) {
	t.Parallel()
	inner := wiretest.Start(wiretest.Options{Client: ideal(), Seed: 1, Faults: wiretest.Faults{RateLimit: 1}})
	defer inner.Close()
	var log bytes.Buffer
	h := newCounter(inner, &log).handler()
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		return w
	}
	body := `{"model":"fake-target","messages":[{"role":"user","content":"` + item(7, "K01") + `"}]}`
	if w := ask(http.MethodPost, "/v1/chat/completions", body); w.Code != http.StatusTooManyRequests {
		t.Errorf("status %d", w.Code)
	}
	if w := ask(http.MethodPost, "/v1/chat/completions", "x"); w.Code != http.StatusBadRequest {
		t.Errorf("status %d of what is no request", w.Code)
	}
	if w := ask(http.MethodGet, "/calls", ""); w.Body.String() != "1\n" {
		t.Errorf("calls: %q", w.Body)
	}
	var one call
	if err := json.Unmarshal(log.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	want := call{Stage: stageRollout, Item: "t00007", Status: http.StatusTooManyRequests, Hash: one.Hash, T0: one.T0, T1: one.T1}
	if diff := cmp.Diff(want, one); diff != "" || one.T1 <= one.T0 {
		t.Errorf("log: %s %v", diff, one)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := run(t.Context(), []string{"data", dir, "-sizes", "3,1,2", "-seed", "501"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "test", "items.json"))
	if err != nil {
		t.Fatal(err)
	}
	var items []task
	if err := json.Unmarshal(data, &items); err != nil {
		t.Fatal(err)
	}
	if len(items) != 2 || items[0].ID != "t00005" || items[0].Answers[0] != codeWord("t00005") || len(items[0].Context) < 890 {
		t.Errorf("tasks: %v", items)
	}
	for args, want := range map[string]string{
		"data":                  "no folder",
		"data x -sizes 1,2":     "three numbers",
		"-attend-how sometimes": "first, random",
	} {
		if err := run(t.Context(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	go func() {
		line := make([]byte, 100)
		n, _ := out.Read(line)
		cancel()
		if !strings.HasPrefix(string(line[:n]), "http://127.0.0.1:") {
			t.Errorf("printed %q", line[:n])
		}
	}()
	if err := run(ctx, nil, in); err != nil {
		t.Error(err)
	}
}
