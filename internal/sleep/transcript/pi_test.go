package transcript_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func TestPi(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Pi{}, Home: "testdata/pi", Scenario: piScenario, Filled: "testdata/pi-filled",
		Want: []transcript.Transcript{{
			Source: "pi", ID: "01a2024d-ee0f-74ec-8075-a46d0de99995", Project: "/PROJECT/shop", Origin: transcript.Interactive,
			Started: at("2026-11-22T08:09:51.649Z"), Ended: at("2026-11-22T08:10:15.893Z"),
			Turns: []transcript.Turn{{
				ID: "134aeb1b392753b1eed44b53", Started: at("2026-11-22T08:09:51.649Z"), Ended: at("2026-11-22T08:09:52.968Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "read", OK: yes()}, {Name: "write", OK: yes()}},
				Files: []string{"out.txt"}, Skill: "house-rules", SkillBy: transcript.ByRead, Redacted: 1,
				Read: []string{houseRules}, Lines: readHouseRules("House rules of this project for dates and totals. Use for every task."),
			}, {
				ID: "0da09f76dab4a5f87f3dba46", Started: at("2026-11-22T08:10:14.956Z"), Ended: at("2026-11-22T08:10:15.893Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	})
}

const piFile = ".pi/agent/sessions/--p--/2026-11-22T08-00-00-000Z_s1.jsonl"

func piHeader(version string) string {
	return `{"type":"session","version":` + version + `,"id":"s1","timestamp":"2026-11-22T08:00:00.000Z","cwd":"/p"}`
}

// piEntry is a record; parent "" is null.
func piEntry(id, parent, members string) string {
	from := "null"
	if parent != "" {
		from = `"` + parent + `"`
	}
	return `{"id":"` + id + `","parentId":` + from + `,"timestamp":"2026-11-22T08:00:0` + strconv.Itoa(len(id)) + `.000Z",` + members + `}`
}

func piSays(role, text, more string) string {
	return `"type":"message","message":{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"}]` + more + `}`
}

func TestTrap40PiBranch(t *testing.T) {
	t.Parallel()
	user := func(id, parent, text string) string { return piEntry(id, parent, piSays("user", text, "")) }
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"fork", []string{user("a", "", "A"), user("bb", "a", "B"), user("ccc", "bb", "C"), user("dddd", "a", "D")}, []string{"A", "D"}},
		{"back and forth", []string{user("a", "", "A"), user("bb", "a", "B"), user("ccc", "a", "C"), user("dddd", "bb", "D")}, []string{"A", "B", "D"}},
		{"two roots", []string{user("a", "", "A"), user("bb", "", "B"), user("ccc", "bb", "C")}, []string{"B", "C"}},
		{"a record of another type is the leaf", []string{user("a", "", "A"), user("bb", "a", "B"), piEntry("ccc", "a", `"type":"label","targetId":"a","label":"x"`)}, []string{"A"}},
		{"the leaf is moved", []string{user("a", "", "A"), user("bb", "a", "B"), piEntry("ccc", "bb", `"type":"leaf","targetId":"a"`), user("dddd", "a", "D")}, []string{"A", "D"}},
		{"the leaf is moved at last", []string{user("a", "", "A"), user("bb", "a", "B"), piEntry("ccc", "bb", `"type":"leaf","targetId":"a"`)}, []string{"A"}},
		{"the leaf is before all", []string{user("a", "", "A"), piEntry("ccc", "a", `"type":"leaf","targetId":null`)}, []string{}},
	} {
		got := readLines(t, transcript.Pi{}, piFile, append([]string{piHeader("3")}, c.lines...)...)
		if diff := cmp.Diff(c.want, wordsOf(only(t, got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTrap40PiCorrupt(t *testing.T) {
	t.Parallel()
	user := func(id, parent, text string) string { return piEntry(id, parent, piSays("user", text, "")) }
	for _, c := range []struct {
		name  string
		lines []string
		line  int // that is named
	}{
		{"cycle", []string{piHeader("3"), user("a", "bb", "A"), user("bb", "a", "B")}, 2},
		{"its own parent", []string{piHeader("3"), user("a", "a", "A")}, 2},
		{"missing parent", []string{piHeader("3"), user("a", "", "A"), user("bb", "zz", "B")}, 3},
		{"forward reference", []string{piHeader("3"), user("a", "", "A"), user("bb", "ccc", "B"), user("ccc", "a", "C")}, 3},
		{"double id", []string{piHeader("2"), user("a", "", "A"), user("a", "", "B")}, 3},
		{"no id", []string{piHeader("3"), user("", "", "A")}, 2},
		{"no parent", []string{piHeader("3"), `{"type":"message","id":"a"}`}, 2},
		{"a parent that is a number", []string{piHeader("3"), `{"type":"message","id":"a","parentId":1}`}, 2},
		{"bad last line", []string{piHeader("3"), user("a", "", "A"), `{"type":"mess`}, 3},
		{"bad line", []string{piHeader("3"), user("a", "", "A"), `x`, user("bb", "a", "B")}, 3},
		{"bad line in a list", []string{piHeader("1"), user("a", "", "A"), `x`}, 3},
		{"two sessions", []string{piHeader("3"), piHeader("3"), user("a", "", "A")}, 2},
		{"two sessions in a list", []string{piHeader("1"), user("a", "", "A"), piHeader("1")}, 3},
		{"no session", []string{user("a", "", "A")}, 1},
		{"leaf to nowhere", []string{piHeader("3"), user("a", "", "A"), piEntry("bb", "a", `"type":"leaf","targetId":"zz"`)}, 3},
	} {
		got := readLines(t, transcript.Pi{}, piFile, c.lines...)
		if len(got.Transcripts) != 0 || len(got.Problems) == 0 || got.Problems[0].Line != c.line || !strings.HasSuffix(got.Problems[0].Path, ".jsonl") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, version := range []string{"true", `"3"`, "0", "2.5", "null", "4"} {
		got := readLines(t, transcript.Pi{}, piFile, piHeader(version), user("a", "", "A"))
		if len(got.Transcripts) != 0 || got.Err == nil || !strings.Contains(got.Err.Error(), "known are 1, 2 and 3") {
			t.Errorf("version %s: %+v", version, got)
		}
	}
	newest := readLines(t, transcript.Pi{}, piFile, `{"kind":"header","version":4,"id":"s1","cwd":"/p"}`)
	if newest.Err == nil || len(newest.Transcripts) != 0 {
		t.Errorf("version 4: %+v", newest)
	}
}

// A last line that is being written waits: the session goes on from the one before.
func TestTrap40PiHalfALine(t *testing.T) {
	t.Parallel()
	home := lay(t, map[string][]string{piFile: {piHeader("3"), piEntry("a", "", piSays("user", "A", ""))}})
	f, err := os.OpenFile(home+"/"+piFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"mess`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	tr := only(t, transcripttest.Case{Source: transcript.Pi{}}.All(t, home, nil))
	if diff := cmp.Diff([]string{"A"}, wordsOf(tr)); diff != "" {
		t.Error(diff)
	}
}

// What an agent writes between the two times that a file with a fork is read is read in the
// next harvest.
func TestTrap80PiWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	user := func(id, parent, text string) string { return piEntry(id, parent, piSays("user", text, "")) }
	home := lay(t, map[string][]string{piFile: {piHeader("3"), user("a", "", "A"), user("bb", "a", "left"), user("ccc", "a", "B")}})
	c := transcripttest.Case{Source: transcript.Pi{}}
	stores, err := c.Source.Stores(t.Context(), c.Places(home))
	if err != nil || len(stores) != 1 {
		t.Fatal(stores, err)
	}
	asked := 0
	var words []string
	r := &transcript.Reading{
		Clean: redact.New(), Temp: t.TempDir(),
		Each: func(tr transcript.Transcript) error { words = append(words, wordsOf(tr)...); return nil },
		Wanted: func(string) bool {
			if asked++; asked == 1 { // the tree is being read
				f, err := os.OpenFile(stores[0].Path(), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
				if _, err := f.WriteString(user("dddd", "ccc", "C") + "\n"); err != nil {
					t.Fatal(err)
				}
			}
			return true
		},
	}
	if err := c.Source.Read(t.Context(), stores[0], r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A", "B"}, words); diff != "" {
		t.Error(diff)
	}
	if mark, err := transcript.Peek(t.Context(), stores[0]); err != nil || mark == r.Mark {
		t.Errorf("the mark says that all was read: %+v, %v", mark, err)
	}
}

func TestTrap69PiFailures(t *testing.T) {
	t.Parallel()
	failed := piSays("assistant", "Half an", `,"stopReason":"error","errorMessage":"401 unauthorized"`)
	for _, c := range []struct {
		name  string
		lines []string
		want  transcript.Turn
	}{
		{"error", []string{piEntry("bb", "a", failed)}, transcript.Turn{Failed: "401 unauthorized"}},
		{"tried again", []string{piEntry("bb", "a", failed), piEntry("ccc", "bb", piSays("assistant", "Done.", `,"stopReason":"stop"`))}, transcript.Turn{Agent: "Done."}},
		{"stopped", []string{piEntry("bb", "a", piSays("assistant", "Half an", `,"stopReason":"aborted"`))}, transcript.Turn{Agent: "Half an", Interrupted: true}},
	} {
		turn := only(t, readLines(t, transcript.Pi{}, piFile, append([]string{piHeader("3"), piEntry("a", "", piSays("user", "A", ""))}, c.lines...)...)).Turns[0]
		got := transcript.Turn{Failed: turn.Failed, Agent: turn.Agent, Interrupted: turn.Interrupted}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTrap77PiSkills(t *testing.T) {
	t.Parallel()
	const skill = `<skill name=\"release\" location=\"/s/release/SKILL.md\">\nReferences are relative to /s/release.\n\n<skill>inner\n</skill> text\n</skill>`
	for _, c := range []struct{ name, text, words, skill string }{
		{"with words", skill + `\n\nShip it.`, "Ship it.", "release"},
		{"alone", skill, "/skill:release", "release"},
		{"an attached file", `<file name=\"/p/a.txt\">\nnot mine\n</file>\nLook.`, "Look.", ""},
		{"two attached files", `<file name=\"/p/a.txt\">\nx\n</file>\n<file name=\"/p/b.png\"></file>\nLook.`, "Look.", ""},
		{"a file alone", `<file name=\"/p/a.txt\">\nx\n</file>\n`, "@/p/a.txt", ""},
		{"the user's own tags", `What is <skill name=\"x\"> good for?`, `What is <skill name="x"> good for?`, ""},
		{"half a block", `<skill name=\"x\" of mine`, `<skill name="x" of mine`, ""},
	} {
		turn := only(t, readLines(t, transcript.Pi{}, piFile, piHeader("3"), piEntry("a", "", piSays("user", c.text, "")))).Turns[0]
		if turn.User != c.words || turn.Skill != c.skill {
			t.Errorf("%s: %q, skill %q", c.name, turn.User, turn.Skill)
		}
	}
}

func TestPiVersions(t *testing.T) {
	t.Parallel()
	// Version 1 is a list without ids; pi gives them ids when it opens the file.
	list := []string{
		`{"type":"session","id":"s1","timestamp":"2025-11-22T08:00:00.000Z","cwd":"/p"}`,
		`{"type":"message","timestamp":"2025-11-22T08:00:01.000Z","message":{"role":"user","content":"A","timestamp":1}}`,
		`{"type":"message","timestamp":"2025-11-22T08:00:02.000Z","message":{"role":"user","content":"B","timestamp":2}}`,
	}
	tree := []string{
		strings.Replace(list[0], `"id"`, `"version":3,"id"`, 1),
		strings.Replace(list[1], `"message",`, `"message","id":"x1","parentId":null,`, 1),
		strings.Replace(list[2], `"message",`, `"message","id":"x2","parentId":"x1",`, 1),
	}
	fork := []string{strings.Replace(tree[0], "s1", "s2", 1), tree[1], tree[2]}
	old := only(t, readLines(t, transcript.Pi{}, piFile, list...))
	if diff := cmp.Diff(old, only(t, readLines(t, transcript.Pi{}, piFile, tree...))); diff != "" {
		t.Errorf("in the newest format (-old +new):\n%s", diff)
	}
	if diff := cmp.Diff(old.Turns, only(t, readLines(t, transcript.Pi{}, piFile, fork...)).Turns); diff != "" {
		t.Errorf("in a fork:\n%s", diff)
	}
	twice := only(t, readLines(t, transcript.Pi{}, piFile, list[0], list[1], list[1]))
	if len(twice.Turns) != 2 {
		t.Errorf("equal messages: %+v", twice.Turns)
	}
}

func TestPiNotOfTheUser(t *testing.T) {
	t.Parallel()
	lines := []string{
		piHeader("3"), piEntry("a", "", piSays("user", "A", "")), piEntry("bb", "a", piSays("custom", "B", "")), piEntry("ccc", "bb", piSays("bashExecution", "C", "")),
		piEntry("dddd", "ccc", `"type":"custom_message","content":"D"`), piEntry("eeeee", "dddd", `"type":"compaction","summary":"E","retainedTail":[{"role":"user","content":"F"}]`),
		piEntry("ffffff", "eeeee", `"type":"not_known_yet","message":{"role":"user","content":"G"}`),
	}
	if diff := cmp.Diff([]string{"A"}, wordsOf(only(t, readLines(t, transcript.Pi{}, piFile, lines...)))); diff != "" {
		t.Error(diff)
	}
}

func TestPiTools(t *testing.T) {
	t.Parallel()
	calls := `"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"write","arguments":{"path":"/p/a.txt","content":"x"}},{"type":"toolCall","id":"d","name":"edit","arguments":{"path":"b.txt"}},{"type":"toolCall","id":"e","name":"bash","arguments":{"command":"cat /s/x/SKILL.md"}}]}`
	result := func(id string, bad string) string {
		return piSays("toolResult", "x", `,"toolCallId":"`+id+`","isError":`+bad)
	}
	turn := only(t, readLines(t, transcript.Pi{}, piFile, piHeader("3"), piEntry("a", "", piSays("user", "A", "")), piEntry("bb", "a", calls),
		piEntry("ccc", "bb", result("c", "false")), piEntry("dddd", "ccc", result("d", "true")), piEntry("eeeee", "dddd", calls))).Turns[0]
	no := false
	want := []transcript.Tool{{Name: "write", OK: yes()}, {Name: "edit", OK: &no}, {Name: "bash"}, {Name: "write"}, {Name: "edit"}, {Name: "bash"}}
	if diff := cmp.Diff(want, turn.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.txt"}, turn.Files); diff != "" || turn.Skill != "x" {
		t.Errorf("files of calls that succeeded, skill %q (-want +got):\n%s", turn.Skill, diff)
	}
}

func TestPiFolders(t *testing.T) {
	t.Parallel()
	other := strings.Replace(piHeader("3"), "s1", "s2", 1)
	a := piEntry("a", "", piSays("user", "A", ""))
	home := lay(t, map[string][]string{piFile: {piHeader("3"), a}, "apart/s2.jsonl": {other, a}})
	for name, c := range map[string]struct {
		env  map[string]string
		want int
	}{
		"usual":    {nil, 1},
		"agent":    {map[string]string{"PI_CODING_AGENT_DIR": ".pi/agent"}, 1},
		"moved":    {map[string]string{"PI_CODING_AGENT_DIR": "elsewhere"}, 0},
		"apart":    {map[string]string{"PI_CODING_AGENT_SESSION_DIR": "apart"}, 2},
		"the same": {map[string]string{"PI_CODING_AGENT_SESSION_DIR": ".pi/agent/sessions"}, 1},
	} {
		if got := (transcripttest.Case{Source: transcript.Pi{}, Env: c.env}).All(t, home, nil); len(got.Transcripts) != c.want {
			t.Errorf("%s: %d sessions", name, len(got.Transcripts))
		}
	}
}

func FuzzPi(f *testing.F) { fuzzLines(f, transcript.Pi{}, "testdata/pi", piFile) }
