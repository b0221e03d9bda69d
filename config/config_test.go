package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

var update = flag.Bool("update", false, "rewrite golden files")

// write lays out files in a fresh directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func noEnv(string) (string, bool) { return "", false }

func load(t *testing.T, files map[string]string, sets ...string) (*Loaded, error) {
	t.Helper()
	opts := Options{Path: "config.yaml", Dir: write(t, files), Lookup: noEnv}
	for _, s := range sets {
		set, err := ParseSetting(s)
		if err != nil {
			t.Fatal(err)
		}
		opts.Settings = append(opts.Settings, set)
	}
	return Load(opts)
}

func TestLayersOverrideInOrder(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{
		"base/base.yaml": "train: {epochs: 2, batch_size: 7}\nskill: SKILL.md\nlimits: {concurrency: 3}\n",
		"config.yaml":    "extends: base/base.yaml\ntrain:\n  epochs: 5\ntasks: t.jsonl\n",
	}, "limits.concurrency=9", "models.target.model=gpt", "models.target.provider=openai")
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	got := []any{c.Train.Epochs, c.Train.BatchSize, c.Limits.Concurrency, c.Models.Target.Model, c.Train.Seed}
	if diff := cmp.Diff([]any{Auto(5), Auto(7), 9, "gpt", int64(42)}, got); diff != "" {
		t.Error(diff)
	}
	if want := filepath.Join("base", "SKILL.md"); !strings.HasSuffix(c.Skill, want) {
		t.Errorf("skill = %s, want it relative to the file that names it (%s)", c.Skill, want)
	}
	if !filepath.IsAbs(c.Tasks.Path) || filepath.Base(c.Tasks.Path) != "t.jsonl" {
		t.Errorf("tasks.path = %s", c.Tasks.Path)
	}
	for key, want := range map[string]string{
		"train.epochs": "config.yaml:3", "train.batch_size": filepath.Join("base", "base.yaml") + ":1",
		"limits.concurrency": "--set", "tasks.path": "config.yaml:4",
	} {
		if got := l.Origins[key]; got != want {
			t.Errorf("origin of %s = %s, want %s", key, got, want)
		}
	}
}

func TestProblemsNameKeyFoundAndAllowed(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, want string }{
		{"unknown key", "train: {epoch: 3}", "config.yaml:1: train.epoch: found an unknown key, allowed: epochs, batch_size, accumulation, seed, curriculum, warm, stop, second_try (did you mean epochs?)"},
		{"unknown block", "trian: {epochs: 3}", "did you mean train?"},
		{"wrong type", "train:\n  epochs: four", `config.yaml:2: train.epochs: found "four", allowed: auto or a whole number`},
		{"fraction", "train: {epochs: 1.5}", "train.epochs: found 1.5, allowed: auto or a whole number"},
		{"range", "aggregate: {fan_in: 1}", "aggregate.fan_in: found 1, allowed: 2 or more"},
		{"enum", "gate: {mode: stric}", `gate.mode: found "stric", allowed: strict, observe, off (did you mean strict?)`},
		{"budget order", "edits: {budget: 2, min_budget: 3}", "edits.min_budget: found 3, allowed: 1 to edits.budget (2)"},
		{"weight", "gate: {mixed_weight: 1.5}", "gate.mixed_weight: found 1.5, allowed: 0 to 1"},
		{"duration", "limits: {patience: soon}", `limits.patience: found "soon", allowed: a duration`},
		{"zero duration", "limits: {patience: 0s}", "limits.patience"},
		{"skill aware", "reflect: {skill_aware: true, view: task}\nedits: {mode: rewrite_from_suggestions}", "reflect.skill_aware"},
		{"description by rewrites", "edits: {description: true, mode: full_rewrite_minibatch}", "edits.description: found true with edits.mode full_rewrite_minibatch, allowed: false with that"},
		{"files by rewrites, which the target does not get", "edits: {files: [SKILL.md, a.md], mode: rewrite_from_suggestions}\nskill_files: document", "edits.files"},
		{"ratio", "split: {ratio: \"2:1\"}", "split.ratio"},
		{"no model", "models: {target: {provider: openai}}", "models.target.model"},
		{"no world", "models: {target: {provider: sim}}", "models.target.world"},
		{"unset variable", "models: {target: {model: \"${NOPE}\"}}", "${NOPE}, a variable that is not set"},
		{"list for map", "train: [1]", "train: found a list, allowed: a mapping"},
		{"not yaml", "a: [", "config.yaml:1: found YAML that cannot be read"},
		{"usd without prices", "limits: {usd: 1}\nmodels: {target: {provider: openai, model: nobody-sells-it}}", "limits.usd"},
		{"usd with a list price at another server", "limits: {usd: 1}\nmodels: {target: {provider: openai, model: gpt-5, endpoints: ['http://gpu2:8000/v1']}}", "limits.usd"},
		{"usd with half the prices", "limits: {usd: 1}\nprices: {m: {input: 1, output: 1}}\nmodels: {target: {provider: openai, model: m}, optimizer: {provider: openai, model: n}}", "limits.usd: found 1, and no price for models.optimizer (n)"},
		{"negative duration", "limits: {patience: -5s}", "config.yaml:1: limits.patience: found -5s, allowed: 1ms or more"},
		{"element of a list", "env:\n  timeout: 1s\n  command: [a, {b: c}]", "config.yaml:3: env.command[1]: found a mapping"},
		{"extends is no text", "skill: a\nextends: [base.yaml]", "config.yaml:2: extends: found a list, allowed: text"},
		{"two documents", "skill: a\n---\ntrain: {epochs: 2}\n", "config.yaml:3: found a second YAML document, allowed: one YAML mapping"},
		{"syntax has a line", "skill: a\nskill: b", "config.yaml:2: found YAML that cannot be"},
		{"no mapping has a line", "\n- a", "config.yaml:2: found YAML that cannot be"},
		{"run name", "run: {name: ../../zz}", `config.yaml:1: run.name: found "../../zz"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, map[string]string{"config.yaml": tc.yaml})
			if !IsInput(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v\nwant it to hold %s", err, tc.want)
			}
		})
	}
}

// Files are trained in every mode.
func TestFilesInEveryMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"patch", "rewrite_from_suggestions", "full_rewrite_minibatch"} {
		_, err := load(t, map[string]string{"config.yaml": "edits: {files: [SKILL.md, \"references/*.md\"], new_files: 2, mode: " + mode + "}"})
		if err != nil && strings.Contains(err.Error(), "edits.") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, map[string]string{"config.yaml": "train: {epochs: 0, nope: 1}\ngate: {metric: hrad}\n"})
	for _, key := range []string{"train.epochs", "train.nope", "gate.metric"} {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("error %v does not name %s", err, key)
		}
	}
}

func TestVariablesComeFromEnvironmentThenDotenv(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		".env":        "export MODEL=from-file\nURL=http://file\n",
		"config.yaml": "models: {target: {provider: openai, model: \"${MODEL}\", base_url: \"${URL}/v1\"}}\nlimits: {concurrency: \"${N}\"}\n",
	})
	env := map[string]string{"MODEL": "from-env", "N": "12"}
	l, err := Load(Options{Path: dir, Dir: dir, Lookup: func(k string) (string, bool) { v, ok := env[k]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	m := l.Config.Models.Target
	if m.Model != "from-env" || m.BaseURL != "http://file/v1" || l.Config.Limits.Concurrency != 12 {
		t.Errorf("got %q %q %d", m.Model, m.BaseURL, l.Config.Limits.Concurrency)
	}
}

func TestExtendsInACircleIsRefused(t *testing.T) {
	t.Parallel()
	_, err := load(t, map[string]string{"config.yaml": "extends: b.yaml\n", "b.yaml": "extends: config.yaml\n"})
	if err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("error = %v", err)
	}
}

func TestFingerprintSeesIdentityKeysOnly(t *testing.T) {
	t.Parallel()
	for _, k := range Default().Keys() {
		changed := Default()
		perturb(t, &changed, k.Path)
		diff := Changes(Default().Fingerprint(nil, nil), changed.Fingerprint(nil, nil))
		want := k.Class == Identity && !k.File // of a file what it holds counts
		if got := len(diff) == 1 && diff[0].Key == k.Path; got != want {
			t.Errorf("%s (%s): changes = %v, want seen = %v", k.Path, k.Class, diff, want)
		}
	}
	a := Default().Fingerprint(map[string]string{"skill": "x"}, nil)
	b := Default().Fingerprint(map[string]string{"skill": "y"}, nil)
	if d := Changes(nil, map[string]string{"skill": "x"}); len(d) != 1 || d[0].Key != "skill" {
		t.Errorf("changes of a fingerprint that is missing: %v", d)
	}
	if d := Changes(a, b); len(d) != 1 || d[0].Key != "skill" {
		t.Errorf("a changed skill gives %v", d)
	}
}

// perturb gives the key another value.
func perturb(t *testing.T, c *Config, key string) {
	t.Helper()
	v := reflect.ValueOf(c).Elem()
	for _, part := range strings.Split(key, ".") {
		f, ok := fieldByKey(v, part)
		if !ok {
			t.Fatalf("no key %s", key)
		}
		v = f
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.125)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("k"), reflect.New(v.Type().Elem()).Elem())
		v.Set(m)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	default:
		t.Fatalf("cannot change %s (%s)", key, v.Kind())
	}
}

func TestYAMLReadsBackTheSame(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": `
skill: SKILL.md
tasks: {path: t.jsonl, prompt: "{{a}}\nline two", extract: {tag: answer}, checks: [{type: equals, value: $gold}]}
models: {target: {provider: openai, model: m, temperature: 0, headers: {X-Stage: "{{stage}}"}, api_key_env: ""}}
limits: {calls: 10, time: 5m}
prices: {m: {input: 1, output: 2}}
`})
	if err != nil {
		t.Fatal(err)
	}
	for _, short := range []bool{false, true} {
		out, err := l.Config.YAML(short)
		if err != nil {
			t.Fatal(err)
		}
		again, err := load(t, map[string]string{"config.yaml": string(out)})
		if err != nil {
			t.Fatalf("short=%v: %v\n%s", short, err, out)
		}
		if diff := cmp.Diff(l.Config.Keys(), again.Config.Keys()); diff != "" {
			t.Errorf("short=%v: %s", short, diff)
		}
	}
}

func TestSchemaIsCommitted(t *testing.T) {
	t.Parallel()
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	const path = "../docs/config.schema.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/config.schema.json is stale, run go test ./config -update:\n%s", diff)
	}
}

func TestEveryKeyIsDocumented(t *testing.T) {
	t.Parallel()
	for _, k := range Default().Keys() {
		if k.Doc == "" {
			t.Errorf("%s has no documentation", k.Path)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": "models: {target: {headers: {Authorization: Bearer abc, X-Stage: s}}}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Explain() {
		if strings.Contains(e.Value, "abc") {
			t.Errorf("%s shows %s", e.Key, e.Value)
		}
	}
	if l.Config.Models.Target.Headers["Authorization"] != "Bearer abc" {
		t.Error("masking changed the configuration itself")
	}
}

func TestDefaultIsValid(t *testing.T) {
	t.Parallel()
	if _, err := load(t, map[string]string{"config.yaml": ""}); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a: 1", "train: {epochs: 2}", "tasks: !0000", "a: &x [1]\nb: *x", "<<: {a: 1}", "a: [", "- 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, _, err := parse("config.yaml", data)
		if err != nil {
			return
		}
		cfg := Default()
		d := &decoder{}
		d.value(reflect.ValueOf(&cfg).Elem(), "", tree)
		d.ranges(reflect.ValueOf(&cfg).Elem(), "")
		d.rules(&cfg)
	})
}

func TestProblemsComeInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := load(t, map[string]string{"config.yaml": "trian: 1\ngate: {mode: no}\nedits: {budget: x}\naggregate: {fan_in: 1}\n"}, "train.epochs=0")
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range bad.Problems {
		got = append(got, p.Origin)
	}
	if diff := cmp.Diff([]string{"--set", "config.yaml:1", "config.yaml:2", "config.yaml:3", "config.yaml:4"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextMayBeSetAsItIs(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"tasks.prompt={{question}}": "{{question}}", "tasks.prompt=Question: {{q}}": "Question: {{q}}", `tasks.prompt="{{q}}"`: "{{q}}",
		"run.name=2024": "2024", "run.name=": "", "prompts=[a": "[a",
	} {
		s, err := ParseSetting(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got, _ := s.Value.(string); got != want {
			t.Errorf("%s: got %#v", raw, s.Value)
		}
	}
	if s, err := ParseSetting("train.epochs=2"); err != nil || s.Value == "2" {
		t.Errorf("a number became text: %#v, %v", s.Value, err)
	}
	for _, raw := range []string{"train={epochs", "nothing", "=1"} {
		if s, err := ParseSetting(raw); !IsInput(err) {
			t.Errorf("%s: got %#v, %v", raw, s, err)
		}
	}
}

func TestASettingCannotExtend(t *testing.T) {
	t.Parallel()
	if _, err := load(t, map[string]string{"config.yaml": ""}, "extends=base.yaml"); !IsInput(err) {
		t.Errorf("got %v", err)
	}
}

func TestRedactedTakesEveryFormOfAKey(t *testing.T) {
	t.Parallel()
	for _, extract := range []any{nil, "tag:answer", map[string]any{"tag": "answer"}} {
		c := Default()
		c.Tasks.Extract = extract
		if diff := cmp.Diff(extract, c.Redacted(redact.New()).Tasks.Extract); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNumbersInTextStayAsWritten(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": `
env: {command: [run, --steps, 1e6, --level, 1.10, -p, 0080]}
run: {name: 2024.10}
models: {target: {provider: openai, model: 4.10, headers: {X-Account: 0123}}}
extras: {n: 1.50}
train: {epochs: 2}
`})
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	got := []any{strings.Join(c.Env.Command, " "), c.Run.Name, c.Models.Target.Model, c.Models.Target.Headers["X-Account"], c.Extras["n"], c.Train.Epochs}
	want := []any{"run --steps 1e6 --level 1.10 -p 0080", "2024.10", "4.10", "0123", 1.5, Auto(2)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesInFreeValuesKeepTheirText(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"A": "007", "B": "7", "C": "true", "D": "[x]", "E": "1e3", "F": "a: b", "G": "12345678901234567890123", "H": "null", "I": "0.5"}
	dir := write(t, map[string]string{"config.yaml": `
extras: {a: "${A}", b: "${B}", c: "${C}", d: "${D}", e: "${E}", f: "${F}", g: "${G}", h: "${H}", i: "${I}"}
tasks: {checks: [{type: equals, value: "${A}"}]}
`})
	l, err := Load(Options{Path: dir, Dir: dir, Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": "007", "b": int64(7), "c": true, "d": "[x]", "e": "1e3", "f": "a: b", "g": vars["G"], "h": "null", "i": 0.5}
	got := map[string]any{}
	for k, v := range l.Config.Extras {
		if n, ok := whole(v); ok {
			v = n
		}
		got[k] = v
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"type": "equals", "value": "007"}}, l.Config.Tasks.Checks); diff != "" {
		t.Error(diff)
	}
}

func TestADocumentMarkIsNoSecondDocument(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"---\ntrain: {epochs: 2}\n", "# why\n---\ntrain: {epochs: 2}\n...\n", "train: {epochs: 2}\n---\n# end\n", "---\ntrain: {epochs: 2}\n---\n"} {
		l, err := load(t, map[string]string{"config.yaml": text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if l.Config.Train.Epochs != 2 {
			t.Errorf("%q: epochs = %d", text, l.Config.Train.Epochs)
		}
	}
}

func TestADotenvThatCannotBeReadShowsNoneOfIt(t *testing.T) {
	t.Parallel()
	_, err := load(t, map[string]string{"config.yaml": "", ".env": "A=1\nfoo bar\nKEY=topsecretvalue\n"})
	if !IsInput(err) || strings.Contains(err.Error(), "topsecretvalue") || !strings.Contains(err.Error(), ".env:2: found a line that cannot be read, allowed: lines of NAME=value") {
		t.Errorf("error = %v", err)
	}
}

func TestNamesWithDotsMayBeSet(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": "prices: {gpt-4.1: {input: 1, output: 7}}\n"},
		"prices.gpt-4.1.input=2", "prices.m.output=3", "prices={q.2: {input: 5}}", "models.target.headers.X.Name=1.10", "extras.a.b=1", "train.epochs=2")
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	got := []any{c.Prices["gpt-4.1"].Input, c.Prices["gpt-4.1"].Output, c.Prices["m"].Output, c.Prices["q.2"].Input, c.Models.Target.Headers["X.Name"], c.Train.Epochs}
	if diff := cmp.Diff([]any{2.0, 7.0, 3.0, 5.0, "1.10", Auto(2)}, got); diff != "" {
		t.Error(diff)
	}
	if nested, ok := c.Extras["a"].(map[string]any); !ok || fmt.Sprint(nested["b"]) != "1" {
		t.Errorf("extras = %v", c.Extras)
	}
	for _, bad := range []string{"prices.gpt-4.1.inptu=2", "train..epochs=3", "nope.a.b=1", "prices.x=1"} {
		if _, err := load(t, map[string]string{"config.yaml": ""}, bad); !IsInput(err) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": "tasks: {path: t.csv, columns: {id: 7, prompt: Question}}\n"}, "tasks.columns.gold=The answer")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"id": "7", "prompt": "Question", "gold": "The answer"}, l.Config.Tasks.Columns); diff != "" {
		t.Error(diff)
	}
	for yaml, want := range map[string]string{
		"tasks: {columns: {prompt: \"\"}}": `config.yaml:1: tasks.columns.prompt: found "", allowed: the name of a column of the table`,
		"tasks: {columns: [prompt]}":       `config.yaml:1: tasks.columns: found a list, allowed: a mapping`,
		"tasks: {columns: {prompt: true}}": `tasks.columns.prompt: found true, allowed: text`,
	} {
		if _, err := load(t, map[string]string{"config.yaml": yaml}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", yaml, err, want)
		}
	}
}
