package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// answerSchema is the schema of an answer of the API. What the server adds to the document of
// the command is not asked for.
func answerSchema(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	doc.Components.Schemas["Run"]["required"] = []string{"run_dir", "manifest", "models", "history", "summary"} // row is the server's
	all, err := json.Marshal(map[string]any{"$defs": doc.Components.Schemas, "$ref": "#/$defs/" + name})
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(bytes.ReplaceAll(all, []byte("#/components/schemas/"), []byte("#/$defs/")), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What commands print with --json is the answer of the API to the same question, whose lists
// are never null.
func TestAnswersOfCommandsAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs, Dir: dir}, "test"); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, &errs)
		}
		return out.Bytes()
	}
	quick, err := filepath.Abs(filepath.Join("..", "..", "examples", "quickstart"))
	if err != nil {
		t.Fatal(err)
	}
	ledger := "run.dir=" + filepath.Join(dir, "runs") // not in the folder of the process
	command("train", quick, "--yes", "--run", "runs/t", "--set", "train.epochs=1", "--set", ledger)
	command("eval", quick, "--yes", "--run", "runs/e", "--set", ledger)
	command("doctor", quick, "--noise", "--yes", "--set", ledger, "--set", "run.name=n")
	noise, err := filepath.Glob(filepath.Join(dir, "runs", "n-noise-*"))
	if err != nil || len(noise) != 1 {
		t.Fatal(noise, err)
	}
	var failing struct{ Failing []struct{ ID string } }
	if err := json.Unmarshal(command("runs", "tasks", "runs/t", "--failing", "--step", "0", "--json"), &failing); err != nil || len(failing.Failing) == 0 {
		t.Fatalf("nothing fails with the seed skill: %v", err)
	}
	for _, c := range []struct {
		schema string
		args   []string
	}{
		{"Run", []string{"show", "runs/t"}},
		{"Run", []string{"show", "runs/e"}},
		{"Run", []string{"show", noise[0]}},
		{"Progress", []string{"watch", "runs/t", "--once"}},
		{"Progress", []string{"watch", noise[0], "--once"}},
		{"Versions", []string{"skill", "runs/t", "--list"}},
		{"SkillFiles", []string{"skill", "runs/t"}},
		{"Difference", []string{"diff", "runs/t"}},
		{"Difference", []string{"diff", "runs/t", "--from", "0", "--to", "0"}},
		{"Blame", []string{"blame", "runs/t"}},
		{"StepDetail", []string{"show", "runs/t", "1"}},
		{"StepDetail", []string{"show", "runs/t", "0"}},
		{"Grid", []string{"tasks", "runs/t"}},
		{"Grid", []string{"tasks", noise[0]}},
		{"TaskAnswer", []string{"tasks", "runs/t", failing.Failing[0].ID}},
		{"Failures", []string{"tasks", "runs/t", "--failing"}},
		{"Spending", []string{"calls", "runs/t"}},
		{"Spending", []string{"calls", noise[0]}},
		{"AskCalls", []string{"calls", "runs/t", "--failed"}},
		{"Spending", []string{"calls", "runs/t", "--by", "part"}},
		{"RunsCompared", []string{"compare", "runs/t", "runs/e"}},
		{"Notes", []string{"note", "runs/t"}},
	} {
		var answer any
		text := command(append(append([]string{"runs"}, c.args...), "--json")...)
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		if err := answerSchema(t, c.schema).Validate(answer); err != nil {
			t.Errorf("runs %v: %v", c.args, err)
		}
	}
}
