package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// hostile is what a model could say to a terminal.
const hostile = "a\x1b[2J\x1b]0;title\x07b\rc\u009b31md\u202ee\x7f\u2028f\u200bg\U000e0041"

func steers(text string) bool {
	return strings.ContainsFunc(text, wording.Steers)
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\r\nÜ 任务\n": "plain\ttext\nÜ 任务\n", "\x1b[2J": `\u001b[2J`, "a\rb": `a\u000db`, "\x9b31m": `\x9b31m`, "\u202e\x7f": `\u202e\u007f`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got := oneLine("a\nb"); got != "a b" {
		t.Errorf("got %q", got)
	}
}

func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	history := `{"steps": [{"step": 0, "action": "seed"}, {"step": 1, "action": "reject", "reason": "a\u001b[2Jb", "unmeasured": ["t\u001b]0;x\u0007\nstep 9: accept"],
		"edits": [{"status": "applied", "content": "x\u001b[31m\u009b2J\r"}]}], "epochs": [{"epoch": 2, "meta_skill": "m\u001b[1m"}]}`
	for name, text := range map[string]string{"manifest.json": `{"format": 2, "kind": "train", "status": "stopped"}`, "history.json": history, "best_skill.md": hostile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	s := Streams{Out: &out, Err: &errs, Dir: dir}
	if code := Main(t.Context(), []string{"runs", "show", dir}, s, "test"); code != exitOK {
		t.Fatalf("code %d: %s", code, &errs)
	}
	if steers(out.String()) || strings.Contains(out.String(), "\nstep 9") || !strings.Contains(out.String(), "applied") {
		t.Errorf("%q", &out)
	}
	if code := Main(t.Context(), []string{"runs", "show", hostile}, s, "test"); code != exitInput || steers(errs.String()) {
		t.Errorf("code %d: %q", code, &errs)
	}
	out.Reset()
	if code := Main(t.Context(), []string{"runs", "export", dir}, s, "test"); code != exitOK || out.String() != hostile {
		t.Errorf("an export is what the skill is: code %d, %q", code, &out)
	}
	out.Reset()
	s.Shown = true
	if code := Main(t.Context(), []string{"runs", "export", dir}, s, "test"); code != exitOK || steers(out.String()) || !strings.Contains(out.String(), `a\u001b[2J`) {
		t.Errorf("an export on a terminal: code %d, %q", code, &out)
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	text := "a\r\nb\rc" + hostile + "\u00e9\U0001f642\xe2\x82"
	for size := 1; size < 8; size++ {
		var out bytes.Buffer
		s := &screen{w: &out}
		for rest := []byte(text); len(rest) > 0; {
			n, err := s.Write(rest[:min(size, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := s.end(); err != nil || out.String() != printable(text) {
			t.Errorf("in pieces of %d: %q, want %q (%v)", size, &out, printable(text), err)
		}
	}
}

// JSON is escaped as JSON escapes: the same document, and nothing that steers.
func TestJSONDoesNotSteer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, print := range []func(io.Writer, any) error{printJSON, printLine} {
		out.Reset()
		if err := print(&screen{w: &out}, map[string]string{"text": hostile}); err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["text"] != hostile || steers(out.String()) {
			t.Errorf("%q (%v)", &out, err)
		}
	}
	var events, errs bytes.Buffer
	a := &app{Streams: Streams{Out: &screen{w: &events}, Err: &screen{w: &errs}}, events: "-"}
	sink, _, err := a.eventSinks()
	if err != nil {
		t.Fatal(err)
	}
	sink(event.Warning{Text: hostile})
	var got struct{ Text string }
	if err := json.Unmarshal(events.Bytes(), &got); err != nil || got.Text != hostile || steers(events.String()) {
		t.Errorf("%q (%v)", &events, err)
	}
	if steers(errs.String()) || !strings.Contains(errs.String(), `\u001b[2J`) {
		t.Errorf("%q", &errs)
	}
}

func TestProgressIsPrintable(t *testing.T) {
	t.Parallel()
	s := onTerminal(200)
	s.pass(1e9, event.Warning{Text: hostile}, event.StageStarted{Stage: hostile})
	text := strings.ReplaceAll(s.out.String(), "\r\x1b[K", "")
	if steers(text) || !strings.Contains(text, "warning: a") {
		t.Errorf("%q", text)
	}
}

// closed is standard output that nobody reads any more.
type closed struct{ writes int }

func (c *closed) Write([]byte) (int, error) {
	c.writes++
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// Nobody is told that nobody reads on; the code says that not all was printed.
func TestABrokenOutputIsAFailure(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--version"}, {"--version", "--json"}, {"config", "explain", "--schema"}, {"--help"}} {
		var errs bytes.Buffer
		if code := Main(t.Context(), args, Streams{Out: &closed{}, Err: &errs, Dir: t.TempDir()}, "test"); code != exitFailed {
			t.Errorf("%v: code %d: %s", args, code, &errs)
		}
		if errs.Len() > 0 {
			t.Errorf("%v: %s", args, &errs)
		}
	}
}

func TestABrokenSinkWarnsOnce(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	c := &closed{}
	out := &screen{w: c}
	a := &app{Streams: Streams{Out: out, Err: &errs}, events: "-"}
	sink, done, err := a.eventSinks()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		sink(event.TestDone{})
	}
	if err := errors.Join(done(), out.err); err != nil || c.writes != 1 || strings.Count(errs.String(), "no more events are written") != 1 {
		t.Errorf("%v, %d writes: %s", err, c.writes, &errs)
	}
}
