package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// claudeCalls is a session of one turn with calls and their results.
type claudeCalls struct{ lines []string }

func (c *claudeCalls) add(kind, content, more string) {
	n := len(c.lines) + 1
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"u%d"`, n-1)
	}
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":"u%d","timestamp":"2026-11-22T08:00:00Z","entrypoint":"cli","cwd":"/p","sessionId":"s"%s}`, parent, kind, kind, content, n, more))
}

func (c *claudeCalls) call(name string, input map[string]string, result string, failed bool, more string) {
	id := fmt.Sprintf("toolu_%d", len(c.lines))
	c.add("assistant", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, name, js(input)), "")
	c.add("user", fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":%v}]`, id, result, failed), more)
}

func (c *claudeCalls) read(file string, lines ...string) {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
	}
	c.call("Read", map[string]string{"file_path": "/p/" + file}, js(b.String()), false, "")
}

// turn reads the session.
func (c *claudeCalls) turn(t *testing.T) transcript.Turn {
	t.Helper()
	home := lay(t, map[string][]string{".claude/projects/-p/s.jsonl": c.lines})
	got := transcripttest.Case{Source: transcript.Claude{}}.All(t, home, nil)
	if got.Err != nil || len(got.Problems) > 0 || len(got.Transcripts) != 1 || len(got.Transcripts[0].Turns) != 1 {
		t.Fatalf("%+v", got)
	}
	return got.Transcripts[0].Turns[0]
}

func begun() *claudeCalls {
	c := &claudeCalls{}
	c.add("user", `"Fix it."`, "")
	return c
}

func digests(lines ...string) (out []uint32) {
	for _, line := range lines {
		out = append(out, transcript.LineDigest(line))
	}
	return out
}

func numberedUpTo(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("the line of number %d", i))
	}
	return out
}

// What is not kept whole of a file is not kept at all: nobody may take it for all that was shown.
func TestLinesOfAFileAreAllOrNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(c *claudeCalls)
		want map[string][]uint32
	}{
		"twice":          {func(c *claudeCalls) { c.read("a", "one"); c.read("a", "one", "two") }, map[string][]uint32{"a": digests("one", "two")}},
		"escapes":        {func(c *claudeCalls) { c.read("a", "\"q\" \\ \t é \u2028 <&>\x01 ") }, map[string][]uint32{"a": digests("\"q\" \\ \t é \u2028 <&>\x01")}},
		"a pair of them": {func(c *claudeCalls) { c.read("a", "🙂") }, map[string][]uint32{"a": digests("🙂")}},
		"as many":        {func(c *claudeCalls) { c.read("a", numberedUpTo(transcript.MaxLines)...) }, map[string][]uint32{"a": digests(numberedUpTo(transcript.MaxLines)...)}},
		"too many":       {func(c *claudeCalls) { c.read("b", "kept"); c.read("a", numberedUpTo(transcript.MaxLines+1)...) }, map[string][]uint32{"b": digests("kept")}},
		"too many by and by": {func(c *claudeCalls) {
			c.read("a", numberedUpTo(transcript.MaxLines)...)
			c.read("a", "one more")
			c.read("b", "kept")
		}, map[string][]uint32{"b": digests("kept")}},
		"a long line": {func(c *claudeCalls) { c.read("a", "one", strings.Repeat("x", 1950)); c.read("b", "kept") }, map[string][]uint32{"b": digests("kept")}},
		"a long text": {func(c *claudeCalls) {
			c.read("a", append(numberedUpTo(5), make([]string, 60_000)...)...)
			c.read("b", "kept")
		}, map[string][]uint32{"b": digests("kept")}},
		"a failure": {func(c *claudeCalls) {
			c.call("Read", map[string]string{"file_path": "/p/a"}, js("     1→no"), true, "")
		}, nil},
		"two results in a record": {func(c *claudeCalls) {
			c.add("assistant", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/p/a"}}]`, "")
			long := strings.Repeat(`\n`, 3000)
			c.add("user", `[{"tool_use_id":"t1","type":"tool_result","content":"     1→no`+long+`"},{"tool_use_id":"t2","type":"tool_result","content":"     1→yes`+long+`"}]`, "")
		}, map[string][]uint32{"a": digests("yes")}},
		"a list": {func(c *claudeCalls) {
			c.call("Read", map[string]string{"file_path": "/p/a"}, `[{"type":"text","text":"     1→yes`+strings.Repeat(`\n`, 3000)+`"}]`, false, `,"toolUseResult":{"type":"text","file":{"filePath":"/p/a","content":"1. no"}}`)
		}, map[string][]uint32{"a": digests("yes")}},
		"written before": {func(c *claudeCalls) {
			c.call("Write", map[string]string{"file_path": "/p/a", "content": "x"}, js("ok"), false, "")
			c.read("a", "x")
		}, nil},
		"a write that failed": {func(c *claudeCalls) {
			c.call("Write", map[string]string{"file_path": "/p/a", "content": "x"}, js("File has not been read yet."), true, "")
			c.read("a", "one")
		}, map[string][]uint32{"a": digests("one")}},
		"many files": {func(c *claudeCalls) {
			for i := range transcript.MaxLined + 5 {
				c.read(fmt.Sprintf("f%02d", i), "one")
			}
		}, func() map[string][]uint32 {
			out := map[string][]uint32{}
			for i := range transcript.MaxLined {
				out[fmt.Sprintf("f%02d", i)] = digests("one")
			}
			return out
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := begun()
			c.then(calls)
			if diff := cmp.Diff(c.want, calls.turn(t).Lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	c := begun()
	run := func(command, result string, failed bool, more string) {
		c.call("Bash", map[string]string{"command": command}, js(result), failed, more)
	}
	run("echo  'a\tb'\n", "a", false, "")
	run("grep x y", "", false, `,"toolUseResult":{"stdout":"","returnCodeInterpretation":"No matches found"}`)
	run("sleep 99 &", "", false, `,"toolUseResult":{"stdout":"","backgroundTaskId":"b1"}`)
	run("make", "Exit code 130\nstopped", true, "")
	run("make", "Command timed out after 2m", true, "")
	run("deploy --token=sk-abcDEF1234567890abcd", "", false, "")
	run(strings.Repeat("x", transcript.MaxCommand+1), "", false, "")
	got := c.turn(t)
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "sk-abc") {
		t.Errorf("a secret got through: %s (%v)", text, err)
	}
	var exits []string
	for _, cmd := range got.Commands {
		exit := "?"
		if cmd.Exit != nil {
			exit = fmt.Sprint(*cmd.Exit)
		}
		exits = append(exits, fmt.Sprintf("%s %v", exit, cmd.Altered))
	}
	if diff := cmp.Diff([]string{"0 false", "? false", "? false", "130 false", "? false", "0 true", "0 true"}, exits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Commands[0].Text != "echo  'a\tb'\n" || len(got.Commands[6].Text) > transcript.MaxCommand {
		t.Errorf("%q, %d bytes", got.Commands[0].Text, len(got.Commands[6].Text))
	}
	many := begun()
	for range transcript.MaxCommands + 3 {
		many.call("Bash", map[string]string{"command": "true"}, `""`, false, "")
	}
	if n := len(many.turn(t).Commands); n != transcript.MaxCommands {
		t.Errorf("%d commands of a turn", n)
	}
}

// A command that prints one file shows it; others show nothing that is known.
func TestCommandsThatShowAFile(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"cat a.go": {"a.go"}, "cat 'my file'": {"my file"}, "cat -n a.go": {"a.go"}, "sed -n '1,20p' a.go": {"a.go"}, `sed -n "5p" a.go`: {"a.go"}, "sed -n 3,$p a.go": nil, "sed -n '3,$p' a.go": {"a.go"},
		"head -n 5 a.go": {"a.go"}, "head -20 a.go": {"a.go"}, "tail -n +3 a.go": {"a.go"}, "nl -ba a.go": {"a.go"}, "head a.go": {"a.go"},
		"cat a.go b.go": nil, "cat a.go | head": nil, "cat *.go": nil, "cat $F": nil, "cat > a.go": nil, "sed -i s/a/b/ a.go": nil, "sed -n '/x/p' a.go": nil, "tail -f a.go": nil, "cat": nil, "cat ~/x": nil, "echo a.go": nil,
		"cat 'open": nil, `cat "$(x)"`: nil, "cat -": nil, "cd x && cat a.go": nil,
	} {
		c := begun()
		c.call("Bash", map[string]string{"command": command}, js("one\n"), false, "")
		if diff := cmp.Diff(want, c.turn(t).Read); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}
