package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// broken are command lines that cannot be carried out, one for each command at least.
var broken = map[string][]string{
	"train":                 {"nothing", "bad", "bad --set train.epoch=2", "tasks --set tasks.path=bad.jsonl", "tasks --memory nothing", "tasks --memory damaged"},
	"try":                   {"nothing", "bad"},
	"eval":                  {"nothing", "bad", "--nope", "bad --repeat 0"},
	"compare":               {"a b", "a", "a b --config bad"},
	"ablate":                {"nothing"},
	"prune":                 {"nothing"},
	"init":                  {"full", "a b", "x --skill nothing --generate 3 --optimizer openai/m", "x --world rules=0"},
	"doctor":                {"nothing", "bad"},
	"env check":             {"nothing", "bad"},
	"gateway":               {"nothing", "bad"},
	"queued":                {"", "nowhere x"},
	"serve":                 {"nothing", "bad.jsonl", "--addr 1", "--addr 0.0.0.0:0", "--tls-cert bad.jsonl"},
	"plugin install":        {"emacs", "", "claude codex", "claude --project", "openclaw --project"},
	"plugin remove":         {"emacs", "", "claude codex --project", "claude --project"},
	"plugin list":           {"x"},
	"skill lint":            {"nothing"},
	"tasks lint":            {"nothing", "bad.jsonl", "bad", "lines.jsonl"},
	"tasks import":          {"nothing --out x", "bad.jsonl", "bad.jsonl --out full", "bad.jsonl --out x --format nobody", "bad.jsonl --out x --map prompt", "lines.jsonl --out x", "bad.jsonl --out x --root full"},
	"tasks review":          {"nothing"},
	"tasks verify":          {"nothing", "bad", "tasks"},
	"runs list":             {"a b"},
	"runs show":             {"nothing", "damaged", "nothing 1", "damaged 1", "nothing x"},
	"runs tasks":            {"nothing", "damaged", "nothing --sort x", "nothing t", "damaged t", "damaged --failing", "a --step 1", "a --prompt", "a --failing --split train", "a b --failing"},
	"runs skill":            {"nothing", "damaged", "nothing --list"},
	"runs compare":          {"nothing damaged", "a"},
	"runs note":             {"nothing", "nothing --tag x"},
	"runs diff":             {"nothing", "damaged"},
	"runs blame":            {"nothing", "damaged"},
	"runs export":           {"nothing", "damaged", "a --format cassette", "damaged --format inspect --to x.json", "damaged --format report --to x.html", "damaged --format cassette --to x", "a --format nobody", "a --format inspect", "a --format inspect --to x", "nothing --split test"},
	"runs calls":            {"nothing", "damaged", "nothing --by x", "nothing --by role --failed", "nothing --limit -1"},
	"runs watch":            {"nothing", "damaged"},
	"runs stop":             {"nothing", "damaged", "", "a b"},
	"runs limit":            {"nothing usd=3", "damaged usd=3", "usd=-1", "damaged", "damaged token=3", "usd=3"},
	"runs check":            {"nothing"}, // what is damaged is its result
	"runs rm":               {"nothing", "damaged", "", "--keep -1", "a b --keep 1", "a --unfinished"},
	"rescore":               {"nothing --config tasks", "damaged --config tasks"},
	"config explain":        {"nothing.yaml", "bad", "a --schema"},
	"config import":         {"nothing"},
	"prices":                {"nothing", "a b"},
	"sleep init":            {"--profile bad", "--profile bad.jsonl", "x", "--revoke"},
	"sleep harvest":         {"--profile bad", "--profile nothing", "x", "--project y", "--show-outbound --dry-run", "--profile tasks --since soon"},
	"sleep status":          {"--profile bad", "x"},
	"sleep sessions":        {"--profile bad", "--profile tasks --since soon", "a b", "--profile bad y"},
	"sleep doctor":          {"x"}, // what is wrong with the profile is its result
	"sleep forget":          {"--profile bad y", "", "a b", "--all y", "--profile bad --all"},
	"sleep try":             {"--profile bad", "x", "--profile tasks"},
	"sleep demo":            {"a b", "full/config.yaml", "x --project y"},
	"sleep run":             {"--profile bad", "--profile tasks", "x"},
	"sleep mine":            {"--profile bad", "--profile tasks", "x"},
	"sleep review":          {"--profile bad", "x"},
	"sleep show":            {"--profile bad", "a b"},
	"sleep schedule":        {"--profile bad", "--profile tasks", "x", "--at 24:00", "--kind nobody", "--list x", "--off x", "--off --list"},
	"sleep adopt":           {"--profile bad", "a b", "--rule x", "--profile tasks", "a/b", "--discard --all", "--discard --profile bad"},
	"sleep rollback":        {"--profile bad", "a b", "x", "0", "-1"},
	"sleep blame":           {"--profile bad y", "", "nothing"},
	"bench list":            {"nobody", "a b", "./nothing"},
	"bench fetch":           {"nobody", "./nothing", "searchqa", "mmrb --accept-licence"},
	"bench prepare":         {"nobody --out x", "searchqa", "searchqa --out full --fixture", "searchqa --out x --fixture --from y", "searchqa --out x --from nothing"},
	"bench run":             {"nobody --fixture", "searchqa --fixture --config nothing", "searchqa --fixture --out full"},
	"bench verify":          {"tasks", "nothing --against bad.jsonl", "tasks --against bad.jsonl"},
	"mcp":                   {"x", "--root nothing"},
	"help":                  nil, // it prints help, whatever it is asked
	"completion bash":       {"a"},
	"completion zsh":        {"a"},
	"completion fish":       {"a"},
	"completion powershell": {"a"},
}

// brokenFiles is a folder in which they are given.
func brokenFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bad/config.yaml":       "tasks: tasks.jsonl\ntrian: {epochs: 2}\nedits: {budget: four}\n",
		"tasks/config.yaml":     "tasks: tasks.jsonl\nmodels: {target: {provider: openai, model: m}, optimizer: {provider: openai, model: m}}\n",
		"tasks/tasks.jsonl":     "{\"id\":\"a\",\"prompt\":\"p\",\"gold\":\"g\"}\n",
		"bad.jsonl":             "{\"id\":\"a\",\"prompt\":\"x\",\"gold\":\"1\"}\n{\"id\":\"a\",\"prompt\":\"y\",\"gold\":\"2\"}\n{\"id\":\"b\",\"prompt\":\"z\"}\n",
		"lines.jsonl":           "{\"id\":\"a\"}\n{no\n",
		"full/config.yaml":      "",
		"damaged/manifest.json": "{",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func errorSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile("../../docs/error.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// Every command answers every broken input under --json with one document on standard
// error that keeps to the schema, and with nothing on standard output.
func TestEveryCommandFailsAsADocument(t *testing.T) {
	t.Parallel()
	schema, dir := errorSchema(t), brokenFiles(t)
	for _, name := range leaves(rootCommand(&app{}), "") {
		lines, known := broken[name]
		if !known {
			t.Errorf("%s: no broken input: add one", name)
		}
		for _, line := range lines {
			for _, args := range [][]string{
				append(strings.Fields(name+" "+line), "--json"),
				append([]string{"--json"}, strings.Fields(name+" "+line)...),
			} {
				var out, errs bytes.Buffer
				code := Main(context.Background(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test")
				checkFailure(t, schema, strings.Join(args, " "), code, out.String(), errs.String())
			}
		}
	}
}

func checkFailure(t *testing.T, schema *jsonschema.Resolved, line string, code int, out, errs string) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(errs), &doc); err != nil || strings.Count(errs, "\n") != 1 {
		t.Errorf("%s: not one line of JSON (%v): %s", line, err, errs)
		return
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%s: %v: %s", line, err, errs)
	}
	var f result.Failure
	if err := json.Unmarshal([]byte(errs), &f); err != nil || f.ExitCode != code || code == exitOK || out != "" {
		t.Errorf("%s: exit code %d, output %q, %v: %s", line, code, out, err, errs)
	}
}

// leaves are the commands that do something, by their names.
func leaves(c *cobra.Command, prefix string) []string {
	if c.Root() == c {
		c.InitDefaultHelpCmd()
		c.InitDefaultCompletionCmd()
	}
	var out []string
	for _, sub := range c.Commands() {
		name := strings.TrimSpace(prefix + " " + sub.Name())
		if sub.HasSubCommands() {
			out = append(out, leaves(sub, name)...)
		} else {
			out = append(out, name)
		}
	}
	return out
}

func TestProblemsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want []result.Problem
	}{
		{
			"of a config", &config.Error{Problems: []config.Problem{{Key: "train.epochs", Origin: "c.yaml:3", Found: "0", Want: "1 or more"}, {Key: "trian", Origin: "--set", Found: "an unknown key", Hint: "did you mean train?"}, {Origin: "c.yaml:1", Found: "YAML that cannot be read"}}},
			[]result.Problem{{File: "c.yaml", Line: 3, Key: "train.epochs", Message: "found 0, allowed: 1 or more"}, {Key: "trian", Message: "found an unknown key", Help: "did you mean train?"}, {File: "c.yaml", Line: 1, Message: "found YAML that cannot be read"}},
		},
		{
			"of tasks", &task.Error{Problems: []task.Problem{{Origin: "t.jsonl:2", ID: "a", Msg: "no gold answer; give it one, or checks"}, {Origin: "t", Msg: "no tasks"}}},
			[]result.Problem{{File: "t.jsonl", Line: 2, Task: "a", Message: "no gold answer", Help: "give it one, or checks"}, {File: "t", Message: "no tasks"}},
		},
		{
			"in words", errors.New(`t.csv:3: task "x": no prompt; add one here`),
			[]result.Problem{{File: "t.csv", Line: 3, Task: "x", Message: "no prompt", Help: "add one here"}},
		},
		{"of a key in words", errors.New("edits.files: no such file"), []result.Problem{{Key: "edits.files", Message: "edits.files: no such file"}}},
		{"of a file", &os.PathError{Op: "open", Path: "f", Err: os.ErrPermission}, []result.Problem{{File: "f", Message: "open f: permission denied"}}},
		{"of several lines", errors.New("was begun otherwise:\n  a\ngo on with --fork"), []result.Problem{{Message: "was begun otherwise:\n  a", Help: "go on with --fork"}}},
	} {
		if diff := cmp.Diff(tt.want, toProblems(tt.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A help that names a key names one that can be explained.
func TestHelpExplainsKeysThatThereAre(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"a":                 "correct it; `skillopt config explain` lists the keys",
		"models.target.foo": "correct it; `skillopt config explain` lists the keys",
		"train.epochs":      "correct it; `skillopt config explain train.epochs` says what is allowed",
		"train":             "correct it; `skillopt config explain train` says what is allowed",
	} {
		if got := helpFor(exitInput, result.Problem{Key: key}); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

// A flag whose value is of another kind is told in the words of the other errors.
func TestFlagsOfAnotherKind(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"eval x --limit many":     `--limit: found "many", allowed: a whole number; ` + "`skillopt eval --help` lists the flags",
		"eval x --yes=perhaps":    `--yes: found "perhaps", allowed: true or false`,
		"try x --epoch two":       "--epoch",
		"runs calls --limit 9e99": `--limit: found "9e99", allowed: a whole number`,
	} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), strings.Fields(line), Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir()}, "test")
		if code != exitInput || !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "strconv") {
			t.Errorf("%s: exit code %d: %s", line, code, errs.String())
		}
	}
}

// A check or an extraction that is wrong says where in the config it stands.
func TestWrongChecksHaveAPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]result.Problem{
		"tasks:\n  path: tasks.jsonl\n  checks:\n    - {type: equal}\n": {Key: "tasks.checks", Line: 3},
		"tasks:\n  path: tasks.jsonl\n  extract: {tagg: a}\n":           {Key: "tasks.extract", Line: 3},
	} {
		dir := brokenFiles(t)
		writeFile(t, filepath.Join(dir, "tasks", "config.yaml"), text+"models: {target: {provider: openai, model: m}, optimizer: {provider: openai, model: m}}\n")
		var out, errs bytes.Buffer
		code := Main(context.Background(), []string{"tasks", "lint", "tasks", "--json"}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test")
		var f result.Failure
		if err := json.Unmarshal(errs.Bytes(), &f); err != nil || code != exitInput || len(f.Problems) != 1 {
			t.Fatalf("exit code %d, %v: %s", code, err, errs.String())
		}
		if p := f.Problems[0]; p.File != filepath.Join("tasks", "config.yaml") || p.Line != want.Line || p.Key != want.Key {
			t.Errorf("got %+v", p)
		}
	}
}
