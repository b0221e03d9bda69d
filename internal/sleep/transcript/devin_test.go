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

func devinCase() transcripttest.Case {
	solo := oneTurn("devin", "solo", "", "Fix the failing test in OrderService.", "mvn test -> BUILD SUCCESS, 12 passed", transcript.Interactive,
		"2026-08-01T10:00:05Z", "2026-08-01T10:01:00Z")
	solo.Version, solo.Ended = "3000.10.27", at("2026-08-01T10:02:05Z")
	solo.Turns[0].Tools = []transcript.Tool{{Name: "exec"}, {Name: "edit"}}
	solo.Turns[0].Files, solo.Turns[0].Commands = []string{"src/OrderService.java"}, []transcript.Command{{Text: "mvn test"}}
	solo.Turns = append(solo.Turns, oneTurn("devin", "", "", "Now the docs.", "Written.", "", "2026-08-01T10:02:00Z", "2026-08-01T10:02:05Z").Turns...)
	ibis := oneTurn("devin", "calm-ibis", "", "Name the tables.", "Two.", transcript.Interactive, "2026-08-02T10:00:00Z", "2026-08-02T10:00:01Z")
	ibis.Version = "3000.10.27"
	otter := oneTurn("devin", "brisk-otter", "", "Fix the rounding.", "Fixed.", transcript.Interactive, "2026-09-02T08:00:01Z", "2026-09-02T08:00:06Z")
	otter.Turns[0].Tools = []transcript.Tool{{Name: "read", OK: yes()}, {Name: "edit", OK: failed()}}
	otter.Turns[0].Files, otter.Turns[0].Skill, otter.Turns[0].SkillBy = []string{}, "money", transcript.ByRead
	otter.Turns = append(otter.Turns, oneTurn("devin", "", "", "No: to two digits.", "Two digits.", "", "2026-09-02T08:06:00Z", "2026-09-02T08:06:01Z").Turns...)
	otter.Turns[0].Read = []string{".devin/skills/money/SKILL.md"}
	otter.Ended = at("2026-09-02T08:06:01Z")
	return transcripttest.Case{
		Source: transcript.Devin{}, Home: "testdata/devin", Filled: "testdata/devin-filled",
		Want: []transcript.Transcript{
			otter,
			oneTurn("devin", "hidden-one", "", "Title this.", "", transcript.Headless, "2026-09-02T09:00:00Z", "2026-09-02T09:00:00Z"),
			ibis, solo,
		},
	}
}

func same(_, text string) string { return text }

func TestTrap62DevinATIF(t *testing.T) {
	t.Parallel()
	c := devinCase()
	got := c.All(t, transcripttest.Lay(t, c.Home, same), nil)
	for i, tr := range got.Transcripts { // ids are digests: other tests are about them
		for j := range tr.Turns {
			if i < len(c.Want) && j < len(c.Want[i].Turns) {
				c.Want[i].Turns[j].ID = tr.Turns[j].ID
			}
		}
	}
	transcripttest.Run(t, c)
}

func TestDevinNothingElseIsRead(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(devinCase().All(t, transcripttest.Lay(t, "testdata/devin", same), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NEVER-READ", "A branch that was left", "The loop goes on", "Copied from before", "fresher"} {
		if strings.Contains(string(out), bad) {
			t.Errorf("%q was read: %s", bad, out)
		}
	}
	source, err := os.ReadFile("devin.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "SELECT") && (strings.Contains(line, "*") || strings.Contains(line, "prompt_history") || strings.Contains(line, "title")) {
			t.Errorf("a statement: %s", line)
		}
	}
}

const (
	devinCLI  = ".local/share/devin/cli/"
	devinATIF = `{"schema_version":"ATIF-v1.7","session_id":"s","steps":[
		{"step_id":1,"timestamp":"2026-08-01T10:00:00Z","source":"user","message":"yes"},
		{"step_id":2,"timestamp":"2026-08-01T10:00:01Z","source":"agent","message":"ok","tool_calls":[{"tool_call_id":"1","function_name":"read","arguments":{"file_path":"/PROJECT/shop/x.go"}}]},
		{"step_id":3,"timestamp":"2026-08-01T10:01:00Z","source":"user","message":"yes"}]}`
	devinTables = `CREATE TABLE sessions (id TEXT, working_directory TEXT, main_chain_id INTEGER, hidden INTEGER);
		CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER, parent_node_id INTEGER, chat_message TEXT, created_at INTEGER);
		INSERT INTO sessions VALUES ('s', '/PROJECT/shop', 3, 0);`
)

// A session that is in the database now and in its transcript alone later is one.
func TestTrap71DevinOneSessionInBothStores(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	exec(t, filepath.Join(home, devinCLI, "sessions.db"), devinTables+`INSERT INTO message_nodes VALUES
		('s', 1, NULL, '{"message_id":"a","role":"user","content":"yes"}', 1788336000),
		('s', 2, 1, '{"message_id":"b","role":"assistant","content":"ok"}', 1788336001),
		('s', 3, 2, '{"message_id":"c","role":"user","content":"yes"}', 1788336002);`)
	both := transcripttest.Case{Source: transcript.Devin{}}.All(t, home, nil)
	writeFile(t, filepath.Join(home, devinCLI, "transcripts/s.json"), devinATIF)
	if got := (transcripttest.Case{Source: transcript.Devin{}}).All(t, home, nil); len(got.Transcripts) != 1 {
		t.Fatalf("read %d times", len(got.Transcripts))
	}
	if err := os.Remove(filepath.Join(home, devinCLI, "sessions.db")); err != nil {
		t.Fatal(err)
	}
	alone := transcripttest.Case{Source: transcript.Devin{}}.All(t, home, nil)
	ids := func(res transcripttest.Result) (out []string) {
		for _, turn := range res.Transcripts[0].Turns {
			out = append(out, turn.ID)
		}
		return out
	}
	if diff := cmp.Diff(ids(both), ids(alone)); diff != "" || ids(both)[0] == ids(both)[1] {
		t.Errorf("ids: %s %v", diff, ids(both))
	}
}

func TestDevinProjects(t *testing.T) {
	t.Parallel()
	const editor = ".config/Devin/User/workspaceStorage/"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no editor":    {nil, ""},
		"the longest":  {map[string]string{editor + "1/workspace.json": `{"folder":"file:///PROJECT"}`, editor + "2/workspace.json": `{"folder":"file:///PROJECT/shop"}`}, "/PROJECT/shop"},
		"not a prefix": {map[string]string{editor + "1/workspace.json": `{"folder":"file:///PROJECT/sho"}`}, ""},
	} {
		all := map[string]string{devinCLI + "transcripts/s.json": devinATIF}
		for k, v := range c.files {
			all[k] = v
		}
		if res := readFiles(t, transcript.Devin{}, all); len(res.Transcripts) != 1 || res.Transcripts[0].Project != c.want {
			t.Errorf("%s: %+v", name, res.Transcripts)
		}
	}
}

func TestDevinVersions(t *testing.T) {
	t.Parallel()
	res := readFiles(t, transcript.Devin{}, map[string]string{
		devinCLI + "transcripts/old.json": strings.Replace(devinATIF, "ATIF-v1.7", "ATIF-v1.0", 1),
		devinCLI + "transcripts/new.json": strings.Replace(devinATIF, "ATIF-v1.7", "ATIF-v2.0", 1),
		devinCLI + "transcripts/bad.json": devinATIF[:100],
	})
	if len(res.Transcripts) != 1 || len(res.Problems) != 2 {
		t.Errorf("read %d, problems %v", len(res.Transcripts), res.Problems)
	}
}

// A newer database does not keep the transcripts beside it from being read, with what it still
// says of where they ran.
func TestDevinNewerDatabase(t *testing.T) {
	t.Parallel()
	for _, statements := range []string{strings.ReplaceAll(devinTables, "chat_message", "body"), "CREATE TABLE other (x);"} {
		home := t.TempDir()
		exec(t, filepath.Join(home, devinCLI, "sessions.db"), statements)
		writeFile(t, filepath.Join(home, devinCLI, "transcripts/s.json"), devinATIF)
		stores, err := transcript.Devin{}.Stores(t.Context(), transcripttest.Case{}.Places(home))
		if err != nil || len(stores) != 1 {
			t.Fatalf("%v %v", stores, err)
		}
		res := transcripttest.Case{Source: transcript.Devin{}}.All(t, home, nil)
		var schema *transcript.SchemaError
		if !errors.As(res.Err, &schema) || len(userWords(res)) != 2 {
			t.Errorf("read %v, error %v", userWords(res), res.Err)
		}
		if strings.Contains(statements, "working_directory") && res.Transcripts[0].Project != "/PROJECT/shop" {
			t.Errorf("project %q", res.Transcripts[0].Project)
		}
	}
}

func TestDevinCircle(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	exec(t, filepath.Join(home, devinCLI, "sessions.db"), devinTables+`INSERT INTO message_nodes VALUES
		('s', 1, 3, '{"message_id":"a","role":"user","content":"one"}', 1788336000), ('s', 3, 1, '{"message_id":"c","role":"user","content":"two"}', 1788336002);`)
	if got := (transcripttest.Case{Source: transcript.Devin{}}).All(t, home, nil); len(userWords(got)) != 2 {
		t.Errorf("got %v %v", userWords(got), got.Err)
	}
}

func FuzzDevin(f *testing.F) {
	fuzz(f, transcript.Devin{}, "transcripts/s.json", "/PROJECT/shop", seed(f, "testdata/devin/.local/share/devin/cli/transcripts/solo.json"))
}
