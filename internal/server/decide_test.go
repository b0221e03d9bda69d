package server

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// What is edited are the lines that are named, and only if they are what they were.
func TestTuneApplies(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		was, want string
		lines     []LineEdit
		refused   string
	}{
		"a line":          {"a\nb\nc\n", "a\nX\nc\n", []LineEdit{{2, "b", text("X")}}, ""},
		"taken out":       {"a\nb\nc\n", "a\nc\n", []LineEdit{{2, "b", nil}}, ""},
		"several":         {"a\nb\nc", "a\nX\nY\nc", []LineEdit{{2, "b", text("X\nY")}}, ""},
		"two":             {"a\nb\nc", "X\nb\nY", []LineEdit{{3, "c", text("Y")}, {1, "a", text("X")}}, ""},
		"ends of lines":   {"a\r\nb\r\n", "a\r\nX\r\n", []LineEdit{{2, "b\r", text("X\r")}}, ""},
		"other text":      {"a\nb\n", "", []LineEdit{{1, "b", nil}}, "line 1 is not what it was"},
		"no such line":    {"a\n", "", []LineEdit{{3, "", nil}}, "line 3: the file has 2"},
		"line 0":          {"a\n", "", []LineEdit{{0, "a", nil}}, "line 0"},
		"nothing":         {"a\n", "", nil, "no line was changed"},
		"nothing changes": {"a\n", "", []LineEdit{{1, "a", text("a")}}, "no line was changed"},
	} {
		got, err := Tune{Lines: tt.lines}.apply(skill.New(tt.was).WithFile("references/a.md", "kept"))
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if kept, _ := got.File("references/a.md"); err != nil || got.Text() != tt.want || kept != "kept" {
			t.Errorf("%s: %q, %v, %v", name, got.Text(), kept, err)
		}
	}
	other, err := Tune{File: "references/a.md", Lines: []LineEdit{{1, "old", text("new")}}}.apply(skill.New("main").WithFile("references/a.md", "old"))
	if now, _ := other.File("references/a.md"); err != nil || now != "new" || other.Text() != "main" {
		t.Errorf("%q %v", now, err)
	}
}

// The rows of a file are its lines; in a table a cell in quotation marks goes over several.
func TestRowAt(t *testing.T) {
	t.Parallel()
	table := "id,prompt\r\na,\"one\ntwo \"\"x\"\"\"\r\nb,three\n"
	for name, tt := range map[string]struct {
		data  string
		line  int
		table bool
		want  string
	}{
		"first": {"a\nb\nc", 1, false, "a"}, "last": {"a\nb\nc", 3, false, "c"}, "windows": {"a\r\nb\r\n", 2, false, "b"}, "beyond": {"a\n", 5, false, ""},
		"quotes of JSON": {"{\"a\n\"b", 1, false, "{\"a"}, "cell": {table, 2, true, "a,\"one\ntwo \"\"x\"\"\""}, "row after it": {table, 4, true, "b,three"}, "never closed": {"a\n\"b\nc", 2, true, "\"b\nc"},
	} {
		start, end := rowAt([]byte(tt.data), tt.line, tt.table)
		if diff := cmp.Diff(tt.want, tt.data[start:end]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // each line of a file without quotation marks is a row
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z ]{0,5}`), 1, 8).Draw(t, "lines")
		at := rapid.IntRange(1, len(lines)).Draw(t, "at")
		data := strings.Join(lines, "\n")
		if start, end := rowAt([]byte(data), at, rapid.Bool().Draw(t, "table")); data[start:end] != lines[at-1] {
			t.Fatalf("line %d of %q is %q", at, data, data[start:end])
		}
	})
}

// noProgram fails a test in which a command is carried out.
type noProgram struct{ t *testing.T }

func (p noProgram) Do(_ context.Context, words ...string) ([]byte, error) {
	p.t.Errorf("it carries out %v", words)
	return nil, nil
}

// A server that only shows, or that has no folder with configs, changes nothing and says why; and so does one whose runs
// are elsewhere.
func TestDecideRefuses(t *testing.T) {
	t.Parallel()
	requests := [][3]string{
		{http.MethodPost, "/runs/runs:small-1/tune", `{"version":"best","lines":[{"line":1,"was":"x","text":"y"}],"split":"selection","tasks":["a"]}`},
		{http.MethodPost, "/runs/runs:small-1/versus", `{"version":"0","to":"best"}`},
		{http.MethodPost, "/runs/runs:small-1/place", ""},
		{http.MethodPost, "/runs/runs:small-1/rescore", `{"tasks":[]}`},
	}
	dir, configs := copied(t), t.TempDir()
	for name, tt := range map[string]struct {
		change func(*Options)
		status int
		says   string
	}{
		"read-only":  {func(o *Options) { o.ReadOnly, o.Configs, o.Program = true, configs, noProgram{t} }, 403, "only shows runs"},
		"no configs": {nil, 403, "no folder"},
		"elsewhere":  {func(o *Options) { o.Configs, o.Program, o.Adopt = configs, noProgram{t}, true }, 409, "not in the folder with configs"},
	} {
		s := serve(t, tt.change, dir)
		for _, r := range requests {
			if got := s.ask(r[0], r[1], r[2]); got.status != tt.status || !strings.Contains(got.text, tt.says) {
				t.Errorf("%s: %s: %d %s", name, r[1], got.status, got.text)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Join(configs, "runs")); err == nil && len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
