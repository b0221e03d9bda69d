package transcript_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// oneTurn is a session of one turn without tools.
func oneTurn(source, session, id, user, agent string, origin transcript.Origin, started, ended string) transcript.Transcript {
	return transcript.Transcript{
		Source: source, ID: session, Project: "/PROJECT/shop", Origin: origin, Started: at(started), Ended: at(ended),
		Turns: []transcript.Turn{{ID: id, Started: at(started), Ended: at(ended), User: user, Agent: agent, Tools: []transcript.Tool{}, Files: []string{}}},
	}
}

func openClawCase() transcripttest.Case {
	paid := oneTurn("openclaw", "d-1", "e1", "Is it paid?", "It is.", transcript.Interactive, "2026-09-01T08:00:00Z", "2026-09-01T08:00:03Z")
	paid.Turns[0].Tools = []transcript.Tool{{Name: "exec", OK: yes()}}
	paid.Turns[0].Commands = []transcript.Command{{Text: "cat skills/pay/SKILL.md"}}
	paid.Turns[0].Skill, paid.Turns[0].SkillBy = "pay", transcript.ByRead
	return transcripttest.Case{
		Source: transcript.OpenClaw{}, Home: "testdata/openclaw", Filled: "testdata/openclaw-filled",
		Want: []transcript.Transcript{
			oneTurn("openclaw", "s-cron", "k1", "Every morning.", "Done.", transcript.Headless, "2026-05-01T04:00:00Z", "2026-05-01T04:00:01Z"),
			{
				Source: "openclaw", ID: "s-main", Project: "/PROJECT/shop", Origin: transcript.Interactive,
				Started: at("2026-05-01T08:01:00Z"), Ended: at("2026-05-01T08:03:01Z"),
				Turns: []transcript.Turn{{
					ID: "u1", Started: at("2026-05-01T08:01:00Z"), Ended: at("2026-05-01T08:01:07Z"), User: "Send me the totals.", Agent: "42.",
					Tools: []transcript.Tool{{Name: "read", OK: yes()}, {Name: "write", OK: failed()}}, Files: []string{},
					Skill: "totals", SkillBy: transcript.ByRead, Read: []string{"skills/totals/SKILL.md"},
				}, {
					ID: "u2", Started: at("2026-05-01T08:03:00Z"), Ended: at("2026-05-01T08:03:01Z"), User: "No, in euros.",
					Tools: []transcript.Tool{}, Files: []string{}, Failed: "error",
				}},
			},
			oneTurn("openclaw", "s-old", "o1", "Before the reset.", "Yes.", transcript.Interactive, "2026-04-29T08:00:00Z", "2026-04-29T08:00:01Z"),
			oneTurn("openclaw", "s-sub", "b1", "A helper is asked.", "", transcript.Subagent, "2026-05-01T05:00:00Z", "2026-05-01T05:00:00Z"),
			paid,
			oneTurn("openclaw", "d-2", "f1", "Somebody in a group.", "", transcript.Headless, "2026-09-01T09:00:00Z", "2026-09-01T09:00:00Z"),
			oneTurn("openclaw", "d-3", "h1", "A helper in the database.", "", transcript.Subagent, "2026-09-01T09:00:00Z", "2026-09-01T09:00:00Z"),
		},
	}
}

func TestOpenClaw(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, openClawCase())
}

func TestOpenClawNothingElseIsRead(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(openClawCase().All(t, transcripttest.Lay(t, "testdata/openclaw", func(_, text string) string { return text }), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NEVER-READ", "Session Startup", "A branch that was left", "Another session", "as it was sent", "Deleted by the user", "untrusted"} {
		if strings.Contains(string(out), bad) {
			t.Errorf("%q was read: %s", bad, out)
		}
	}
	source, err := os.ReadFile("openclaw.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "SELECT") && (strings.Contains(line, "*") || strings.Contains(line, "auth") || strings.Contains(line, "entry_json")) {
			t.Errorf("a statement: %s", line)
		}
	}
}

const openClawFile = ".openclaw/agents/main/sessions/s.jsonl"

func openClawSays(id, parent, text string) string {
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-05-01T08:00:00Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
}

// The tree of OpenClaw is pi's: the active branch is kept, and a session whose tree is broken
// is named and left out.
func TestTrap40OpenClawTree(t *testing.T) {
	t.Parallel()
	const head = `{"type":"session","version":3,"id":"s","cwd":"/PROJECT/shop"}` + "\n"
	for name, c := range map[string]struct {
		lines    string
		want     []string
		problems int
	}{
		"a line":             {openClawSays("1", "null", "one") + openClawSays("2", `"1"`, "two"), []string{"one", "two"}, 0},
		"a fork":             {openClawSays("1", "null", "one") + openClawSays("2", `"1"`, "left") + openClawSays("3", `"1"`, "three"), []string{"one", "three"}, 0},
		"two roots":          {openClawSays("1", "null", "left") + openClawSays("2", "null", "two"), []string{"two"}, 0},
		"equal words":        {openClawSays("1", "null", "yes") + openClawSays("2", `"1"`, "yes"), []string{"yes", "yes"}, 0},
		"a missing parent":   {openClawSays("1", "null", "one") + openClawSays("2", `"9"`, "two"), []string{}, 1},
		"a forward parent":   {openClawSays("1", `"2"`, "one") + openClawSays("2", `null`, "two"), []string{}, 1},
		"a circle":           {openClawSays("1", `"2"`, "one") + openClawSays("2", `"1"`, "two"), []string{}, 1},
		"a double id":        {openClawSays("1", "null", "one") + openClawSays("1", `"1"`, "two"), []string{}, 1},
		"a parent not read":  {openClawSays("1", "null", "one") + "{broken\n" + openClawSays("3", `"2"`, "three"), []string{"one", "three"}, 1},
		"the session first":  {openClawSays("1", `"s"`, "one") + openClawSays("2", `"1"`, "two"), []string{"one", "two"}, 0},
		"two at the session": {openClawSays("1", `"s"`, "left") + openClawSays("2", `"s"`, "two"), []string{"two"}, 0},
		"half a last line":   {openClawSays("1", "null", "one") + `{"type":"message","id":"2","par`, []string{"one"}, 0},
		"no parents at all":  {strings.ReplaceAll(openClawSays("1", "null", "one")+openClawSays("2", "null", "two"), `"parentId":null,`, ""), []string{"one", "two"}, 0},
	} {
		res := readFiles(t, transcript.OpenClaw{}, map[string]string{openClawFile: head + c.lines})
		if diff := cmp.Diff(c.want, userWords(res)); diff != "" || len(res.Problems) != c.problems || res.Err != nil {
			t.Errorf("%s: %s %v %v", name, diff, res.Problems, res.Err)
		}
	}
}

func TestOpenClawWords(t *testing.T) {
	t.Parallel()
	const head = `{"type":"session","version":3,"id":"s","cwd":"/PROJECT/shop"}` + "\n"
	block := func(title, body string) string { return title + ":\n```json\n" + body + "\n```\n\n" }
	for text, want := range map[string][]string{
		"hi": {"hi"},
		block("Conversation info (untrusted metadata)", `{"a":1}`) + "hi":                                                                                            {"hi"},
		block("Replied message (untrusted, for context)", `{"body":"other words"}`) + block("Sender (untrusted metadata)", `{}`) + "[Mon 2026-03-23 13:12 GMT+8] hi": {"hi"},
		"Conversation info (untrusted metadata): what is that?":                                                                                                      {"Conversation info (untrusted metadata): what is that?"},
		"Look at this:\n```json\n{}\n```":                     {"Look at this:\n```json\n{}\n```"},
		"[x] is done":                                         {"[x] is done"},
		block("Sender (untrusted metadata)", `{}`):            {},
		"Read HEARTBEAT.md if it exists (workspace context).": {},
		"System: [2026-05-01] Node connected.":                {},
	} {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		res := readFiles(t, transcript.OpenClaw{}, map[string]string{openClawFile: head + strings.Replace(openClawSays("1", "null", "%"), `"%"`, string(data), 1)})
		if diff := cmp.Diff(want, userWords(res)); diff != "" && len(want)+len(userWords(res)) > 0 {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestOpenClawNewerDatabase(t *testing.T) {
	t.Parallel()
	for _, statements := range []string{"CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, body BLOB);", "CREATE TABLE events (x);"} {
		home := t.TempDir()
		path := filepath.Join(home, ".openclaw/agents/main/agent/openclaw-agent.sqlite")
		exec(t, path, statements)
		res := transcripttest.Case{Source: transcript.OpenClaw{}}.All(t, home, nil)
		var schema *transcript.SchemaError
		if !errors.As(res.Err, &schema) || schema.Path != path || schema.Table != "transcript_events" {
			t.Errorf("got %v", res.Err)
		}
	}
}

func TestOpenClawOlderFolder(t *testing.T) {
	t.Parallel()
	lines := `{"type":"session","id":"s","cwd":"/PROJECT/shop"}` + "\n" + openClawSays("1", "null", "hi")
	res := readFiles(t, transcript.OpenClaw{}, map[string]string{".clawdbot/agents/main/sessions/s.jsonl": lines})
	if diff := cmp.Diff([]string{"hi"}, userWords(res)); diff != "" {
		t.Error(diff)
	}
}

func FuzzOpenClaw(f *testing.F) {
	fuzz(f, transcript.OpenClaw{}, "agents/main/sessions/s.jsonl", "", seed(f, "testdata/openclaw/.openclaw/agents/main/sessions/s-main.jsonl"))
}
