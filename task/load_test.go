package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/task"
)

// write puts files into a fresh directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func checker(t *testing.T) task.Checker {
	t.Helper()
	s, err := check.Compile(nil, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// load reads one file and returns the error without the directory.
func load(t *testing.T, name, content string, rules task.Rules) (task.Set, string) {
	t.Helper()
	dir := write(t, map[string]string{name: content})
	s, err := task.Load(filepath.Join(dir, name), rules)
	if err == nil {
		return s, ""
	}
	var bad *task.Error
	if !errors.As(err, &bad) || len(bad.Problems) == 0 {
		t.Fatalf("%v is not a *task.Error", err)
	}
	return s, strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}

// TestFormats reads the same tasks from every kind of file.
func TestFormats(t *testing.T) {
	t.Parallel()
	n := json.Number("1.50")
	want := []task.Task{
		{ID: "a", Type: "sum", Prompt: "1+1?", Gold: []string{"2", "two"}, Hidden: "add", Split: task.Train, Data: map[string]any{"price": n}},
		{ID: "b", Prompt: "2+2?", Gold: []string{"4"}, Split: task.Test, Data: map[string]any{"price": n}, Checks: json.RawMessage(`[{"type":"number"}]`)},
	}
	files := map[string]string{
		"t.jsonl": `{"id":"a","task_type":"sum","prompt":"1+1?","answers":["2","two"],"hidden":"add","split":"train","price":1.50}
{"id":"b","prompt":"2+2?","gold":4,"split":"test","price":1.50,"checks":[{"type":"number"}]}`,
		"t.json": `[{"id":"a","type":"sum","prompt":"1+1?","gold":["2","two"],"hidden":"add","split":"training","price":1.50},
 {"id":"b","prompt":"2+2?","answer":"4","split":"test","price":1.50,"checks":[{"type":"number"}]}]`,
		"tasks.json": `{"version":1,"tasks":[{"id":"a","type":"sum","prompt":"1+1?","gold":["2","two"],"hidden":"add","split":"train","price":1.50},
 {"id":"b","prompt":"2+2?","answer":"4","split":"test","price":1.50,"checks":[{"type":"number"}]}]}`,
		"keyed.json": `{"a":{"type":"sum","prompt":"1+1?","gold":["2","two"],"hidden":"add","split":"train","price":1.50},
 "b":{"prompt":"2+2?","answer":"4","split":"test","price":1.50,"checks":[{"type":"number"}]}}`,
		"t.yaml": `
- id: a
  type: sum
  prompt: 1+1?
  gold: [2, two]
  hidden: add
  split: train
  price: 1.50
- {id: b, prompt: "2+2?", gold: 4, split: test, price: 1.50, checks: [{type: number}]}
`,
		"tasks.yml": `
version: 1
tasks:
  - {id: a, type: sum, prompt: "1+1?", gold: [2, two], hidden: add, split: train, price: 1.50}
  - {id: b, prompt: "2+2?", gold: 4, split: test, price: 1.50, checks: [{type: number}]}
`,
		"docs.yaml": "id: a\ntype: sum\nprompt: 1+1?\ngold: [2, two]\nhidden: add\nsplit: train\nprice: 1.50\n---\n{id: b, prompt: 2+2?, gold: 4, split: test, price: 1.50, checks: [{type: number}]}\n",
	}
	for name, content := range files {
		for _, variant := range []string{content, "\ufeff" + content, strings.ReplaceAll(content, "\n", "\r\n") + "\r\n"} {
			s, msg := load(t, name, variant, task.Rules{Checker: checker(t)})
			if msg != "" {
				t.Errorf("%s: %s", name, msg)
				continue
			}
			if diff := cmp.Diff(want, s.Tasks(), cmpopts.IgnoreFields(task.Task{}, "Origin", "RawGold")); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	want := []task.Task{
		{ID: "a", Type: "sum", Prompt: "1+1,\nplease?", Gold: []string{"2", "two"}, Data: map[string]any{"note": ""}, Origin: "t:2"},
		{ID: "b", Prompt: "2+2?", Gold: []string{"4.50"}, Data: map[string]any{"note": "n"}, Checks: json.RawMessage(`{"type":"number"}`), Origin: "t:4"},
	}
	for name, content := range map[string]string{
		"t.csv": "id,task_type,prompt,gold,checks, note \na,sum,\"1+1,\nplease?\",\"[\"\"2\"\",\"\"two\"\"]\",,\nb,,2+2?,4.50,\"{\"\"type\"\":\"\"number\"\"}\",n\n",
		"t.tsv": "id\ttask_type\tprompt\tgold\tchecks\tnote\na\tsum\t\"1+1,\nplease?\"\t\"[\"\"2\"\",\"\"two\"\"]\"\t\t\nb\t\t2+2?\t4.50\t\"{\"\"type\"\":\"\"number\"\"}\"\tn\n",
	} {
		s, msg := load(t, name, content, task.Rules{})
		if msg != "" {
			t.Errorf("%s: %s", name, msg)
			continue
		}
		got := s.Tasks()
		for i := range got {
			got[i].Origin = "t:" + got[i].Origin[strings.LastIndex(got[i].Origin, ":")+1:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if _, msg := load(t, "t.csv", "prompt;gold\na;b\n", task.Rules{}); msg != "" {
		t.Error(msg)
	}
}

// Gold keeps its form beside the accepted answers, whatever the file and the name of the
// field; what is JSON of a task, and so its digest, does not know of it.
func TestGoldAsItStands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, want string }{
		{"t.jsonl", `{"gold":"x"}`, `"x"`},
		{"t.jsonl", `{"answer":42}`, `42`},
		{"t.jsonl", `{"answers":1.50}`, `1.50`},
		{"t.jsonl", `{"gold":true}`, `true`},
		{"t.jsonl", `{"gold":["x"]}`, `["x"]`},
		{"t.jsonl", `{"gold":["x","y"]}`, `["x","y"]`},
		{"t.jsonl", `{"gold":["x","x"]}`, `["x","x"]`},
		{"t.jsonl", `{"gold":["1",1,true]}`, `["1",1,true]`},
		{"t.jsonl", `{"gold":{"b":[1,null],"a":"<&>"}}`, `{"a":"<&>","b":[1,null]}`},
		{"t.jsonl", `{"gold":[{"a":1}]}`, `[{"a":1}]`},
		{"t.jsonl", `{"gold":[]}`, `[]`},
		{"t.jsonl", `{"gold":""}`, `""`},
		{"t.jsonl", `{"gold":"","answer":"x"}`, `"x"`},
		{"t.jsonl", `{"gold":null}`, `null`},
		{"t.jsonl", `{"gold":NaN}`, `null`},
		{"t.jsonl", `{}`, `null`},
		{"t.json", `[{"gold":["x"]}]`, `["x"]`},
		{"t.yaml", `- {id: a, gold: 0x1F}`, `31`},
		{"t.yaml", `- {id: a, gold: "31"}`, `"31"`},
		{"t.yaml", `- {id: a, gold: [31]}`, `[31]`},
		{"t.yaml", `- {id: a, gold: {k: v}}`, `{"k":"v"}`},
		{"t.csv", "id,gold\na,42\n", `"42"`},
		{"t.csv", "id,gold\na,\"[\"\"x\"\"]\"\n", `["x"]`},
		{"t.csv", "id,gold\na,\n", `""`},
	} {
		s, msg := load(t, tt.name, tt.content, task.Rules{OwnScore: true})
		if msg != "" {
			t.Errorf("%s: %s", tt.content, msg)
			continue
		}
		one := s.Tasks()[0]
		if got := string(one.GoldJSON()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.content, got, tt.want)
		}
		text, err := json.Marshal(one)
		if err != nil || strings.Contains(strings.ToLower(string(text)), "raw") {
			t.Errorf("%s: its JSON is %s, %v", tt.content, text, err)
		}
	}
	for want, gold := range map[string][]string{"null": nil, `"a"`: {"a"}, `["a","b"]`: {"a", "b"}} {
		if got := string(task.Task{Gold: gold}.GoldJSON()); got != want {
			t.Errorf("made in code of %q: got %s, want %s", gold, got, want)
		}
	}
}

// TestProblems breaks task files in every way, and expects the item and the
// line to be named.
func TestProblems(t *testing.T) {
	t.Parallel()
	ok := `{"id":"ok","prompt":"p","gold":"g"}` + "\n"
	tests := []struct {
		name, content, want string
	}{
		{"t.jsonl", "", "t.jsonl: no tasks"},
		{"t.jsonl", "\n\n", "t.jsonl: no tasks"},
		{"t.json", "[]", "t.json: no tasks"},
		{"t.yaml", "# nothing\n", "t.yaml: no tasks"},
		{"t.csv", "", "t.csv: no tasks"},
		{"t.csv", "prompt,gold\n", "t.csv: no tasks"},
		{"t.txt", "x", `t.txt: unknown kind of file ".txt"`},
		{"t.jsonl", ok + "{bad}\n", `t.jsonl:2: a key in double quotes expected, found 'b' (column 2)`},
		{"t.jsonl", ok + `{"id":"x"`, "t.jsonl:2: comma or } expected, found end"},
		{"t.jsonl", ok + ok[:20] + "\n", "t.jsonl:2:"},
		{"t.jsonl", ok + "[1]\n", "t.jsonl:2: task \"\": a task must be an object"},
		{"t.jsonl", ok + "7\n", "t.jsonl:2: a task must be an object with fields such as prompt and gold, found the number 7"},
		{"t.json", "[\n{\"id\":\"a\",\n\"prompt\": oops}]", "t.json:3: a JSON value expected, found 'o' (column 11)"},
		{"t.json", "{\"a\":1}\n{\"b\":}\n", "t.json:2: a JSON value expected"},
		{"t.json", "[1] x", "unexpected 'x' after the end"},
		{"t.json", "[01]", "t.json:1: not a JSON number"},
		{"t.json", `["a` + "\t" + `b"]`, "control character 0x09 in a string"},
		{"t.json", `["a\q"]`, "invalid escape"},
		{"t.json", `["a`, "without a closing quote"},
		{"t.json", `{"a" 1}`, `colon expected after a key`},
		{"t.json", `{"a":1 "b"}`, "comma or } expected"},
		{"t.json", strings.Repeat("[", 2000), "nested deeper than 1000 levels"},
		{"t.json", strings.Repeat(`{"a":`, 2000), "nested deeper than 1000 levels"},
		{"t.yaml", "- {id: a\n- b", "t.yaml:"},
		{"t.yaml", "- id: a\n  id: b\n  prompt: p\n  gold: g\n", `t.yaml:2: `},
		{"t.yaml", "- *x\n", "t.yaml:1: alias *x names no anchor"},
		{"t.yaml", "- <<: 3\n", "t.yaml:1: << must name an object"},
		{"t.yaml", "a: [" + strings.Repeat("[", 2000), "t.yaml:1: nested deeper"},
		{"t.yaml", strings.Repeat("- ", 3000) + "x", "t.yaml:1: nested deeper"},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"a","gold":"b"}`, `t.jsonl:2: task "x": the key "gold" is there twice in one object: keep one`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"a","\u0067old":"a"}`, `t.jsonl:2: task "x": the key "gold" is there twice`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","checks":[{"type":"equals","value":"a","value":"b"}]}`, `t.jsonl:2: task "x": the key "value" is there twice`},
		{"t.json", "[\n" + ok + `,{"id":"x","prompt":"q","gold":"a","gold":"b"}]`, `t.json:3: task "x": the key "gold" is there twice`},
		{"t.json", `{"data":[{"id":"x","prompt":"q","gold":"a","gold":"b"}]}`, `t.json:1: task "x": the key "gold" is there twice`},
		{"t.json", `{"x":{"prompt":"q","gold":"a"},"x":{"prompt":"r","gold":"b"}}`, `t.json:1: task "x": the key "x" is there twice`},
		{"t.json", `{"data":[{"id":"x","prompt":"q","gold":"a"}],"data":[{"id":"y","prompt":"q","gold":"b"}]}`, `t.json:1: task "y": the key "data" is there twice`},
		{"t.csv", "prompt,gold,checks\na,b,\"{\"\"type\"\":\"\"equals\"\",\"\"type\"\":\"\"is-json\"\"}\"\n", `t.csv:2: task "t-`},
		{"t.csv", "id,prompt,gold\nx,a,\"[{\"\"k\"\":1,\"\"k\"\":2}]\"\n", `t.csv:2: task "x": the key "k" is there twice`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"{\"a\":1,\"a\":2}","checks":["json-equals"]}`, `the key "a" is there twice`},
		{"t.csv", "prompt,gold\na,b\nc\n", "t.csv:3: the row has 1 cells, the header has 2"},
		{"t.csv", "prompt,gold\na,\"b\n", "t.csv:"},
		{"t.csv", "\"prompt,gold\na,b\n", "t.csv:"},
		{"t.csv", "prompt,,gold\na,b,c\n", `t.csv:2: column 2 has no name in the header and holds "b" here`},
		{"t.csv", "prompt,prompt\na,b\n", `t.csv:1: the header names column 2 like column 1`},
		{"t.jsonl", ok + "{\"id\":\"\xff\"}", "t.jsonl:2: not valid UTF-8"},
		{"t.jsonl", ok + `{"id":"x","gold":"g"}`, `t.jsonl:2: task "x": no prompt`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q"}`, `t.jsonl:2: task "x": no gold answer`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":""}`, `t.jsonl:2: task "x": no gold answer`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":[]}`, `t.jsonl:2: task "x": no gold answer`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":NaN}`, `t.jsonl:2: task "x": no gold answer`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":["a",""]}`, `t.jsonl:2: task "x": gold holds an empty answer`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":[["a"]]}`, `t.jsonl:2: task "x": field "gold", answer 1: a string, number, bool or object expected, found a list`},
		{"t.jsonl", ok + `{"id":"x","prompt":["q"],"gold":"g"}`, `task "x": field "prompt" must be text, found a list`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"g","split":"dve"}`, `task "x": unknown split "dve"`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"g","answer":"h"}`, `fields "gold" and "answer" mean the same but differ`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"g","n":Infinity}`, `field "n" holds a number that JSON has not`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"g","checks":[{"type":"equls"}]}`, `t.jsonl:2: task "x": checks[0].type: unknown check`},
		{"t.jsonl", ok + `{"id":"x","prompt":"q","gold":"g","checks":[{"type":"not-contains","value":"x"}]}`, `t.jsonl:2: task "x": its checks cannot fail`},
		{"t.jsonl", ok + `{"id":"ok","prompt":"q","gold":"g"}`, "t.jsonl:2: task \"ok\": duplicate id: it is already taken (t.jsonl:1)"},
		{"t.jsonl", ok + `{"id":"x","prompt":"p","gold":"g"}`, "t.jsonl:2: task \"x\": asks the same as task \"ok\" (t.jsonl:1)"},
		{"t.jsonl", `{"id":"a","prompt":"p","gold":"g","split":"train"}` + "\n" + `{"id":"a","prompt":"q","gold":"g","split":"test"}`, `t.jsonl:2: task "a": overlapping splits: the id is in test and in train (t.jsonl:1)`},
		{"t.jsonl", `{"id":"a","prompt":"p","gold":"g","split":"train"}` + "\n" + `{"id":"b","prompt":"p","gold":"g","split":"test"}`, `t.jsonl:2: task "b": overlapping splits: it is in test and asks the same as task "a" in train (t.jsonl:1)`},
		{"t.jsonl", `{"id":"a","prompt":"p","gold":"g","split":"train"}` + "\n" + `{"id":"b","prompt":"q","gold":"g"}`, `t.jsonl:2: task "b": no split, though 1 of 2 tasks name theirs`},
	}
	for _, tt := range tests {
		tt.want = strings.ReplaceAll(tt.want, `task "": `, "")
		if _, msg := load(t, tt.name, tt.content, task.Rules{Checker: checker(t)}); !strings.Contains(msg, tt.want) {
			t.Errorf("%.80q:\ngot  %.300s\nwant %s", tt.content, msg, tt.want)
		}
	}
}

func TestAllProblemsAreNamed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "{\"id\":\"t%d\",\"prompt\":\"p%d\"}\n", i, i)
	}
	dir := write(t, map[string]string{"t.jsonl": b.String()})
	_, err := task.Load(filepath.Join(dir, "t.jsonl"), task.Rules{})
	var bad *task.Error
	if !errors.As(err, &bad) || len(bad.Problems) != 80 || bad.Path != filepath.Join(dir, "t.jsonl") {
		t.Fatalf("got %v", err)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.HasSuffix(lines[2], "(and the same in 77 more)") {
		t.Errorf("%d lines: %s", len(lines), lines[len(lines)-1])
	}
}

func TestALongListOfProblemsIsCut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "{\"id\":\"t%d\",\"prompt\":\"p\",\"gold\":\"g\",\"split\":\"s%d\"}\n", i, i)
	}
	dir := write(t, map[string]string{"t.jsonl": b.String()})
	_, err := task.Load(filepath.Join(dir, "t.jsonl"), task.Rules{})
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 51 || lines[50] != "and 30 more problems" {
		t.Errorf("%d lines: %s", len(lines), lines[len(lines)-1])
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	item := func(id string) string {
		return fmt.Sprintf(`[{"id":%q,"prompt":"p %s","gold":"g"}]`, id, id)
	}
	good := map[string]map[string]string{
		"SkillOpt's": {"train/items.json": item("a"), "val/items.json": item("b"), "test/items.json": item("c"), "split_manifest.json": "{}"},
		"selection":  {"train/items.json": item("a"), "selection/x.json": item("b"), "test/items.json": item("c"), "test/more.json": "[]", "README.md": ""},
		"files":      {"train.json": item("a"), "dev.jsonl": item("b")[1 : len(item("b"))-1], "test.json": item("c"), "notes.json": "x"},
	}
	for name, files := range good {
		s, err := task.Load(write(t, files), task.Rules{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, sp := range []task.Split{task.Train, task.Selection, task.Test} {
			for _, tk := range s.Split(sp) {
				got = append(got, string(sp)+":"+tk.ID+":"+string(tk.Split))
			}
		}
		if diff := cmp.Diff([]string{"train:a:train", "selection:b:selection", "test:c:test"}, got); diff != "" || !s.Assigned() {
			t.Errorf("%s: %s", name, diff)
		}
	}
	one, err := task.Load(write(t, map[string]string{"tasks.json": item("a"), "other.json": "[]"}), task.Rules{})
	if err != nil || one.Len() != 1 || one.Assigned() || len(one.Split(task.Train)) != 0 {
		t.Errorf("a directory with one file: %v, %v", one, err)
	}
	bad := map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":        {map[string]string{"README.md": ""}, "no task file"},
		"several":        {map[string]string{"a.json": "[]", "b.json": "[]"}, "several task files (a.json, b.json)"},
		"split twice":    {map[string]string{"val/items.json": "[]", "dev/items.json": "[]"}, "both dev and val are the selection split"},
		"empty split":    {map[string]string{"train/items.json": item("a"), "test/items.json": "[]"}, "items.json: the test split is empty"},
		"empty dir":      {map[string]string{"train/README.md": ""}, "no task file"},
		"wrong place":    {map[string]string{"train/items.json": `[{"id":"a","prompt":"p","gold":"g","split":"test"}]`}, "its split field says test, but it lies in train"},
		"overlap":        {map[string]string{"train/items.json": item("a"), "test/items.json": item("a")}, "overlapping splits"},
		"broken in part": {map[string]string{"train/items.json": "[", "test/items.json": "[\n{}]"}, "items.json:2:"},
	}
	for name, tt := range bad {
		_, err := task.Load(write(t, tt.files), task.Rules{})
		var e *task.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	if _, err := task.Load(filepath.Join(t.TempDir(), "missing"), task.Rules{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestDerivedID(t *testing.T) {
	t.Parallel()
	one, msg := load(t, "t.jsonl", `{"prompt":"p","gold":"g"}`+"\n"+`{"gold":"g","prompt":"q"}`, task.Rules{})
	if msg != "" {
		t.Fatal(msg)
	}
	two, msg := load(t, "t.jsonl", `{"gold":"g","prompt":"q","split":"train"}`, task.Rules{})
	if msg != "" {
		t.Fatal(msg)
	}
	a, b, again := one.Tasks()[0].ID, one.Tasks()[1].ID, two.Tasks()[0].ID
	if a == b || b != again || len(a) != 14 || !strings.HasPrefix(a, "t-") {
		t.Errorf("ids %q, %q, and %q for the second alone", a, b, again)
	}
	if _, msg := load(t, "t.jsonl", `{"prompt":"p","gold":"g"}`+"\n"+`{"prompt":"p","gold":"g"}`, task.Rules{}); !strings.Contains(msg, "duplicate id") {
		t.Error(msg)
	}
}

func TestYAMLValues(t *testing.T) {
	t.Parallel()
	s, msg := load(t, "t.yaml", `
- &base
  id: 007
  prompt: |
    two
    lines
  gold: yes
  hex: 0x1F
  neg: -2
  frac: .5
  none: ~
  ok: true
  text: !!str 12
  list: [a, {b: 1e3}]
  quoted: "1"
  day: 2024-01-05
  inf: .nan
- <<: [*base, {extra: 1}]
  id: x
  prompt: other
`, task.Rules{})
	if msg != "" {
		t.Fatal(msg)
	}
	data := map[string]any{
		"hex": json.Number("31"), "neg": json.Number("-2"), "frac": json.Number("0.5"), "none": nil, "ok": true, "text": "12",
		"list": []any{"a", map[string]any{"b": "1e3"}}, "quoted": "1", "day": "2024-01-05", "inf": nil,
	}
	first := s.Tasks()[0]
	if diff := cmp.Diff(data, first.Data); diff != "" || first.ID != "7" || first.Prompt != "two\nlines\n" || first.Gold[0] != "yes" {
		t.Errorf("%s%+v", diff, first)
	}
	second := s.Tasks()[1]
	if second.ID != "x" || second.Data["extra"] != json.Number("1") || second.Data["text"] != "12" {
		t.Errorf("merged: %+v", second)
	}
	if !strings.HasSuffix(second.Origin, "t.yaml:18") {
		t.Errorf("origin %s", second.Origin)
	}
}

// TestYAMLBomb: aliases that stand for more than there is memory are refused.
func TestYAMLBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	if _, msg := load(t, "t.yaml", b.String(), task.Rules{}); !strings.Contains(msg, "aliases counted as their values") {
		t.Errorf("got %.200s", msg)
	}
}

func TestMissingCells(t *testing.T) {
	t.Parallel()
	s, msg := load(t, "t.jsonl", `{"id":NaN,"type":null,"prompt":"p","gold":"g","price":NaN}`, task.Rules{})
	if msg != "" {
		t.Fatal(msg)
	}
	got := s.Tasks()[0]
	if got.Type != "" || got.Data["price"] != nil || !strings.HasPrefix(got.ID, "t-") {
		t.Errorf("got %+v", got)
	}
}
