package check

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// folder writes files, by path, into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		must(t, os.MkdirAll(filepath.Dir(full), 0o700))
		must(t, os.WriteFile(full, []byte(text), 0o600))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// assess scores evidence by checks written in YAML.
func assess(t *testing.T, text string, ev Evidence, of task.Task, by Means) score.Score {
	t.Helper()
	got, err := suite(t, text, Options{}).Assess(t.Context(), ev, of, by)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

func TestFileChecks(t *testing.T) {
	t.Parallel()
	outside := folder(t, map[string]string{"secret.txt": "secret"})
	dir := folder(t, map[string]string{
		"a.txt": "hello\n", "sub/b.go": "package b\n\nfunc F() {}\nfunc G() {}\n", "empty": "", "num": "The 12 Apples",
	})
	must(t, os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "out")))
	must(t, os.Symlink("a.txt", filepath.Join(dir, "in")))
	big, err := os.Create(filepath.Join(dir, "big"))
	must(t, err)
	must(t, errors.Join(big.Truncate(maxFile+1), big.Close()))
	of := task.Task{Gold: []string{"hello", "hi"}}
	tests := []struct {
		check  string
		pass   bool
		soft   float64
		reason string // of the failure
	}{
		{"{type: file-exists, path: a.txt}", true, 1, ""},
		{"{type: file-exists, path: sub}", true, 1, ""},
		{"{type: file-exists, path: sub, kind: file}", false, 0, "sub is no file"},
		{"{type: file-exists, path: a.txt, kind: folder}", false, 0, "a.txt is no folder"},
		{"{type: file-exists, path: sub/b.go, kind: file}", true, 1, ""},
		{"{type: file-exists, path: none}", false, 0, "none is not there"},
		{"{type: file-exists, path: a.txt/x}", false, 0, "cannot be read"},
		{"{type: not-file-exists, path: none}", true, 1, ""},
		{"{type: not-file-exists, path: a.txt}", false, 0, "must not be so: the workspace has a.txt"},
		{"{type: file-exists, path: out}", false, 0, "out cannot be read"},
		{"{type: not-file-exists, path: out}", false, 0, "out cannot be read"},
		{"{type: file-exists, path: in}", true, 1, ""},
		{"{type: file-equals, path: a.txt, value: hello}", true, 1, ""},
		{"{type: file-equals, path: in, value: hello}", true, 1, ""},
		{"{type: file-equals, path: a.txt}", true, 1, ""},
		{"{type: file-equals, path: a.txt, value: $gold}", true, 1, ""},
		{"{type: file-equals, path: a.txt, value: Hello, normalize: casefold}", true, 1, ""},
		{"{type: file-equals, path: a.txt, value: hello, normalize: none}", false, 0, "a.txt: got \"hello\\n\", expected \"hello\": only white space differs"},
		{"{type: file-equals, path: num, value: 12 apples, normalize: text}", true, 1, ""},
		{"{type: file-equals, path: none, value: hello}", false, 0, "none is not there"},
		{"{type: not-file-equals, path: a.txt, value: hello}", false, 0, "must not be so: the workspace has a a.txt that equals"},
		{"{type: file-equals, path: big, value: x}", false, 0, "a check reads at most"},
		{"{type: not-file-equals, path: big, value: x}", false, 0, "a check reads at most"},
		{"{type: file-equals, path: sub, value: x}", false, 0, "no regular file"},
		{"{type: file-equals, path: out, value: secret}", false, 0, "out cannot be read"},
		{"{type: file-contains, path: sub/b.go, value: func}", true, 1, ""},
		{"{type: file-contains, path: sub/b.go, value: FUNC, normalize: casefold}", true, 1, ""},
		{"{type: file-contains, path: sub/b.go, values: [func F, func H]}", false, 0.5, `sub/b.go: "func H" is not there`},
		{"{type: file-contains, path: sub/b.go, value: func, min: 3}", false, 0, "is there 2 times, 3 or more are allowed"},
		{"{type: file-contains, path: sub/b.go, value: func, max: 1}", false, 0, "is there 2 times, 0 to 1 are allowed"},
		{"{type: file-contains, path: sub/b.go, value: absent, max: 1}", true, 1, ""},
		{"{type: file-contains, path: none, value: absent, max: 1}", false, 0, "none is not there"},
		{"{type: file-contains, path: sub/b.go, regex: '^func \\w', flags: m, min: 2, max: 2}", true, 1, ""},
		{"{type: file-contains, path: sub/b.go, regex: '^func \\w', flags: m, max: 1}", false, 0, "is there 2 times"},
		{"{type: file-contains, path: sub/b.go, regex: 'func [HI]'}", false, 0, "/func [HI]/ is not there"},
		{"{type: not-file-contains, path: none, value: x}", true, 1, ""},
		{"{type: not-file-contains, path: a.txt, value: hell}", false, 0, "must not be so"},
		{"{any: [{type: file-exists, path: none}, {type: file-exists, path: a.txt}]}", true, 1, ""},
		{"{all: [{type: file-exists, path: none}, {type: equals, value: answer}]}", false, 0.5, "none is not there"},
	}
	for _, tt := range tests {
		t.Run(tt.check, func(t *testing.T) {
			t.Parallel()
			got := assess(t, tt.check, Evidence{Answer: "answer", Dir: dir}, of, Means{})
			if (got.Hard == 1) != tt.pass || got.Soft != tt.soft || !strings.Contains(got.Reason, tt.reason) || (got.Reason == "") != tt.pass {
				t.Errorf("got %+v", got)
			}
			if strings.Contains(got.Reason+got.Feedback, "file does not exist") || strings.Contains(got.Reason, outside) {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}

func TestDeletedWorkspace(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	ev := Evidence{Dir: gone, Before: Manifest{Files: map[string]File{}}}
	ran := Means{Command: func(context.Context, string, Command) (CommandResult, error) {
		t.Error("the command was run")
		return CommandResult{End: EndExit}, nil
	}}
	for _, check := range []string{
		"{type: file-exists, path: a}", "{type: file-contains, path: a, value: x}", "{type: diff, max_files: 5}",
		"{type: command, run: 'true'}", "{type: not-command, run: 'true'}",
	} {
		if got := assess(t, check, ev, task.Task{}, ran); got.Hard != 0 || !strings.Contains(got.Reason, "workspace was deleted") {
			t.Errorf("%s: got %+v", check, got)
		}
	}
}

func TestToolCalled(t *testing.T) {
	t.Parallel()
	call := func(action string) trajectory.Turn { return trajectory.Turn{Kind: trajectory.ToolCall, Action: action} }
	turns := []trajectory.Turn{
		{Role: "assistant", Content: "bash is what I use"},
		call(`bash {"cmd":"ls -la"}`), call(`bash {"cmd":"go test ./..."}`), call(`write {"path":"a.txt","text":"bash"}`), call("finish"),
	}
	tests := []struct {
		check string
		pass  bool
	}{
		{"{type: tool-called, tool: bash}", true},
		{"{type: tool-called, tool: bas}", false},
		{"{type: tool-called, tool: 'bash|sh', min: 2, max: 2}", true},
		{"{type: tool-called, tool: bash, max: 1}", false},
		{"{type: tool-called, tool: BASH, flags: i}", true},
		{"{type: tool-called, tool: bash, args: 'go test'}", true},
		{"{type: tool-called, tool: write, args: 'go test'}", false},
		{"{type: tool-called, args: '\"path\":\"a.txt\"'}", true},
		{"{type: tool-called, tool: finish}", true},
		{"{type: not-tool-called, tool: web_fetch}", true},
		{"{type: not-tool-called, tool: bash}", false},
		{"{type: tool-called, tool: '.*', min: 4, max: 4}", true},
	}
	for _, tt := range tests {
		got := assess(t, tt.check, Evidence{Turns: turns}, task.Task{}, Means{})
		if (got.Hard == 1) != tt.pass || (got.Reason == "") != tt.pass {
			t.Errorf("%s: got %+v", tt.check, got)
		}
	}
	got := assess(t, "{type: tool-called, tool: edit, args: main}", Evidence{Turns: turns}, task.Task{}, Means{})
	if want := "tool-called: 0 calls of edit with /main/, 1 or more are allowed; 4 calls in all"; got.Reason != want {
		t.Errorf("got %q", got.Reason)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		check string
		want  Needs
	}{
		{"{type: equals, value: x}", Needs{}},
		{"{type: file-exists, path: a}", Needs{Workspace: true}},
		{"{type: diff, max_files: 1}", Needs{Workspace: true, Snapshot: true}},
		{"{type: git-diff, max_files: 1}", Needs{Workspace: true, Snapshot: true}},
		{"{type: tool-called, tool: a}", Needs{Turns: true}},
		{"{type: command, run: 'true'}", Needs{Workspace: true, Command: true}},
		{"{type: llm-rubric, criteria: good}", Needs{Judge: true}},
		{"{type: llm-rubric, criteria: good, files: [a]}", Needs{Judge: true, Workspace: true}},
		{"{type: llm-equivalent}", Needs{Judge: true}},
		{"[is-json, {any: [{type: file-exists, path: a}, {all: [{type: llm-equivalent}]}]}]", Needs{Workspace: true, Judge: true}},
	}
	for _, tt := range tests {
		s := suite(t, tt.check, Options{})
		if d := cmp.Diff(tt.want, s.Needs(task.Task{})); d != "" {
			t.Errorf("%s: %s", tt.check, d)
		}
		got := s.Score("x", task.Task{Gold: []string{"x"}})
		if pure := tt.want == (Needs{}); pure != (got.Hard == 1) || !pure && !strings.HasPrefix(got.Reason, "broken checks: ") {
			t.Errorf("%s: the answer alone scores %+v", tt.check, got)
		}
		_, err := s.Assess(t.Context(), Evidence{Answer: "x"}, task.Task{Gold: []string{"x"}}, Means{})
		if missing := tt.want.Workspace || tt.want.Judge; missing != (err != nil) {
			t.Errorf("%s: without means: %v", tt.check, err)
		}
	}
	own := task.Task{Checks: json.RawMessage(`{"type":"llm-equivalent"}`)}
	if got := suite(t, "is-json", Options{}).Needs(own); !got.Judge {
		t.Errorf("a task's own checks need %+v", got)
	}
	broken := task.Task{Checks: json.RawMessage(`{"type":"nope"}`)}
	if _, err := suite(t, "is-json", Options{}).Assess(t.Context(), Evidence{}, broken, Means{}); err == nil {
		t.Error("checks that cannot be read: no error")
	}
}

func TestNewCompileErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"{type: file-exists}", "checks[0].path: is missing"},
		{"{type: file-exists, path: ''}", "a path expected"},
		{"{type: file-exists, path: /etc/passwd}", "leads out of the workspace"},
		{"{type: file-exists, path: ., kind: folder}", `"." is the workspace itself`},
		{"{type: command, run: x, reward: .}", `checks[0].reward: "." is the workspace itself`},
		{"{type: llm-rubric, criteria: x, files: [.]}", "is the workspace itself"},
		{"{type: command, run: x, on_missing: skip}", "one of unmeasured, fail"},
		{"{type: file-exists, path: ../x}", "leads out of the workspace"},
		{"{type: file-exists, path: a/../../x}", "leads out of the workspace"},
		{"{type: file-exists, path: 'a\\b'}", "write / between folders"},
		{"{type: file-exists, path: a, kind: link}", "one of any, file, folder"},
		{"{type: file-equals, path: a, normalize: number}", "is not allowed"},
		{"{type: file-contains, path: a, value: ''}", "is empty"},
		{"{type: file-contains, path: a, value: x, regex: y}", "value: is given together with regex"},
		{"{type: file-contains, path: a, value: x, flags: i}", "flags: belong to regex"},
		{"{type: file-contains, path: a, regex: '('}", "checks[0].regex:"},
		{"{type: file-contains, path: a, value: x, min: 3, max: 1}", "above max"},
		{"{type: file-contains, path: a, value: x, min: 0}", "always so"},
		{"{type: diff}", "needs max_files, max_added"},
		{"{type: diff, allow: ['../x']}", "write it from the workspace"},
		{"{type: diff, deny: ['a[']}", "brackets are not closed"},
		{"{type: diff, deny: [3]}", "a pattern of paths expected"},
		{"{type: tool-called}", "tool: is missing"},
		{"{type: tool-called, tool: '('}", "checks[0].tool:"},
		{"{type: command}", "exactly one of argv"},
		{"{type: command, argv: []}", "a list of a program"},
		{"{type: command, argv: go test}", "a list of a program"},
		{"{type: command, argv: ['']}", "the program is empty"},
		{"{type: command, argv: [go], run: x}", "exactly one of argv"},
		{"{type: command, run: ' '}", "a script expected"},
		{"{type: command, run: x, timeout: soon}", "is no time"},
		{"{type: command, run: x, timeout: 0}", "out of range"},
		{"{type: command, run: x, timeout: 99999999999999}", "out of range"},
		{"{type: command, run: x, timeout: 2h}", "out of range"},
		{"{type: command, run: x, reward: ../r}", "leads out of the workspace"},
		{"{type: command, run: x, threshold: 0.5}", "unknown key \"threshold\""},
		{"{type: command, run: x, on_timeout: pass}", "one of unmeasured, fail"},
		{"{type: llm-rubric}", "criteria: what the judge looks for is missing"},
		{"{type: llm-rubric, criteria: []}", "is missing"},
		{"{type: llm-rubric, criteria: ' '}", "a text expected"},
		{"{type: llm-rubric, criteria: [{text: a, weight: 0}]}", "every weight is 0"},
		{"{type: llm-rubric, criteria: [{txt: a}]}", "did you mean"},
		{"{type: llm-rubric, criteria: a, votes: 2}", "an odd number"},
		{"{type: llm-rubric, criteria: a, votes: 0}", "an odd number"},
		{"{type: llm-rubric, criteria: a, combine: max}", "one of median, mean"},
		{"{type: llm-rubric, criteria: a, files: [/etc/passwd]}", "leads out of the workspace"},
		{"{type: llm-equivalent, votes: 27}", "an odd number up to 25"},
	}
	for _, tt := range tests {
		_, err := Compile(fromYAML(t, tt.text), Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestNewLint(t *testing.T) {
	t.Parallel()
	all := Options{Workspace: true, Judge: true}
	tests := []struct {
		check string
		o     Options
		task  task.Task
		want  string
	}{
		{"{type: file-exists, path: a}", Options{}, task.Task{}, "no agent with a workspace"},
		{"{type: file-exists, path: a}", all, task.Task{}, ""},
		{"{type: not-file-exists, path: a}", all, task.Task{}, "an empty answer with an empty workspace passes not-file-exists"},
		{"{type: diff, max_files: 3}", all, task.Task{}, "cannot fail"},
		{"[{type: diff, max_files: 3}, {type: file-exists, path: a}]", all, task.Task{}, ""},
		{"{type: tool-called, tool: a, max: 3}", Options{}, task.Task{}, "cannot fail"},
		{"{type: tool-called, tool: a}", Options{}, task.Task{}, ""},
		{"{type: command, run: 'true'}", Options{Judge: true}, task.Task{}, "no agent with a workspace"},
		{"{type: command, run: 'true'}", all, task.Task{}, ""},
		{"{type: not-command, run: 'true'}", all, task.Task{}, ""},
		{"{type: llm-rubric, criteria: good}", Options{Workspace: true}, task.Task{}, "no model has that role"},
		{"{type: llm-rubric, criteria: good}", all, task.Task{}, ""},
		{"{type: llm-rubric, criteria: good, reference: true}", all, task.Task{}, "no gold answer"},
		{"{type: llm-equivalent}", all, task.Task{}, "no gold answer"},
		{"{type: llm-equivalent}", all, task.Task{Gold: []string{"x"}}, ""},
		{"is-json", all, task.Task{Checks: json.RawMessage(`{"type":"command","run":"curl x","network":true}`)}, "not those that come with a task"},
		{"is-json", all, task.Task{Checks: json.RawMessage(`{"any":[{"type":"command","run":"curl x","network":true}]}`)}, "not those that come with a task"},
		{"{type: command, run: curl x, network: true}", all, task.Task{}, ""},
	}
	for _, tt := range tests {
		err := suite(t, tt.check, tt.o).Check(tt.task)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %s: got %v, want %q", tt.check, tt.task.Checks, err, tt.want)
		}
	}
}

// TestSnapshotErrors: a folder that cannot be compared is told before anything
// is paid for.
func TestSnapshotErrors(t *testing.T) {
	t.Parallel()
	if _, err := Snapshot(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	s := suite(t, "{type: diff, max_files: 1}", Options{})
	for _, before := range []Manifest{{}, {Files: map[string]File{}, Over: "there are more than 5 files"}} {
		if _, err := s.Assess(t.Context(), Evidence{Dir: t.TempDir(), Before: before}, task.Task{}, Means{}); err == nil {
			t.Errorf("%+v: no error", before)
		}
	}
}

// TestSubstringsAsSimpleQAEnv: the check that docs/from-skillrl.md gives for SimpleQAEnv passes the
// answers that hold an accepted one, in any case, and no others.
func TestSubstringsAsSimpleQAEnv(t *testing.T) {
	t.Parallel()
	suite, err := Compile([]any{map[string]any{"type": "icontains-any", "value": "$gold"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]float64{"It is due on 1 march 2026.": 1, "March 1": 1, "march 1st": 1, "on the 2nd": 0, "": 0, "1 Mar": 0} {
		if got := suite.Score(answer, task.Task{ID: "t", Gold: []string{"1 March", "March 1"}}).Hard; float64(got) != want {
			t.Errorf("%q: got %v, want %v", answer, got, want)
		}
	}
}
