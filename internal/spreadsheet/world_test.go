package spreadsheet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
	"github.com/seed-f4525e22/skillopt/internal/workbook"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// python is the interpreter of this machine, looked for once.
var python = sync.OnceValues(func() (Interpreter, error) {
	return FindPython(context.Background(), "", os.LookupEnv)
})

func newWorld(t *testing.T, mode Mode) *World {
	t.Helper()
	found, err := python()
	if err != nil {
		t.Skip(err)
	}
	if can := sandbox.Supports(); can.Kind == "" {
		t.Skip(can.Why)
	}
	w, err := New(Options{Mode: mode, Python: found})
	must(t, err)
	return w
}

// book returns a workbook with one sheet.
func book(t *testing.T, cells map[string]any) []byte {
	t.Helper()
	sheet := booktest.Sheet{Name: "Data", Cells: map[string]string{}}
	for at, v := range cells {
		if text, is := v.(string); is && strings.HasPrefix(text, "<c ") {
			sheet.Cells[at] = text
		} else {
			sheet.Cells[at] = booktest.Cell(at, v)
		}
	}
	return booktest.Write(t, []booktest.Sheet{sheet}, map[string]string{"[Content_Types].xml": contentTypes, "xl/styles.xml": styles, "xl/sharedStrings.xml": `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>`})
}

const (
	contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>`
	styles       = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf/></cellXfs></styleSheet>`
)

// secret is in what a task keeps from the model.
const secret = "gold-4711"

// open begins an episode on workbooks, and returns its folder.
func open(t *testing.T, w *World, inputs ...[]byte) (world.Episode, string) {
	t.Helper()
	dir := t.TempDir()
	for i, data := range inputs {
		name := nameInput
		if i > 0 {
			name = "input_" + string(rune('1'+i)) + ".xlsx"
		}
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	e, err := w.Open(t.Context(), world.Setting{Task: task.Task{ID: "t", Gold: []string{secret}, Hidden: secret, Checks: json.RawMessage(`["` + secret + `"]`)}, Dir: dir})
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e, dir
}

// cellOf returns a cell of the first sheet of a file.
func cellOf(t *testing.T, dir, name, at string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "no file"
	}
	must(t, err)
	b, err := openBook(data)
	must(t, err)
	cells, err := b.Cells(b.Sheets()[0])
	must(t, err)
	place, err := workbook.ParsePlace(at)
	must(t, err)
	return cells[place].String()
}

func say(turn int, code string) world.Action {
	return world.Action{Turn: turn, Text: "Here it is:\n```python\n" + code + "\n```\nand\n```\nraise SystemExit(9)\n```"}
}

const sum = `
import openpyxl
wb = openpyxl.load_workbook(INPUT_PATH)
ws = wb.active
ws["B1"] = sum(row[0].value for row in ws.iter_rows(min_col=1, max_col=1))
wb.save(OUTPUT_PATH)
`

func TestMulti(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Multi)
	e, dir := open(t, w, book(t, map[string]any{"A1": 1, "A2": 2}), book(t, map[string]any{"A1": 5, "A2": 6}), book(t, map[string]any{"A1": "no number"}))
	scene, err := e.Start(t.Context())
	if err != nil || !strings.Contains(scene.Text, `Sheet "Data", A1:A2`) || !strings.Contains(scene.Text, "A1=1") || scene.Tools != nil || strings.Contains(scene.Text, secret) {
		t.Errorf("%+v, %v", scene, err)
	}
	steps := []struct {
		a    world.Action
		want string // of what is answered
	}{
		{world.Action{Turn: 1, Text: " \n"}, "no program"},
		{world.Action{Turn: 2, Text: "", Call: &model.ToolCall{Name: "x"}}, `no tool "x"`},
		{say(3, "print(open(INPUT_PATH).undefined_method())"), "AttributeError"},
		{say(4, "def f(:\n"), "SyntaxError"},
		{say(5, "import sys\nopen(OUTPUT_PATH, 'w').write('half')\nsys.exit(3)"), "ended with code 3"},
		{say(6, "pass"), "no workbook is at OUTPUT_PATH"},
		{say(7, "open(OUTPUT_PATH, 'w').write('text')"), "not a workbook"},
		{say(8, "import os; os.symlink('/etc/passwd', OUTPUT_PATH)"), "cannot be read"},
		{say(9, "import os; os.mkfifo(OUTPUT_PATH)"), "cannot be read"},
		{say(10, "open(OUTPUT_PATH, 'wb').truncate(99 << 20)"), "cannot be read"},
	}
	for _, s := range steps {
		o, err := e.Act(t.Context(), s.a)
		if err != nil || !o.Failed || o.Done || !strings.Contains(o.Text, s.want) || strings.Contains(o.Text, os.TempDir()) || strings.Contains(o.Text, secret) {
			t.Errorf("turn %d: %+v, %v, want %q", s.a.Turn, o, err, s.want)
		}
		if got := cellOf(t, dir, nameOutput, "B1"); got != "no file" {
			t.Errorf("turn %d leaves %s", s.a.Turn, got)
		}
	}
	o, err := e.Act(t.Context(), say(9, sum))
	if diff := cmp.Diff(world.Observation{Done: true}, o); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got := []string{cellOf(t, dir, nameOutput, "B1"), cellOf(t, dir, "output_2.xlsx", "B1"), cellOf(t, dir, "output_3.xlsx", "B1")}
	if diff := cmp.Diff([]string{"3", "11", "no file"}, got); diff != "" {
		t.Error(diff)
	}
}

// A program that fails at last is a failure of the target, with the last line of its error.
func TestThatNothingWorks(t *testing.T) {
	t.Parallel()
	for mode, a := range map[Mode]world.Action{
		Single: say(1, "open(OUTPUT_PATH, 'w').write('half')\n1/0"),
		Multi:  {Turn: 30, Last: true, Text: "1/0"},
	} {
		e, dir := open(t, newWorld(t, mode), book(t, map[string]any{"A1": 1}))
		o, err := e.Act(t.Context(), a)
		if diff := cmp.Diff(world.Observation{Failure: "exec: ZeroDivisionError: division by zero"}, o); diff != "" || err != nil {
			t.Error(mode, err, diff)
		}
		if got := cellOf(t, dir, nameOutput, "A1"); got != "no file" {
			t.Errorf("%s leaves %s", mode, got)
		}
	}
}

// Programs assign to the paths themselves. Lines stay, and so do long texts and what comes from __future__.
func TestDriver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Single)
	code := `"""A program."""
from __future__ import annotations
import os, sys
INPUT_PATH = sys.argv[1] if len(sys.argv) > 1 else "/nowhere/in.xlsx"
INPUT_PATH, OUTPUT_PATH = "x", "y"
OUTPUT_PATH: str = "/nowhere/out.xlsx"
OUTPUT_PATH, text = "z", '''
INPUT_PATH = 7
'''
def paths(x: Unknown):
    OUTPUT_PATH = "/nowhere/b.xlsx"
if __name__ == "__main__":
    os.makedirs(os.path.dirname(OUTPUT_PATH), exist_ok=True)
    import pandas as pd
    assert len(pd.read_excel(INPUT_PATH)) == 1
    import openpyxl
    wb = openpyxl.load_workbook(INPUT_PATH)
    wb.active["B1"] = text.strip() + os.environ["PYTHONHASHSEED"] + str(sys.argv)
    wb.save(OUTPUT_PATH)
`
	e, dir := open(t, w, book(t, map[string]any{"A1": "x", "A2": 1}))
	o, err := e.Act(t.Context(), say(1, code))
	if got := cellOf(t, dir, nameOutput, "B1"); err != nil || !o.Done || got != `"INPUT_PATH = 70['solution.py']"` {
		t.Errorf("%+v, %v, %s", o, err, got)
	}
	e, _ = open(t, newWorld(t, Multi), book(t, map[string]any{"A1": "x"}))
	o, err = e.Act(t.Context(), say(1, "INPUT_PATH = 1\ndef f():\n    raise KeyError('k')\n\nf()"))
	want := "Traceback (most recent call last):\n  File \"solution.py\", line 5, in <module>\n    f()\n"
	if err != nil || !strings.Contains(o.Text, want) || !strings.Contains(o.Text, `line 3, in f`) {
		t.Errorf("%v, %s", err, o.Text)
	}
}

func call(name string, args map[string]string) world.Action {
	text, _ := json.Marshal(args) // texts
	return world.Action{Call: &model.ToolCall{Name: name, Arguments: text}}
}

func bash(cmd string) world.Action { return call(toolShell, map[string]string{"cmd": cmd}) }

func write(path, content string) world.Action {
	return call(toolWrite, map[string]string{"path": path, "content": content})
}

func TestReact(t *testing.T) {
	t.Parallel()
	e, dir := open(t, newWorld(t, React), book(t, map[string]any{"A1": 1, "A2": 2}), book(t, map[string]any{"A1": 5}))
	scene, err := e.Start(t.Context())
	if err != nil || len(scene.Tools) != 2 || !strings.Contains(scene.Text, "A2=2") {
		t.Errorf("%+v, %v", scene, err)
	}
	formula := strings.Replace(sum, "wb.save", "ws['C1'] = '=A1*2'\nwb.save", 1)
	for i, s := range []struct {
		a      world.Action
		failed bool
		want   string
	}{
		{call("rm", nil), true, `no tool "rm"`},
		{world.Action{Call: &model.ToolCall{Name: toolShell, Arguments: json.RawMessage(`[]`)}}, true, "not an object"},
		{bash("ls -l"), true, "no shell"},
		{bash("cat x | python -"), true, "no shell"},
		{bash("python -"), true, "no input"},
		{bash(`python -c "print(1)`), true, "not closed"},
		{bash(`python3 -c "import os; print(sorted(os.listdir()), INPUT_PATH)"`), true, "NameError"},
		{bash(`python3 -c "print('é' * 5000)"`), false, "…éé"},
		{write("../x.py", ""), true, "leads out"},
		{write("/etc/x.py", ""), true, "leads out"},
		{write("solution.py/x", "1"), false, ""},
		{bash(`python -c "import os, shutil; shutil.rmtree('solution.py'); os.symlink('/etc', 'etc'); os.mkfifo('solution.py')"`), false, "printed nothing"},
		{write("etc/x", "1"), true, "not written"},
		{write("solution.py", formula), false, "bytes now"},
		{bash("python solution.py"), false, "Data!C1 (1 in all)"},
		{write("solution.py", "open(OUTPUT_PATH, 'w')\n1/0"), false, ""},
		{bash("python solution.py"), true, "ZeroDivisionError"},
		{bash(`python -c "import os; assert not os.path.exists('output.xlsx')"`), false, "printed nothing"},
	} {
		o, err := e.Act(t.Context(), s.a)
		if err != nil || o.Failed != s.failed || o.Done || !strings.Contains(o.Text, s.want) {
			t.Errorf("%d: %+v, %v, want %v %q", i, o, err, s.failed, s.want)
		}
		if len([]rune(o.Text)) > 5000 {
			t.Errorf("%d: %d characters", i, len(o.Text))
		}
	}
	o, err := e.Act(t.Context(), world.Action{Text: "Done."})
	got := []string{cellOf(t, dir, nameOutput, "B1"), cellOf(t, dir, "output_2.xlsx", "B1")}
	if diff := cmp.Diff([]string{"3", "5"}, got); diff != "" || err != nil || !o.Done {
		t.Errorf("%+v, %v, %s", o, err, diff)
	}
}

// Without an output the target has failed; with the last reply what is there counts.
func TestReactEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, React)
	e, _ := open(t, w, book(t, map[string]any{"A1": 1}))
	if o, err := e.Act(t.Context(), world.Action{Text: "Done."}); err != nil || o.Failure != "exec: no program has written output.xlsx" {
		t.Errorf("%+v, %v", o, err)
	}
	e, dir := open(t, w, book(t, map[string]any{"A1": 1}))
	_, err := e.Act(t.Context(), write("solution.py", sum))
	must(t, err)
	last := bash("python3 ./solution.py")
	last.Last = true
	if o, err := e.Act(t.Context(), last); err != nil || !o.Done || cellOf(t, dir, nameOutput, "B1") != "1" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestFindPython(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	must(t, os.WriteFile(filepath.Join(empty, "python3"), []byte("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'openpyxl'\" >&2\nexit 1\n"), 0o700))
	_, err := FindPython(t.Context(), filepath.Join(empty, "python3"), os.LookupEnv)
	var failed *PythonError
	if !errors.As(err, &failed) || len(failed.Tried) != 1 || !strings.Contains(err.Error(), "No module named 'openpyxl'") || !strings.Contains(err.Error(), "pip install openpyxl pandas") {
		t.Errorf("%v", err)
	}
	if _, err := FindPython(t.Context(), "python7", os.LookupEnv); !errors.As(err, &failed) || !strings.Contains(err.Error(), "python7 (not in the folders of PATH)") {
		t.Errorf("%v", err)
	}
	found, err := python()
	if err != nil {
		t.Skip(err)
	}
	if !filepath.IsAbs(found.Path) || !strings.HasPrefix(found.Version(), "python 3.") || len(found.Read) == 0 {
		t.Errorf("%+v", found)
	}
}

func TestOpenWithoutWorkbook(t *testing.T) {
	t.Parallel()
	w, err := New(Options{})
	must(t, err)
	if _, err := w.Open(t.Context(), world.Setting{Task: task.Task{ID: "7"}, Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "input.xlsx") || !strings.Contains(err.Error(), "task 7") {
		t.Errorf("%v", err)
	}
	if _, err := New(Options{Mode: "pages"}); err == nil || !strings.Contains(err.Error(), "multi, single, react") {
		t.Errorf("%v", err)
	}
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"": nil, "  a\tb\n": {"a", "b"}, `a "b c" 'd "e"'`: {"a", "b c", `d "e"`}, `a\ b "\"\n" ''`: {"a b", `"\n`, ""}, `x'y'"z"`: {"xyz"},
	} {
		got, ok := splitWords(line)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Error(line, ok, diff)
		}
	}
	for _, line := range []string{`a 'b`, `a "b\"`, `a\`} {
		if got, ok := splitWords(line); ok {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// FuzzReply reads what a model may write as a command or a program.
func FuzzReply(f *testing.F) {
	f.Add("python -c 'print(1)'")
	f.Add("```python\nx\n```")
	f.Fuzz(func(t *testing.T, text string) {
		words, ok := splitWords(text)
		for _, w := range words {
			if ok && len(w) > len(text) {
				t.Errorf("%q has the word %q", text, w)
			}
		}
		if code := program(text); !strings.Contains(text, code) {
			t.Errorf("%q has the program %q", text, code)
		}
		if args, why := parseCommand(text); (len(args) == 0) == (why == "") {
			t.Errorf("%q: %q, %q", text, args, why)
		}
	})
}
