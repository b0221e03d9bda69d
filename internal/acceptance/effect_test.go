package acceptance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// effect proves that a key does something: of two runs that differ in the key
// alone, see returns different things.
type effect struct {
	base  []string // settings of both
	to    string   // the value of the key in the second
	scene scene    // of both
	see   func(sight) any
	// test proves it in another way.
	test func(t *testing.T)
}

// TestEveryKeyHasAnEffect fails for a key that nothing is proved of.
func TestEveryKeyHasAnEffect(t *testing.T) {
	t.Parallel()
	table := effects()
	var seen album
	for _, k := range config.Default().Keys() {
		e, ok := table[k.Path]
		if !ok {
			t.Errorf("%s: no proof that it has an effect: add one", k.Path)
			continue
		}
		delete(table, k.Path)
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			if e.test != nil {
				e.test(t)
				return
			}
			plain, changed := e.scene, e.scene
			plain.set = e.base
			changed.set = append(append([]string{}, e.base...), k.Path+"="+e.to)
			if strings.HasPrefix(k.Path, "env.") {
				needsShell(t)
			}
			before, after := seen.look(t, plain), look(t, changed)
			if before.err != nil && !e.scene.broken && !e.scene.stops {
				t.Fatalf("without the key: %v", before.err)
			}
			if diff := cmp.Diff(e.see(before), e.see(after)); diff == "" {
				t.Errorf("with %s=%s nothing changed: %v (error: %v)", k.Path, e.to, e.see(after), after.err)
			}
		})
	}
	for key := range table {
		t.Errorf("%s: there is no such key", key)
	}
}

func effects() map[string]effect {
	all := map[string]effect{}
	for _, part := range []map[string]effect{
		taskEffects(), worldEffects(), serverEffects(), benchEffects(), modelEffects(model.Target), modelEffects(model.Optimizer), judgeEffects(), trainEffects(), stageEffects(), limitEffects(), runEffects(), sleepEffects(),
	} {
		for key, e := range part {
			all[key] = e
		}
	}
	return withTelemetry(withAgent(withWire(all)))
}

func systemTexts(s sight) any { return s.prompts("rollout", "system") }

func userTexts(s sight) any { return s.prompts("rollout", "user") }

func rolledOut(s sight) any { return s.history.ids }

func stages(s sight) any { return s.stages() }

func bestText(s sight) any {
	text, err := os.ReadFile(filepath.Join(s.sum.RunDir, "best_skill.md"))
	return fmt.Sprint(string(text), err)
}

func testOfSeed(s sight) any { return s.sum.Test.Seed }

func status(s sight) any { return s.sum.Status }

func taskEffects() map[string]effect {
	shell := []string{"env.command=[sh, -c, 'while read -r l; do echo \"{\\\"hard\\\": 1, \\\"answer\\\": \\\"$KEY_ONE\\\"}\"; done']"}
	return map[string]effect{
		"extends":         {test: extendsHasAnEffect},
		"skill":           {to: "../../cmd/skillopt/testdata/small/SKILL.md", see: systemTexts},
		"skill_files":     {base: []string{"skill=testdata/effect/folder"}, to: "document", see: systemTexts},
		"tasks.path":      {to: "../../cmd/skillopt/testdata/small/tasks.jsonl", see: func(s sight) any { return s.started.Train }},
		"tasks.columns":   {base: []string{"tasks.path=testdata/effect/columns.csv"}, to: "{prompt: longer}", see: userTexts},
		"tasks.prompt":    {to: `{{prompt}} Now.`, see: userTexts},
		"tasks.system":    {to: `Rules: {{skill}}`, see: systemTexts},
		"tasks.extract":   {to: "last_line", see: func(s sight) any { return s.sum.Test.Best }},
		"tasks.checks":    {to: "[{type: f1, value: $gold, threshold: 0.1}]", see: testOfSeed},
		"tasks.threshold": {base: []string{"tasks.checks=[{type: f1, value: $gold, threshold: 0.1}]"}, to: "1", see: testOfSeed},
		"tasks.limit":     {base: []string{"tasks.path=../../cmd/skillopt/testdata/small/tasks.jsonl"}, to: "2", see: func(s sight) any { return s.started.Test }},
		"split.ratio":     {base: []string{"tasks.path=../../cmd/skillopt/testdata/small/tasks.jsonl"}, to: "1:1:3", see: func(s sight) any { return s.started.Test }},
		"split.cross_fit": {base: []string{"tasks.path=../../cmd/skillopt/testdata/small/tasks.jsonl"}, to: "0", see: func(s sight) any { return s.started.Folds }},
		"split.seed":      {base: []string{"tasks.path=../../cmd/skillopt/testdata/small/tasks.jsonl"}, to: "7", see: rolledOut},
		"prompts":         {to: "testdata/effect/prompts", see: systemTexts},
		"extras":          {base: []string{"tasks.system={{extras.tone}} {{skill}}", "extras={tone: calm}"}, to: "{tone: loud}", see: systemTexts},
		"env.command":     {to: strings.TrimPrefix(shell[0], "env.command="), see: func(s sight) any { return s.from(model.Target) }},
		"env.timeout":     {test: environmentTimesOut},
		"env.protocol":    {test: protocolIsSpoken},
		"env.gateway":     {base: []string{`env.command=[sh, -c, 'while read -r l; do case "$l" in *"\"model\":{"*) h=1;; *) h=0;; esac; echo "{\"hard\": $h}"; done']`}, to: "false", see: testOfSeed},
		"env.pass_env": {base: shell, to: "[KEY_ONE]", see: func(s sight) any {
			data, err := os.ReadFile(filepath.Join(s.sum.RunDir, "test_outcomes.json"))
			return err == nil && strings.Contains(string(data), `"one"`)
		}},
	}
}

// modelEffects are those of a role that training asks.
func modelEffects(role string) map[string]effect {
	m := "models." + role + "."
	seeField := func(name string) func(sight) any { return func(s sight) any { return s.field(role, name) } }
	answered := func(s sight) any { return s.from(role) }
	out := map[string]effect{
		m + "provider":          {base: []string{m + "world=testdata/guarantee/world.yaml"}, to: "sim", see: answered},
		m + "world":             {base: []string{m + "world=testdata/guarantee/world.yaml", m + "provider=sim"}, to: "../../cmd/skillopt/testdata/small/world.yaml", see: func(s sight) any { return []any{s.err != nil, s.history.Steps} }},
		m + "model":             {to: "n", see: seeField("model")},
		m + "base_url":          {to: "${OTHER}/v1", see: answered},
		m + "api_key_env":       {base: []string{m + "api_key_env=KEY_ONE"}, to: "KEY_TWO", see: func(s sight) any { return s.auth(role) }},
		m + "headers":           {to: `{X-Stage: "{{stage}}", X-Role: "{{role}}", X-Run: tagged}`, see: func(s sight) any { return runsNamed(s, role) }},
		m + "max_tokens":        {to: "4000", see: func(s sight) any { return []any{s.field(role, "max_tokens"), s.field(role, "max_completion_tokens")} }},
		m + "temperature":       {to: "0.5", see: seeField("temperature")},
		m + "reasoning_effort":  {to: "low", see: seeField("reasoning_effort")},
		m + "structured_output": {to: "off", see: seeField("response_format")},
		m + "timeout":           {scene: scene{latency: 30 * time.Millisecond}, base: []string{"limits.patience=300ms", "train.epochs=1"}, to: "1ms", see: func(s sight) any { return s.sum.Calls.Faults["timeout"] > 0 }},
	}
	if role == model.Target {
		// Answers to tasks are free text; only doctor asks the target for a schema.
		out[m+"structured_output"] = effect{test: func(t *testing.T) { examinedDiffers(t, role, "structured_output=off") }}
	}
	return out
}

func runsNamed(s sight, role string) bool {
	for _, r := range s.requests {
		if r.role == role && r.run == "tagged" {
			return true
		}
	}
	return false
}

// judgeEffects: nothing but doctor asks a judge.
func judgeEffects() map[string]effect {
	out := map[string]effect{}
	for key, to := range map[string]string{
		"provider": "openai", "world": "testdata/guarantee/world.yaml", "model": "n", "base_url": "${OTHER}/v1", "api_key_env": "KEY_TWO",
		"headers": "{X-Run: tagged}", "max_tokens": "9", "temperature": "0.5", "reasoning_effort": "low",
		"structured_output": "off", "timeout": "1ns",
	} {
		out["models.judge."+key] = effect{test: func(t *testing.T) { examinedDiffers(t, model.Judge, key+"="+to) }}
	}
	return out
}

func trainEffects() map[string]effect {
	steps := func(s sight) any { return s.sum.Steps }
	return map[string]effect{
		"train.epochs":              {to: "1", see: steps},
		"train.batch_size":          {to: "5", see: steps},
		"train.accumulation":        {to: "2", see: steps},
		"train.seed":                {to: "4", see: rolledOut},
		"train.curriculum.strategy": {to: "uniform", see: rolledOut},

		"train.warm":          {to: "on", see: rolledOut},
		"train.second_try":    {to: "false", see: func(s sight) any { return s.started.MaxCalls }}, // what it does: train_second.txtar
		"train.stop.perfect":  {to: "true", see: steps},
		"train.stop.score":    {to: "0.5", see: steps},
		"train.stop.patience": {base: []string{"train.epochs=4"}, to: "1", see: steps},
		"train.stop.evidence": {to: "true", see: steps},
	}
}

func stageEffects() map[string]effect {
	budgets := func(s sight) any {
		var out []any
		for _, st := range s.history.Steps {
			out = append(out, st.Budget)
		}
		return out
	}
	scores := func(s sight) any {
		var out []any
		for _, st := range s.history.Steps {
			out = append(out, st.Current, st.Candidate)
		}
		return out
	}
	actions := func(s sight) any { return []any{s.history.Steps, s.history.Epochs} }
	return map[string]effect{
		"reflect.mode":           {to: "shallow", see: stages},
		"reflect.minibatch_size": {to: "9", see: stages},
		"reflect.window":         {base: []string{"reflect.minibatch_size=20"}, to: "1000", see: func(s sight) any { return s.prompts("analyst_error", "user") }},
		"reflect.view":           {to: "task", see: func(s sight) any { return s.prompts("analyst_error", "system") }},
		"reflect.guide":          {to: "Name no customer.", see: func(s sight) any { return s.prompts("analyst_error", "system") }},
		"reflect.rollouts":       {to: "2", see: stages},
		"reflect.failure_only":   {to: "true", see: func(s sight) any { return s.stages()["analyst_success"] > 0 }},
		"reflect.skill_aware":    {to: "true", see: func(s sight) any { return s.prompts("analyst_error", "system") }},
		"aggregate.fan_in":       {base: []string{"reflect.minibatch_size=1"}, to: "2", see: stages},
		"edits.mode":             {to: "rewrite_from_suggestions", see: func(s sight) any { return s.stages()["rewrite"] > 0 }},
		"edits.budget":           {to: "7", see: budgets},
		"edits.min_budget":       {to: "1", see: budgets},
		"edits.files":            {base: []string{"skill=testdata/effect/folder"}, to: "[SKILL.md, references/*.md]", see: func(s sight) any { return s.prompts("analyst_error", "system") }},
		"edits.new_files":        {base: []string{"skill=testdata/effect/folder", "edits.files=[SKILL.md, references/*.md]"}, to: "2", see: func(s sight) any { return s.prompts("analyst_error", "system") }},
		"edits.examples":         {to: "off", see: stages},
		"edits.tidy":             {to: "false", see: bestText},
		"edits.region":           {base: []string{"skill=testdata/effect/learned.md"}, to: "learned", see: bestText},
		"edits.description":      {to: "true", see: func(s sight) any { return fmt.Sprint(s.err) }}, // the example has no trigger tasks
		"edits.verify.command":   {to: "[sh, -c, exit 1]", see: status},
		"edits.verify.timeout":   {base: []string{"edits.verify.command=[sleep, 1]"}, to: "1ms", see: status},
		"edits.schedule":         {to: "model", see: func(s sight) any { return s.stages()["lr_autonomous"] > 0 }},
		"gate.mode":              {to: "off", see: func(s sight) any { return s.sum.Best.Selection == nil }},
		"protocol":               {to: "skillopt", see: budgets},
		"gate.fresh":             {base: []string{"gate.mode=strict"}, to: "false", see: func(s sight) any { return s.sum.Best.Reported.Fresh != nil }},
		"gate.keep":              {to: "true", see: func(s sight) any { return s.started.MaxCalls }}, // what it decides: train_keep.txtar
		"gate.alpha":             {to: "0.4", see: func(s sight) any { return s.sum.Certificate.Words }},
		"gate.group":             {to: "type", see: func(s sight) any { return s.sum.Certificate.N }},
		"gate.metric":            {base: []string{"tasks.checks=[]"}, to: "soft", see: scores},
		"gate.mixed_weight":      {base: []string{"tasks.checks=[]", "gate.metric=mixed"}, to: "0.9", see: scores},
		"gate.density_weight":    {base: []string{"skill=testdata/effect/SKILL.md"}, to: "0.5", see: scores},
		"slow_update.enabled":    {to: "false", see: func(s sight) any { return s.stages()["slow_update"] }},
		"slow_update.samples":    {to: "2", see: func(s sight) any { return s.history.Epochs[0].Pairs }},
		"slow_update.gated":      {to: "false", see: actions},
		"slow_update.pairs":      {to: "changed", see: func(s sight) any { return s.prompts("slow_update", "user") }},
		"meta_skill.enabled":     {to: "false", see: func(s sight) any { return s.stages()["meta_skill"] }},
		"eval.selection":         {to: "train", see: func(s sight) any { return s.sum.Best.Selection.N }},
		"eval.test":              {to: "false", see: func(s sight) any { return s.sum.Test.Best == nil }},
		"eval.no_skill":          {to: "true", see: func(s sight) any { return s.sum.Test.NoSkill != nil }},
		"record.reuse":           {base: []string{"models.target.temperature=0"}, to: "never", see: func(s sight) any { return s.sum.Calls.Reused > 0 }},
		"record.episodes":        {test: wordsOfEpisodes},
	}
}

func limitEffects() map[string]effect {
	priced := []string{"prices={m: {input: 1, output: 1, max_output: 200}}"}
	all := map[string]effect{
		"limits.reserve":     {base: []string{"limits.calls=70"}, scene: scene{stops: true}, to: "none", see: func(s sight) any { return s.sum.Calls.Total }},
		"limits.concurrency": {scene: scene{latency: time.Millisecond}, to: "1", see: func(s sight) any { return s.peak > 1 }},
		"limits.patience":    {scene: scene{broken: true}, base: []string{"limits.patience=100ms"}, to: "20ms", see: func(s sight) any { return strings.Contains(s.err.Error(), "limits.patience is 100ms") }},
		"limits.usd":         {base: priced, to: "0.0001", see: status},
		"limits.tokens":      {base: priced, to: "100", see: status},
		"limits.calls":       {to: "75", see: func(s sight) any { return s.sum.Ceiling }},
		"limits.time":        {to: "1ms", see: status},
		"prices":             {to: strings.TrimPrefix(priced[0], "prices="), see: func(s sight) any { return s.sum.CostUSD != nil }},
		"price_file":         {test: priceFileHasAnEffect},
	}
	return all
}

func runEffects() map[string]effect {
	return map[string]effect{
		"run.dir":  {to: "${DIR}/elsewhere", see: func(s sight) any { return filepath.Base(filepath.Dir(s.sum.RunDir)) }},
		"run.name": {to: "another", see: func(s sight) any { return filepath.Base(s.sum.RunDir) }},
	}
}

func extendsHasAnEffect(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"base.yaml": "train: {epochs: 9}\n", "config.yaml": "extends: base.yaml\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.LoadFile(dir)
	if err != nil || cfg.Train.Epochs != 9 {
		t.Errorf("train.epochs = %d, %v; want that of the file below", cfg.Train.Epochs, err)
	}
}

// priceFileHasAnEffect: a ceiling of money needs prices, which a file may bring.
func priceFileHasAnEffect(t *testing.T) {
	table := filepath.Join(t.TempDir(), "prices.csv")
	rows := "provider,models,input,cached,cache_write,output,batch,up_to,long_input,long_cached,long_cache_write,long_output,max_input,max_output,as_of,source\n" +
		"openai,gpt-next,1,,,2,,,,,,,,1000,2026-11-01,https://prices.example\n"
	if err := os.WriteFile(table, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	sets := []string{"models.target={provider: openai, model: gpt-next}", "limits.usd=1"}
	if _, err := config.LoadFile("", sets...); err == nil || !strings.Contains(err.Error(), "price_file") {
		t.Errorf("without a price: %v", err)
	}
	if _, err := config.LoadFile("", append(sets, "price_file="+table)...); err != nil {
		t.Errorf("with a price: %v", err)
	}
}

func needsShell(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the environments of this test are shell scripts, and there is no sh")
	}
}

// environmentTimesOut: with a deadline that no process can keep nothing is
// measured; with the usual one all is.
func environmentTimesOut(t *testing.T) {
	needsShell(t)
	slow := []string{"env.command=[sh, -c, 'while read -r l; do sleep 60; done']", "limits.concurrency=40"}
	got := look(t, scene{set: append(slow, "env.timeout=50ms")})
	if got.err == nil || !strings.Contains(got.err.Error(), "env.timeout 50ms") {
		t.Errorf("got %v, want the deadline named", got.err)
	}
}

func protocolIsSpoken(t *testing.T) {
	needsShell(t)
	line := []string{"env.command=[sh, -c, 'while read -r l; do echo \"{\\\"hard\\\": 1}\"; done']"}
	if got := look(t, scene{set: line}); got.err != nil {
		t.Errorf("got %v of a program that answers lines", got.err)
	}
	got := look(t, scene{set: append(line, "env.protocol=episode")})
	if got.err == nil || !strings.Contains(got.err.Error(), "no message of JSON-RPC 2.0") {
		t.Errorf("got %v, want the protocol named", got.err)
	}
}

// examinedDiffers examines a role with and without a setting of its model.
func examinedDiffers(t *testing.T, role, change string) {
	t.Helper()
	key, _, _ := strings.Cut(change, "=")
	base := []string{"model=m", "api_key_env=KEY_ONE", "base_url=${URL}/v1", "headers={X-Run: plain}"}
	switch key {
	case "provider":
		base = append(base, "provider=sim", "world=../../cmd/skillopt/testdata/small/world.yaml")
	case "world":
		base = append(base, "provider=sim", "world=../../cmd/skillopt/testdata/small/world.yaml")
	default:
		base = append(base, "provider=openai")
	}
	if before, after := examine(t, role, base), examine(t, role, append(base, change)); cmp.Equal(before, after) {
		t.Errorf("with %s nothing changed: %s", change, after)
	}
}

// examine returns how a role was asked and the result, as text.
func examine(t *testing.T, role string, sets []string) string {
	t.Helper()
	client := sim.New(simulated(t))
	server, other := watch(t, client), watch(t, client)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	opts := config.Options{Dir: wd, Lookup: func(name string) (string, bool) { return "secret-of-" + name, true }}
	all := append(common(server.URL), "run.dir="+t.TempDir())
	for _, s := range sets {
		all = append(all, "models."+role+"."+strings.NewReplacer("${URL}", server.URL, "${OTHER}", other.URL).Replace(s))
	}
	for _, text := range all {
		s, err := config.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		opts.Settings = append(opts.Settings, s)
	}
	l, err := config.Load(opts)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, row := range skillopt.Examine(t.Context(), l.Config, skillopt.WithLoaded(l)).Rows {
		if row.Name == "model "+role {
			detail, _, _ := strings.Cut(row.Detail, " answered") // times differ
			fmt.Fprintln(&b, row.OK, detail)
		}
	}
	for _, r := range server.requests {
		if r.role == "" || r.role == role {
			fmt.Fprintln(&b, r.run, r.auth, r.body)
		}
	}
	return b.String()
}
