package corpus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// lay writes files below a fresh folder and returns it.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open opens a corpus that the test closes.
func open(t *testing.T, o corpus.Options) *corpus.Corpus {
	t.Helper()
	c, err := corpus.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// start begins an episode.
func start(t *testing.T, c *corpus.Corpus, about task.Task) (world.Episode, world.Scene) {
	t.Helper()
	e, err := c.Open(t.Context(), world.Setting{Task: about})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

// act does one thing, which has to be answered.
func act(t *testing.T, e world.Episode, a world.Action) world.Observation {
	t.Helper()
	seen, err := e.Act(t.Context(), a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	return seen
}

func call(name, arguments string) world.Action {
	return world.Action{Turn: 1, Call: &model.ToolCall{ID: "1", Name: name, Arguments: json.RawMessage(arguments)}}
}

func about(files ...any) task.Task {
	return task.Task{ID: "t1", Data: map[string]any{corpus.FieldFiles: files}}
}

// numbers are n lines that say their numbers.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the report\n", i+1)
	}
	return b.String()
}

// TestTools holds what the tools return, their bounds, and what they say to wrong arguments.
func TestTools(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"transformed/a.txt": "Head\nÖl 1,234\nfoot", "transformed/deep/b.txt": numbers(120), "transformed/secret.txt": "not for this task",
		"transformed/long.txt": strings.Repeat("ö", 3000) + "needle" + strings.Repeat("x", 3000) + "\nshort", "transformed/nul.txt": "a\x00b", "transformed/latin.txt": "caf\xe9 bar\r\nnext",
		"transformed/empty.txt": "", "jsons/a.json": "{}",
	}
	dir := lay(t, files)
	if err := os.Truncate(filepath.Join(dir, "transformed", "empty.txt"), 17<<20); err != nil { // larger than any that is read
		t.Fatal(err)
	}
	e, scene := start(t, open(t, corpus.Options{Dir: dir}), about("a.txt", "b.txt", "long.txt", "nul.txt", "latin.txt", "empty.txt"))
	if len(scene.Tools) != 3 || scene.Text != "## Documents\n- a.txt\n- deep/b.txt\n- empty.txt\n- latin.txt\n- long.txt\n- nul.txt" {
		t.Errorf("%d tools, %q", len(scene.Tools), scene.Text)
	}
	for _, tool := range scene.Tools {
		if !json.Valid(tool.Parameters) {
			t.Errorf("%s: %s", tool.Name, tool.Parameters)
		}
	}
	tests := []struct {
		tool, arguments string
		want            string
		failed          bool
	}{
		{"glob", `{"pattern":"*.txt"}`, "a.txt\ndeep/b.txt\nempty.txt\nlatin.txt\nlong.txt\nnul.txt", false},
		{"glob", `{"pattern":"deep/*"}`, "deep/b.txt", false},
		{"glob", `{}`, "a.txt\ndeep/b.txt\nempty.txt\nlatin.txt\nlong.txt\nnul.txt", false},
		{"glob", ``, "a.txt\ndeep/b.txt\nempty.txt\nlatin.txt\nlong.txt\nnul.txt", false},
		{"glob", `{"pattern":"*1944*"}`, "[no matches]", false},
		{"glob", `{"pattern":"secret*"}`, "[no matches]", false},
		{"glob", `{"pattern":"[a"}`, "The pattern cannot be used", true},
		{"glob", `{"pattern":"../*"}`, "The pattern cannot be used", true},
		{"grep", `{"pattern":"öL 1,2","path":"a.txt"}`, "2: Öl 1,234", false},
		{"grep", `{"pattern":"1.234","path":"a.txt"}`, "[no matches]", false},
		{"grep", `{"pattern":"LINE 12","path":"deep/b.txt"}`, "12: line 12 of the report\n120: line 120 of the report", false},
		{"grep", `{"pattern":"line","path":"deep/b.txt"}`, "20: line 20 of the report\n[There are more: a longer text finds fewer.]", false},
		{"grep", `{"pattern":"","path":"a.txt"}`, "pattern is missing", true},
		{"grep", `{"pattern":"x"}`, `There is no document ""`, true},
		{"read", `{"path":"a.txt"}`, "Head\nÖl 1,234\nfoot", false},
		{"read", `{"path":"./a.txt","start":2,"limit":1}`, "Öl 1,234\n", false},
		{"read", `{"path":"a.txt","start":-3,"limit":0}`, "Head\nÖl 1,234\nfoot", false},
		{"read", `{"path":"a.txt","start":4}`, "[the document has 3 lines]", false},
		{"read", `{"path":"a.txt","start":9000000000000000000,"limit":9000000000000000000}`, "[the document has 3 lines]", false},
		{"read", `{"path":"a.txt","start":3,"limit":9000000000000000000}`, "foot", false},
		{"read", `{"path":"deep/b.txt"}`, "line 80 of the report\n", false},
		{"read", `{"path":"latin.txt"}`, "caf\ufffd bar\r\nnext", false},
		{"read", `{"path":"a.txt","start":"2"}`, "The arguments cannot be read", true},
		{"read", `{"path":"a.txt","lines":2}`, `unknown field "lines"`, true},
		{"read", `{"path":7}`, "The arguments cannot be read", true},
		{"read", `["a.txt"]`, "The arguments cannot be read", true},
		{"read", `{"path":"a.txt"`, "The arguments cannot be read", true},
		{"read", `{"path":"` + strings.Repeat("a", 2000) + `"}`, "The arguments are too long", true},
		{"read", `{"path":"nul.txt"}`, "The document nul.txt is no text.", true},
		{"read", `{"path":"empty.txt"}`, "The document empty.txt is larger than 16 MB and cannot be read.", true},
		{"read", `{"path":"secret.txt"}`, `There is no document "secret.txt"`, true},
		{"read", `{"path":"deep"}`, `There is no document "deep"`, true},
		{"read", `{"path":"."}`, `There is no document "."`, true},
		{"read", `{"path":"../jsons/a.json"}`, "There is no document", true},
		{"read", `{"path":"/etc/passwd"}`, "There is no document", true},
		{"read", `{"path":"deep/../../transformed/a.txt"}`, "There is no document", true},
		{"read", `{"path":"a.txt\u0000"}`, "There is no document", true},
		{"run", `{"path":"a.txt"}`, `There is no tool "run". There are glob, grep and read.`, true},
	}
	for _, tt := range tests {
		seen := act(t, e, call(tt.tool, tt.arguments))
		ends := strings.HasSuffix(seen.Text, tt.want)
		if tt.failed {
			ends = strings.Contains(seen.Text, tt.want)
		}
		if seen.Failed != tt.failed || !ends || seen.Done {
			t.Errorf("%s %.80s: %+v, want %q", tt.tool, tt.arguments, seen, tt.want)
		}
		if strings.Contains(seen.Text, dir) {
			t.Errorf("%s %s shows a path of the machine: %s", tt.tool, tt.arguments, seen.Text)
		}
	}
	long := act(t, e, call("read", `{"path":"long.txt"}`))
	if n := len([]rune(long.Text)); n > 4100 || !strings.Contains(long.Text, "[cut after 4000 characters, in line 1]") {
		t.Errorf("%d characters, %q", n, long.Text[len(long.Text)-60:])
	}
	found := act(t, e, call("grep", `{"pattern":"NEEDLE","path":"long.txt"}`))
	if len(found.Text) > 1100 || !strings.HasPrefix(found.Text, "1: ...") || !strings.Contains(found.Text, "needle") {
		t.Errorf("%d bytes: %.60q", len(found.Text), found.Text)
	}
}

// TestRepliesWithoutCalls checks when a reply ends an episode.
func TestRepliesWithoutCalls(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{"a.txt": "one", "jsons/a.json": `{"document":{"elements":[{"content":"P","bbox":[{"page_id":2}]}]}}`})
	for _, tt := range []struct {
		mode, text string
		want       world.Observation
	}{
		{"", "I think so.", world.Observation{Text: "Use a tool (glob, grep, read), or give the final answer between <answer> and </answer>."}},
		{"tools", "It is\n<ANSWER>7</answer>", world.Observation{Done: true}},
		{"tools", "<answer>7", world.Observation{Done: true}},
		{"pages", "I think so.", world.Observation{Done: true}},
	} {
		c := open(t, corpus.Options{Dir: dir, Mode: tt.mode})
		e, _ := start(t, c, about("a.txt"))
		if diff := cmp.Diff(tt.want, act(t, e, world.Action{Turn: 1, Text: tt.text})); diff != "" {
			t.Errorf("%s, %q: %s", tt.mode, tt.text, diff)
		}
		if !c.Pure() {
			t.Errorf("%s is not pure", tt.mode)
		}
	}
	e, scene := start(t, open(t, corpus.Options{Dir: dir, Mode: "pages"}), about("a.txt"))
	if seen := act(t, e, call("read", `{"path":"a.txt"}`)); !seen.Failed || scene.Tools != nil {
		t.Errorf("pages has tools: %+v", seen)
	}
}

// TestLinksAndFoldersThatLeadOut checks that nothing outside of the folder is read, and that no link is.
func TestLinksAndFoldersThatLeadOut(t *testing.T) {
	t.Parallel()
	outside := lay(t, map[string]string{"secret.txt": "sk-secret", "more/b.txt": "sk-secret"})
	dir := lay(t, map[string]string{"a.txt": "one", "later.txt": "two"})
	for name, to := range map[string]string{"out.txt": filepath.Join(outside, "secret.txt"), "more": filepath.Join(outside, "more"), "in.txt": "a.txt", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	e, scene := start(t, open(t, corpus.Options{Dir: dir}), task.Task{ID: "t1"})
	if scene.Text != "## Documents\n- a.txt\n- later.txt" {
		t.Errorf("%q", scene.Text)
	}
	later := filepath.Join(dir, "later.txt")
	if err := errors.Join(os.Remove(later), os.Symlink(filepath.Join(outside, "secret.txt"), later)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"out.txt", "more/b.txt", "more", "in.txt", "loop", "later.txt", "a.txt/../../" + filepath.Base(outside) + "/secret.txt", filepath.Join(outside, "secret.txt")} {
		for _, tool := range []string{"read", "grep"} {
			arguments, err := json.Marshal(map[string]any{"path": path, "pattern": "s"})
			if err != nil {
				t.Fatal(err)
			}
			if seen := act(t, e, call(tool, string(arguments))); !seen.Failed || strings.Contains(seen.Text, "sk-") {
				t.Errorf("%s %s: %+v", tool, path, seen)
			}
		}
	}
}

// TestAFolderThatIsNotThere names the folder, the key, and what helps.
func TestAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	empty, some := t.TempDir(), lay(t, map[string]string{"a.txt": "one", "jsons/b.json": "{}"})
	for _, tt := range []struct {
		dir, mode string
		tasks     []task.Task
		want      string
	}{
		{filepath.Join(empty, "none"), "", nil, "cannot be opened: no such file"},
		{filepath.Join(some, "a.txt"), "", nil, "cannot be opened"},
		{empty, "", nil, "has no documents"},
		{some, "", []task.Task{about("a.txt"), about("b.txt", "c.txt")}, "has no file b.txt, which the task t1 names in source_files"},
		{some, "pages", []task.Task{{ID: "t2", Data: map[string]any{corpus.FieldFiles: "a.txt", corpus.FieldDocs: "http://x/?page=2"}}}, "has no parsed pages in jsons for what the task t2 names in source_docs"},
	} {
		c, err := corpus.New(corpus.Options{Dir: tt.dir, Mode: tt.mode})
		if err == nil {
			err = errors.Join(c.Check(tt.tasks), c.Close())
		}
		var own *corpus.DocsError
		if !errors.As(err, &own) {
			t.Errorf("%s: %v", tt.want, err)
			continue
		}
		for _, want := range []string{"env.docs: the folder " + tt.dir, tt.want, "skillopt bench fetch"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want %q", err, want)
			}
		}
	}
	c := open(t, corpus.Options{Dir: some})
	if _, scene := start(t, c, task.Task{ID: "all"}); scene.Text != "## Documents\n- a.txt" {
		t.Errorf("pages are documents: %q", scene.Text)
	}
	if err := c.Check([]task.Task{about("a.txt", "gone.txt"), {ID: "all"}}); err != nil {
		t.Error(err)
	}
	if _, err := c.Open(t.Context(), world.Setting{Task: about("gone.txt")}); err == nil {
		t.Error("a task without documents is measured")
	}
	if _, err := corpus.New(corpus.Options{Dir: some, Mode: "tolls"}); err == nil || !strings.Contains(err.Error(), "allowed: tools, pages, search") {
		t.Error(err)
	}
}

// TestManyFiles checks that a folder which is none of documents is refused with a sentence.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 20,001 files")
	}
	t.Parallel()
	dir := t.TempDir()
	for i := range 20_001 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := corpus.New(corpus.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "has more than 20000 files") {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "0")); err != nil {
		t.Fatal(err)
	}
	e, scene := start(t, open(t, corpus.Options{Dir: dir}), task.Task{ID: "t"})
	if !strings.HasSuffix(scene.Text, "and 19980 more") || strings.Count(scene.Text, "\n- ") != 20 {
		t.Errorf("%q", scene.Text)
	}
	if seen := act(t, e, call("glob", `{"pattern":"`+strings.Repeat("*1", 400)+`"}`)); seen.Text != "[no matches]" {
		t.Errorf("%.80q", seen.Text)
	}
	if seen := act(t, e, call("glob", `{"pattern":"1*"}`)); strings.Count(seen.Text, "\n") != 50 {
		t.Errorf("%.80q", seen.Text)
	}
}

// TestMemory checks that a corpus of hundreds of megabytes is not kept in memory.
func TestMemory(t *testing.T) {
	files := map[string]string{}
	text := strings.Repeat("| Receipts of a port, January | 118 |\n", 1<<20/38)
	for i := range 60 {
		files[fmt.Sprintf("transformed/b%02d.txt", i)] = text
	}
	c := open(t, corpus.Options{Dir: lay(t, files)})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	files, text = nil, ""
	before := heap()
	e, _ := start(t, c, task.Task{ID: "t"})
	for i := range 60 {
		if seen := act(t, e, call("grep", fmt.Sprintf(`{"pattern":"nothing","path":"b%02d.txt"}`, i))); seen.Text != "[no matches]" {
			t.Fatal(seen)
		}
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d MB are kept", (after-before)>>20)
	}
	runtime.KeepAlive(c)
}

// TestCopyTo checks what an agent finds in its workspace.
func TestCopyTo(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{"transformed/a.txt": "one", "transformed/x/b.txt": "two", "transformed/big.txt": ""})
	if err := os.Truncate(filepath.Join(dir, "transformed", "big.txt"), 65<<20); err != nil {
		t.Fatal(err)
	}
	c := open(t, corpus.Options{Dir: dir})
	workspace := t.TempDir()
	root, err := os.OpenRoot(workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if err := c.CopyTo(t.Context(), root, about("b.txt", "a.txt")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"docs/a.txt": "one", "docs/x/b.txt": "two"} {
		if got, err := os.ReadFile(filepath.Join(workspace, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := c.CopyTo(t.Context(), root, task.Task{ID: "all"}); err == nil || !strings.Contains(err.Error(), "3 files have 65 MB, and at most 64 MB are copied for an agent: name those that it needs in source_files") {
		t.Error(err)
	}
	if err := c.CopyTo(t.Context(), root, about("gone.txt")); err == nil {
		t.Error("nothing was copied, and no one says so")
	}
}
