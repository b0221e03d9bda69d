package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func failed() *bool { ok := false; return &ok }

// copilotCase is the sample, an interactive session made by hand, and a session of the database alone.
func copilotCase() transcripttest.Case {
	return transcripttest.Case{
		Source: transcript.Copilot{}, Home: "testdata/copilot", Scenario: copilotScenario, Filled: "testdata/copilot-filled",
		Want: []transcript.Transcript{{
			Source: "copilot", ID: "91c3ac77-c3d2-483b-884a-bacd34587340", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "1.0.102",
			Branch: "master", Commit: "7024e9e3cf031549d25f41dfe0326ab3dcc731f6",
			Started: at("2026-11-22T08:15:11.386Z"), Ended: at("2026-11-22T08:15:28.111Z"),
			Turns: []transcript.Turn{{
				ID: "d16c6c7c-7787-4ea6-bfbd-7dec26bc595b", Started: at("2026-11-22T08:15:11.386Z"), Ended: at("2026-11-22T08:15:13.265Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "create", OK: yes()}},
				Files: []string{"out.txt"}, Skill: "house-rules", SkillBy: transcript.ByRecord, Redacted: 1,
			}, {
				ID: "90b7f750-902a-43df-9d84-5677724b70e4", Started: at("2026-11-22T08:15:26.446Z"), Ended: at("2026-11-22T08:15:28.111Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, { // of a terminal
			Source: "copilot", ID: "92e29582-8284-42a8-b51e-5534132a8b32", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "1.0.102",
			Branch: "master", Commit: "ef92f07989e429acbeb6177de6c838c11c5f4fb1",
			Started: at("2026-11-25T09:46:13.557Z"), Ended: at("2026-11-25T09:46:27.488Z"),
			Turns: []transcript.Turn{{
				ID: "b0ce2c45-5862-4a87-aa84-bff8c1182c14", Started: at("2026-11-25T09:46:13.557Z"), Ended: at("2026-11-25T09:46:14.236Z"),
				User: "Write the date of order 7.", Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}, {
				ID: "eeb11618-84ee-492c-86b0-3324d4a77ce5", Started: at("2026-11-25T09:46:27.36Z"), Ended: at("2026-11-25T09:46:27.488Z"),
				User: "No, that is wrong: as YYYY-MM-DD.", Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "copilot", ID: "live-1", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "1.0.102", Branch: "main", Commit: "aa11",
			Started: at("2026-11-23T08:00:01Z"), Ended: at("2026-11-23T08:03:05Z"),
			Turns: []transcript.Turn{{
				ID: "u1", Started: at("2026-11-23T08:00:01Z"), Ended: at("2026-11-23T08:00:07Z"), User: "Sort the orders.", Agent: "Not done.",
				Tools: []transcript.Tool{{Name: "bash", OK: yes()}, {Name: "edit", OK: failed()}}, Files: []string{},
				Skill: "sorting", SkillBy: transcript.ByRead, Interrupted: true,
				Commands: []transcript.Command{{Text: "cat .agents/skills/sorting/SKILL.md"}},
			}, {
				ID: "u4", Started: at("2026-11-23T08:03:00Z"), Ended: at("2026-11-23T08:03:05Z"), User: "Try again.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "authentication",
			}},
		}, {
			Source: "copilot", ID: "old-1", Project: "/PROJECT/shop", Origin: transcript.Interactive, Branch: "main",
			Started: at("2026-10-01T07:00:05Z"), Ended: at("2026-10-01T07:10:00.5Z"),
			Turns: []transcript.Turn{{
				ID: "old-1/0", Started: at("2026-10-01T07:00:05Z"), Ended: at("2026-10-01T07:00:05Z"), User: "Round the totals.", Agent: "Rounded.",
				Tools: []transcript.Tool{}, Files: []string{"total.go"},
			}, {
				ID: "old-1/1", Started: at("2026-10-01T07:10:00.5Z"), Ended: at("2026-10-01T07:10:00.5Z"), User: "To two digits.",
				Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	}
}

func TestCopilot(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, copilotCase())
}

// readFiles reads all stores of a source below a home folder of lines, by their names.
func readFiles(t *testing.T, src transcript.Source, lines map[string]string) transcripttest.Result {
	t.Helper()
	home := t.TempDir()
	for name, text := range lines {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return transcripttest.Case{Source: src}.All(t, home, nil)
}

// userWords are the words of users and what became of them.
func userWords(res transcripttest.Result) []string {
	out := []string{}
	for _, tr := range res.Transcripts {
		for _, turn := range tr.Turns {
			out = append(out, turn.User)
		}
	}
	return out
}

// exec makes or changes a database.
func exec(t *testing.T, path, statements string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db := sqlstore.Open(path, "?mode=rwc")
	_, err := db.ExecContext(t.Context(), statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

const copilotTables = `CREATE TABLE sessions (id TEXT, cwd TEXT, branch TEXT, summary TEXT, created_at TEXT);
	CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT, timestamp TEXT);
	CREATE TABLE session_files (session_id TEXT, file_path TEXT, tool_name TEXT, turn_index INTEGER);
	INSERT INTO sessions VALUES ('s', '/PROJECT/shop', '', 'never read', '2026-10-01');`

func TestTrap39CopilotASecretAcrossACut(t *testing.T) {
	t.Parallel()
	secret := "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	home := t.TempDir()
	for _, before := range []int{transcript.MaxUser - 20, transcript.MaxUser - 3, transcript.MaxUser - 45} {
		text := strings.Repeat("word ", before/5) + secret + strings.Repeat(" more", 100)
		path := filepath.Join(home, ".copilot", "session-store.db")
		exec(t, path, copilotTables+"INSERT INTO turns VALUES ('s', 0, '"+text+"', '"+text+"', '2026-10-01 07:00:00');")
		out, err := json.Marshal(transcripttest.Case{Source: transcript.Copilot{}}.All(t, home, nil))
		if err != nil {
			t.Fatal(err)
		}
		for n := len("ghp_abcdef"); n <= len(secret); n++ {
			if strings.Contains(string(out), secret[:n]) {
				t.Fatalf("%q is left of the secret", secret[:n])
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTrap39CopilotMixedTimes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	exec(t, filepath.Join(home, ".copilot", "session-store.db"), copilotTables+`
		INSERT INTO turns VALUES ('s', 0, 'one', '', '2026-10-01 07:00:00'), ('s', 1, 'two', '', '2026-10-01T07:00:00.250Z'), ('s', 2, 'three', '', '2026-10-01T09:00:01+02:00');`)
	got := []time.Time{}
	for _, tr := range (transcripttest.Case{Source: transcript.Copilot{}}).All(t, home, nil).Transcripts {
		for _, turn := range tr.Turns {
			got = append(got, turn.Started)
		}
	}
	want := []time.Time{at("2026-10-01T07:00:00Z"), at("2026-10-01T07:00:00.25Z"), at("2026-10-01T07:00:01Z")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A writer that keeps the database locked for itself is neither waited for nor kept from
// committing, and what it has not committed is not seen.
func TestTrap39CopilotLockedDatabase(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"WAL", "DELETE"} {
		home := t.TempDir()
		path := filepath.Join(home, ".copilot", "session-store.db")
		exec(t, path, "PRAGMA journal_mode="+mode+";"+copilotTables+"INSERT INTO turns VALUES ('s', 0, 'committed', '', '2026-10-01 07:00:00');")
		db := sqlstore.Open(path, "?mode=rw")
		defer func() { _ = db.Close() }()
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for _, statement := range []string{"BEGIN EXCLUSIVE", "INSERT INTO turns VALUES ('s', 1, 'not yet', '', '2026-10-01 07:00:00')"} {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		res := transcripttest.Case{Source: transcript.Copilot{}}.All(t, home, nil)
		if diff := cmp.Diff([]string{"committed"}, userWords(res)); diff != "" || res.Err != nil {
			t.Errorf("%s: %s %v", mode, diff, res.Err)
		}
		if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
			t.Errorf("%s: the agent could not commit: %v", mode, err)
		}
		res = transcripttest.Case{Source: transcript.Copilot{}}.All(t, home, nil)
		if diff := cmp.Diff([]string{"committed", "not yet"}, userWords(res)); diff != "" {
			t.Errorf("%s: after the commit: %s", mode, diff)
		}
	}
}

func TestTrap69CopilotSessionErrorIsNoAnswer(t *testing.T) {
	t.Parallel()
	const head = `{"type":"user.message","id":"u","timestamp":"2026-11-23T08:00:00Z","data":{"content":"hi","agentMode":"interactive"}}` + "\n" +
		`{"type":"assistant.message","id":"a","timestamp":"2026-11-23T08:00:01Z","data":{"content":"I look."}}` + "\n" +
		`{"type":"session.error","id":"e","timestamp":"2026-11-23T08:00:02Z","data":{"errorType":"authentication","message":"HTTP 401"}}` + "\n"
	const after = `{"type":"assistant.message","id":"b","timestamp":"2026-11-23T08:00:03Z","data":{"content":"Done."}}` + "\n"
	for text, want := range map[string]transcript.Turn{
		head:         {Failed: "authentication"},
		head + after: {Agent: "Done."}, // the program tried again by itself
	} {
		turn := readFiles(t, transcript.Copilot{}, map[string]string{".copilot/session-state/s/events.jsonl": text}).Transcripts[0].Turns[0]
		if turn.Failed != want.Failed || turn.Agent != want.Agent {
			t.Errorf("failed %q, answer %q, want %q, %q", turn.Failed, turn.Agent, want.Failed, want.Agent)
		}
	}
}

// What names a session holds its first prompt: whatever stands there, nothing of it is read.
func TestTrap74CopilotNamesAreNeverRead(t *testing.T) {
	t.Parallel()
	const mark = "NEVER-READ"
	home := transcripttest.Lay(t, "testdata/copilot", func(name, text string) string {
		switch {
		case strings.HasSuffix(name, ".yaml"):
			return strings.ReplaceAll(text, "name: ", "name: "+mark)
		case strings.HasSuffix(name, ".sql"):
			text = strings.ReplaceAll(text, "A summary that is never read", mark)
			return strings.ReplaceAll(text, "INSERT INTO search_index VALUES ('", "INSERT INTO search_index VALUES ('"+mark)
		}
		return strings.ReplaceAll(text, `"transformedContent": "`, `"transformedContent": "`+mark)
	})
	out, err := json.Marshal(copilotCase().All(t, home, nil))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), mark) {
		t.Errorf("it was read: %s", out)
	}
	source, err := os.ReadFile("copilot.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "SELECT") && (strings.Contains(line, "summary") || strings.Contains(line, "*") || strings.Contains(line, "search")) {
			t.Errorf("a statement: %s", line)
		}
	}
}

func TestTrap77CopilotSkills(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user.message","id":"u","timestamp":"2026-11-23T08:00:00Z","data":{"content":"hi","agentMode":"interactive"}}` + "\n"
	read1 := `{"type":"tool.execution_start","id":"1","data":{"toolCallId":"1","toolName":"view","arguments":{"path":"/s/by-read/SKILL.md"}}}` + "\n"
	tool := `{"type":"tool.execution_start","id":"2","data":{"toolCallId":"2","toolName":"skill","arguments":{"skill":"by-tool"}}}` + "\n"
	record := `{"type":"skill.invoked","id":"3","data":{"name":"by-record"}}` + "\n"
	other := `{"type":"skill.invoked","id":"4","data":{"name":"another"}}` + "\n"
	for text, want := range map[string]string{read1: "by-read", read1 + tool: "by-tool", read1 + tool + record: "by-record", read1 + record + other: ""} {
		turn := readFiles(t, transcript.Copilot{}, map[string]string{".copilot/session-state/s/events.jsonl": user + text}).Transcripts[0].Turns[0]
		if turn.Skill != want {
			t.Errorf("skill %q, want %q", turn.Skill, want)
		}
	}
}

func TestCopilotDatabaseWithoutAColumn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	exec(t, filepath.Join(home, ".copilot", "session-store.db"), strings.ReplaceAll(copilotTables, "user_message", "prompt"))
	res := transcripttest.Case{Source: transcript.Copilot{}}.All(t, home, nil)
	var schema *transcript.SchemaError
	if !errors.As(res.Err, &schema) || schema.Table != "turns" || schema.Column != "user_message" {
		t.Errorf("got %v", res.Err)
	}
}

// Older versions kept one file a session, and gave no mode with messages.
func TestCopilotOlderVersion(t *testing.T) {
	t.Parallel()
	res := readFiles(t, transcript.Copilot{}, map[string]string{".copilot/session-state/s.jsonl": `{"type":"session.start","id":"0","data":{"sessionId":"s","copilotVersion":"0.0.363"}}
{"type":"user.message","id":"u","timestamp":"2026-01-23T08:00:00Z","data":{"content":"hi"}}
`})
	if len(res.Transcripts) != 1 || res.Transcripts[0].ID != "s" || res.Transcripts[0].Origin != transcript.Interactive {
		t.Errorf("got %+v", res)
	}
}

func TestCopilotHelpersSession(t *testing.T) {
	t.Parallel()
	res := readFiles(t, transcript.Copilot{}, map[string]string{".copilot/session-state/s/events.jsonl": `{"type":"session.start","id":"0","data":{"sessionId":"s","copilotVersion":"1.0.102","detachedFromSpawningParentSessionId":"p"}}
{"type":"user.message","id":"u","timestamp":"2026-01-23T08:00:00Z","data":{"content":"hi","agentMode":"interactive"}}
`})
	if res.Transcripts[0].Origin != transcript.Subagent {
		t.Errorf("got %s", res.Transcripts[0].Origin)
	}
}

func TestCopilotRewindWithinATurn(t *testing.T) {
	t.Parallel()
	lines := ""
	for _, id := range []string{"1", "2", "3"} {
		lines += `{"type":"user.message","id":"u` + id + `","timestamp":"2026-01-23T08:00:00Z","data":{"content":"say ` + id + `","agentMode":"interactive"}}` + "\n" +
			`{"type":"assistant.message","id":"a` + id + `","timestamp":"2026-01-23T08:00:00Z","data":{"content":"said"}}` + "\n"
	}
	for event, want := range map[string][]string{
		"a1": {"say 1"}, "u2": {"say 1"}, "a2": {"say 1", "say 2"}, "a3": {"say 1", "say 2", "say 3"}, "unknown": {"say 1", "say 2", "say 3"},
	} {
		res := readFiles(t, transcript.Copilot{}, map[string]string{
			".copilot/session-state/s/events.jsonl": lines + `{"type":"session.snapshot_rewind","id":"r","data":{"upToEventId":"` + event + `"}}` + "\n",
		})
		if diff := cmp.Diff(want, userWords(res)); diff != "" {
			t.Errorf("%s: %s", event, diff)
		}
	}
}

// fuzz reads a store of one file with a text for its content: nothing panics, and no secret
// comes out.
func fuzz(f *testing.F, src transcript.Source, name, note string, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	clean := redact.New()
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &transcript.Reading{Clean: clean, Temp: root, Each: func(tr transcript.Transcript) error {
			for _, turn := range tr.Turns {
				if turn.ID == "" || turn.User == "" {
					t.Errorf("a turn without an id or words: %+v", turn)
				}
			}
			return nil
		}}
		if err := src.Read(context.Background(), transcript.Store{Source: src.Name(), Root: root, Name: name, Note: note}, r); err != nil {
			t.Errorf("a file of any content is no error: %v", err)
		}
	})
}

// seed is a file of testdata.
func seed(f *testing.F, path string) string {
	f.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

func FuzzCopilot(f *testing.F) {
	const dir = "testdata/copilot/.copilot/session-state/"
	fuzz(f, transcript.Copilot{}, "session-state/s/events.jsonl", "", seed(f, dir+"live-1/events.jsonl"), seed(f, dir+"91c3ac77-c3d2-483b-884a-bacd34587340/events.jsonl"))
}
