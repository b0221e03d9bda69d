package transcript_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func TestOpenCode(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.OpenCode{}, Home: "testdata/opencode", Scenario: openCodeScenario, Filled: "testdata/opencode-filled",
		Want: []transcript.Transcript{{
			Source: "opencode", ID: "ses_dee04570affe5JK7XoIolbNiLL", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "1.18.33",
			Started: at("2026-11-25T09:13:55.905Z"), Ended: at("2026-11-25T09:14:26.898Z"),
			Turns: []transcript.Turn{{
				ID: "msg_211fbabc1001EGyOpMhoTRRvAo", Started: at("2026-11-25T09:13:55.905Z"), Ended: at("2026-11-25T09:14:11.024Z"),
				User:  "Write the \"date\" of order 1042 into out.txt. PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool, Redacted: 1,
			}, {
				ID: "msg_211fc02dc001DUbVspewUoqVz4", Started: at("2026-11-25T09:14:18.205Z"), Ended: at("2026-11-25T09:14:26.898Z"),
				User:  "No, that is wrong",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "opencode", ID: "ses_dee03c851ffeF62Uk0OO4aA6Nk", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "1.18.33",
			Started: at("2026-11-25T09:14:32.132Z"), Ended: at("2026-11-25T09:14:43.391Z"),
			Turns: []transcript.Turn{{
				ID: "msg_211fc3944001aCqXfpCjJA61dw", Started: at("2026-11-25T09:14:32.132Z"), Ended: at("2026-11-25T09:14:43.391Z"),
				User:  "oneword",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool,
			}},
		}, {
			Source: "opencode", ID: "ses_dee03764cffeIhpiayBCu8k6GI", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "1.18.33",
			Started: at("2026-11-25T09:14:54.78Z"), Ended: at("2026-11-25T09:15:06.618Z"),
			Turns: []transcript.Turn{{
				ID: "msg_211fc91bc001UeGWRhx274SErZ", Started: at("2026-11-25T09:14:54.78Z"), Ended: at("2026-11-25T09:15:06.618Z"),
				User:  "This one fails.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "APIError",
			}},
		}, {
			Source: "opencode", ID: "ses_dee01ceedffeQCzQqPAaWWFwgt", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "1.18.33",
			Started: at("2026-11-25T09:13:55.905Z"), Ended: at("2026-11-25T09:16:46.145Z"),
			Turns: []transcript.Turn{{
				ID: "msg_211fbabc1001EGyOpMhoTRRvAo", Started: at("2026-11-25T09:13:55.905Z"), Ended: at("2026-11-25T09:14:11.024Z"),
				User:  "Write the \"date\" of order 1042 into out.txt. PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool, Redacted: 1,
			}, {
				ID: "msg_211fc02dc001DUbVspewUoqVz4", Started: at("2026-11-25T09:14:18.205Z"), Ended: at("2026-11-25T09:14:26.898Z"),
				User:  "No, that is wrong",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}, {
				ID: "msg_211fe37f5001Fl0vRMsnd8q2Pr", Started: at("2026-11-25T09:16:42.869Z"), Ended: at("2026-11-25T09:16:46.145Z"),
				User:  "\"Now in the fork\"",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	})
}

// openCodeHome is a home folder with a database of these statements, after the tables of 1.18.
func openCodeHome(statements ...string) map[string]string {
	tables := `CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text, metadata text, revert text, permission text, agent text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE account (id text, access_token text);`
	return map[string]string{openCodeFile + ".sql": "BEGIN;" + tables + strings.Join(statements, "\n") + "COMMIT;"}
}

const (
	openCodeFile = ".local/share/opencode/opencode.db"
	runDenies    = `[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]`
)

// openCodeSession is a session with one column more; its time is that of its number.
func openCodeSession(id string, n int, column, value string) string {
	return fmt.Sprintf("INSERT INTO session (id, directory, version, time_created, time_updated, %s) VALUES ('%s', '/p', '1', %d, %d, '%s');", column, id, 1795598000000+n, 1795598000000+n, value)
}

func openCodeMessage(id, session string, n int, role, more string) string {
	return fmt.Sprintf(`INSERT INTO message VALUES ('%s', '%s', %d, 1, '{"role":"%s","time":{"created":%d}%s}');`, id, session, 1795598000000+n, role, 1795598000000+n, more)
}

func openCodePart(id, message, data string) string {
	return fmt.Sprintf(`INSERT INTO part VALUES ('%s', '%s', 'x', 1, 1, '%s');`, id, message, data)
}

// openCodeTurn is a message of the user and an answer.
func openCodeTurn(session, id string, n int, words, answer string) string {
	return openCodeMessage(id, session, n, "user", "") + openCodePart("p"+id, id, `{"type":"text","text":"`+words+`"}`) +
		openCodeMessage(id+"a", session, n+1, "assistant", "") + openCodePart("p"+id+"a", id+"a", `{"type":"text","text":"`+answer+`"}`)
}

func TestTrap41OpenCode(t *testing.T) {
	t.Parallel()
	got := readHome(t, transcript.OpenCode{}, openCodeHome(
		openCodeSession("s1", 1, "agent", "build"), openCodeTurn("s1", "m1", 10, "one", "1"),
		openCodePart("pm1s", "m1", `{"type":"text","text":"of the program","synthetic":true}`), openCodePart("pm1i", "m1", `{"type":"text","text":"not for the model","ignored":true}`),
		openCodeMessage("m2", "s1", 20, "user", ""), openCodePart("pm2", "m2", `{"type":"text","text":"go on, says the program","synthetic":true}`),
		openCodeMessage("m3", "s1", 30, "user", ""), openCodePart("pm3", "m3", `{"type":"compaction","auto":true}`),
		openCodeMessage("m4", "s1", 40, "assistant", `,"summary":true,"mode":"compaction"`), openCodePart("pm4", "m4", `{"type":"text","text":"what was said so far"}`),
		openCodePart("pm4n", "m4", `{"type":"newer","x":1}`),
		openCodeSession("s2", 2, "parent_id", "s1"), openCodeTurn("s2", "m5", 50, "for a helper", "2"),
		openCodeSession("s3", 3, "agent", "skillopt-sleep-0123456789abcdef0123456789abcdef"), openCodeTurn("s3", "m6", 60, "a replay", "3"),
		openCodeSession("s4", 4, "agent", "build"), openCodeTurn("s4", "m7", 70, "four", "4"), openCodePart("bad", "m7", `{"type":"text`),
		openCodeSession("s5", 5, "agent", "build"), openCodeTurn("s5", "m8", 80, "five", "5"), "INSERT INTO message VALUES ('m9', 's5', 1795598000090, 1, '[]');"))
	want := []brief{
		{ID: "s1", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{{ID: "m1", User: "one", Agent: "1"}}},
		{ID: "s2", Project: "/p", Origin: transcript.Subagent, Turns: []briefTurn{{ID: "m5", User: "for a helper", Agent: "2"}}},
		{ID: "s3", Project: "/p", Origin: transcript.Replay, Turns: []briefTurn{{ID: "m6", User: "a replay", Agent: "3"}}},
	}
	if diff := cmp.Diff(want, briefs(got)); diff != "" || got.Err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, got.Err)
	}
	if len(got.Problems) != 2 || !strings.Contains(got.Problems[0].String(), "opencode.db: session s4") || !strings.Contains(got.Problems[1].String(), "session s5") {
		t.Errorf("problems: %v", got.Problems)
	}
}

// A commit that is only in the log is seen, while the program has the database open, and no
// byte of any of its files changes.
func TestTrap41OpenCodeLog(t *testing.T) {
	t.Parallel()
	home := layFiles(t, openCodeHome())
	db := sqlstore.Open(filepath.Join(home, openCodeFile), "?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), openCodeSession("s1", 1, "agent", "build")+openCodeTurn("s1", "m1", 10, "one", "1")); err != nil {
		t.Fatal(err)
	}
	before := bytesBelow(t, home)
	if len(before[openCodeFile+"-wal"]) == 0 {
		t.Fatal("the commit is not in the log")
	}
	got := (transcripttest.Case{Source: transcript.OpenCode{}}).All(t, home, nil)
	if len(got.Transcripts) != 1 || len(got.Transcripts[0].Turns) != 1 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(before, bytesBelow(t, home)); diff != "" {
		t.Error("the files of the program have changed")
	}
}

func bytesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTrap69OpenCodeFailure(t *testing.T) {
	t.Parallel()
	got := readHome(t, transcript.OpenCode{}, openCodeHome(
		openCodeSession("s1", 1, "agent", "build"),
		openCodeMessage("m1", "s1", 10, "user", ""), openCodePart("p1", "m1", `{"type":"text","text":"one"}`),
		openCodeMessage("m2", "s1", 11, "assistant", `,"error":{"name":"APIError","data":{"message":"401"}}`), openCodePart("p2", "m2", `{"type":"text","text":"Working."}`),
		openCodeMessage("m3", "s1", 20, "user", ""), openCodePart("p3", "m3", `{"type":"text","text":"two"}`),
		openCodeMessage("m4", "s1", 21, "assistant", `,"error":{"name":"MessageAbortedError","data":{}}`), openCodePart("p4", "m4", `{"type":"text","text":"so far"}`)))
	want := []brief{{ID: "s1", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{
		{ID: "m1", User: "one", Failed: "APIError"}, {ID: "m3", User: "two", Agent: "so far", Interrupted: true},
	}}}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The statements name the tables that hold sessions, and columns of them; the tokens of
// accounts are in others.
func TestTrap75OpenCodeStatements(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("opencode.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"session": true, "session_v2": true, "message": true, "part": true, "session_message": true, "pragma_table_info": true}
	found := 0
	for _, m := range regexp.MustCompile(`(?i)\b(?:from|join|into|update|table) ([a-z_0-9]+)`).FindAllStringSubmatch(statements(string(source)), -1) {
		if found++; !allowed[m[1]] {
			t.Errorf("a statement names %s", m[1])
		}
	}
	if found < 5 || strings.Contains(statements(string(source)), "*") {
		t.Errorf("%d tables in statements:\n%s", found, statements(string(source)))
	}
}

// statements are the raw strings of a source file that hold SQL.
func statements(source string) string {
	out := ""
	for _, m := range regexp.MustCompile("`[^`]*`").FindAllString(source, -1) {
		if strings.Contains(m, "SELECT") || strings.Contains(m, "FROM") {
			out += m + "\n"
		}
	}
	return out
}

func TestTrap76OpenCodeQuotes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"two words"`:               "two words",
		`"say \\\"hi there\\\" to"`: `say "hi there" to`,
		`oneword`:                   "oneword",
		`"one"`:                     `"one"`, // "opencode run" puts no quotes around one word: the user did
		`"a b" "c d"`:               `"a b" "c d"`,
		`a "b c"`:                   `a "b c"`,
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(in, `\\\"`, "\x01"), `"`, `\"`)
		text = strings.ReplaceAll(text, "\x01", `\\\"`)
		for column, value := range map[string]string{"permission": runDenies, "agent": "build"} {
			got := readHome(t, transcript.OpenCode{}, openCodeHome(openCodeSession("s1", 1, column, value), openCodeTurn("s1", "m1", 10, text, "1")))
			if len(got.Transcripts) != 1 || len(got.Transcripts[0].Turns) != 1 {
				t.Fatalf("%s: %+v", in, got)
			}
			tr, want := got.Transcripts[0], want
			if column == "agent" { // a person's quotes stay
				want = strings.ReplaceAll(in, `\\\"`, `\"`)
			}
			if tr.Turns[0].User != want || (tr.Origin == transcript.Headless) != (column == "permission") {
				t.Errorf("%s by %s: %q, %s", in, column, tr.Turns[0].User, tr.Origin)
			}
		}
	}
}

func TestTrap77OpenCodeSkill(t *testing.T) {
	t.Parallel()
	tool := func(id, name, status, input string) string {
		return openCodePart(id, "m1a", `{"type":"tool","tool":"`+name+`","callID":"`+id+`","state":{"status":"`+status+`","input":`+input+`,"error":"x"}}`)
	}
	for name, tc := range map[string]struct {
		tools, skill string
		by           transcript.Evidence
	}{
		"by tool, not by reading": {tool("a", "read", "completed", `{"filePath":"/s/b/SKILL.md"}`) + tool("b", "skill", "completed", `{"name":"a"}`), "a", transcript.ByTool},
		"by reading":              {tool("a", "bash", "completed", `{"command":"cat /s/b/SKILL.md"}`), "b", transcript.ByRead},
		"two":                     {tool("a", "skill", "completed", `{"name":"a"}`) + tool("b", "skill", "completed", `{"name":"b"}`), "", ""},
		"one that is not there":   {tool("a", "skill", "error", `{"name":"a"}`), "", ""},
	} {
		got := readHome(t, transcript.OpenCode{}, openCodeHome(openCodeSession("s1", 1, "agent", "x"), openCodeTurn("s1", "m1", 10, "one", "1"), tc.tools))
		if len(got.Transcripts) != 1 || got.Transcripts[0].Turns[0].Skill != tc.skill || got.Transcripts[0].Turns[0].SkillBy != tc.by {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOpenCodeToolsAndReverts(t *testing.T) {
	t.Parallel()
	got := readHome(t, transcript.OpenCode{}, openCodeHome(
		openCodeSession("s1", 1, "revert", `{"messageID":"m3"}`), openCodeTurn("s1", "m1", 10, "one", "1"), openCodeTurn("s1", "m3", 30, "taken back", "3"),
		openCodePart("t1", "m1a", `{"type":"tool","tool":"write","callID":"c","state":{"status":"completed","input":{"filePath":"/p/x"}}}`),
		openCodePart("t2", "m1a", `{"type":"tool","tool":"edit","callID":"d","state":{"status":"error","input":{"filePath":"/p/y"},"error":"Error: The user rejected permission to use this specific tool call."}}`),
		openCodePart("t3", "m1a", `{"type":"tool","tool":"apply_patch","callID":"e","state":{"status":"completed","metadata":{"files":[{"filePath":"/p/z"}]}}}`),
		openCodePart("t4", "m1a", `{"type":"tool","tool":"bash","callID":"f","state":{"status":"running","input":{}}}`),
		openCodeSession("s2", 2, "revert", `{"messageID":"n1a","partID":"q"}`), openCodeTurn("s2", "n1", 50, "two", "2"), openCodePart("q", "n1a", `{"type":"text","text":"taken back"}`), openCodeTurn("s2", "n3", 60, "gone", "4")))
	if len(got.Transcripts) != 2 || len(got.Transcripts[0].Turns) != 1 || len(got.Transcripts[1].Turns) != 1 {
		t.Fatalf("%+v", got)
	}
	turn := got.Transcripts[0].Turns[0]
	tools := []transcript.Tool{{Name: "write", OK: yes()}, {Name: "edit", OK: no()}, {Name: "apply_patch", OK: yes()}, {Name: "bash"}}
	if diff := cmp.Diff(tools, turn.Tools) + cmp.Diff([]string{"x", "z"}, turn.Files); diff != "" || !turn.Interrupted || turn.Agent != "1" {
		t.Errorf("%s%+v", diff, turn)
	}
	if two := got.Transcripts[1].Turns[0]; two.User != "two" || two.Agent != "2" {
		t.Errorf("reverted within a message: %+v", two)
	}
}

// The tables of a newer version, also where it has moved a session into them.
func TestOpenCodeNextTables(t *testing.T) {
	t.Parallel()
	next := func(id, session, kind string, seq int, data string) string {
		return fmt.Sprintf(`INSERT INTO session_message VALUES ('%s', '%s', '%s', %d, 1, 1, '%s');`, id, session, kind, seq, data)
	}
	got := readHome(t, transcript.OpenCode{}, openCodeHome(
		`CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, version text, revert text, permission text, time_created integer);`,
		`CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, time_updated integer, data text);`,
		openCodeSession("s1", 1, "agent", "x"), openCodeTurn("s1", "m1", 10, "moved", "old"),
		openCodeSession("s3", 3, "agent", "x"), openCodeTurn("s3", "m3", 30, "not moved", "3"),
		openCodeSession("s4", 4, "agent", "x"), // of a version between the two
		next("k1", "s4", "user", 1, `{"text":"between","time":{"created":1795598000040}}`),
		`INSERT INTO session_v2 VALUES ('s1', NULL, '/p', 't', '2', '{"messageID":"n9"}', NULL, 1795598000001);`,
		next("n2", "s1", "assistant", 2, `{"content":[{"type":"text","text":"new"},{"type":"tool","id":"c","name":"skill","state":{"status":"completed","input":{"name":"a"}}}],"time":{"created":1795598000012}}`),
		next("n1", "s1", "user", 1, `{"text":"moved","time":{"created":1795598000011}}`),
		next("n3", "s1", "synthetic", 3, `{"text":"of the program"}`), next("n4", "s1", "newer", 4, `{}`),
		next("n5", "s1", "user", 5, `{"text":"two","time":{"created":1795598000013}}`), next("n6", "s1", "assistant", 6, `{"content":[],"error":{"type":"provider","message":"401"}}`),
		next("n9", "s1", "user", 9, `{"text":"taken back","time":{"created":1795598000019}}`)))
	want := []brief{
		{ID: "s1", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{{ID: "n1", User: "moved", Agent: "new", Tools: 1}, {ID: "n5", User: "two", Failed: "provider"}}},
		{ID: "s3", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{{ID: "m3", User: "not moved", Agent: "3"}}},
		{ID: "s4", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{{ID: "k1", User: "between"}}},
	}
	if diff := cmp.Diff(want, briefs(got)); diff != "" || got.Err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, got.Err)
	}
}

func TestOpenCodeBadStores(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a column that is gone": {
			map[string]string{openCodeFile + ".sql": `CREATE TABLE session (id text, parent_id text, directory text, version text, time_created integer); CREATE TABLE message (id text, session_id text, time_created integer, body text);`},
			[]string{"opencode.db", "the column data of the table message is missing", "1.2 to 1.18"},
		},
		"another database": {map[string]string{openCodeFile + ".sql": `CREATE TABLE x (y text);`}, []string{"opencode.db", "the table message is missing"}},
		"no database":      {map[string]string{openCodeFile: strings.Repeat("no database ", 100)}, []string{"opencode.db"}},
	} {
		got := readHome(t, transcript.OpenCode{}, tc.files)
		for _, part := range tc.want {
			if got.Err == nil || !strings.Contains(got.Err.Error(), part) {
				t.Errorf("%s: %v does not say %q", name, got.Err, part)
			}
		}
	}
}

func TestOpenCodeStores(t *testing.T) {
	t.Parallel()
	home := layFiles(t, map[string]string{
		".local/share/opencode/opencode.db": "x", ".local/share/opencode/opencode-beta.db": "x", ".local/share/opencode/opencode.db-wal": "x", ".local/share/opencode/auth.json": "x",
		"xdg/opencode/opencode.db": "x", "files/x.db": "x", "old/opencode/storage/session/p/s.json": "{}",
	})
	for name, tc := range map[string]struct {
		env, given map[string]string
		want       []string
		err        string
	}{
		"usual":            {want: []string{".local/share/opencode/opencode-beta.db", ".local/share/opencode/opencode.db"}},
		"xdg":              {env: map[string]string{"XDG_DATA_HOME": home + "/xdg"}, want: []string{"xdg/opencode/opencode.db"}},
		"variable":         {env: map[string]string{"OPENCODE_DB": home + "/files/x.db"}, want: []string{"files/x.db"}},
		"relative":         {env: map[string]string{"OPENCODE_DB": "opencode-beta.db"}, want: []string{".local/share/opencode/opencode-beta.db"}},
		"gone":             {env: map[string]string{"OPENCODE_DB": home + "/files/y.db"}},
		"given":            {given: map[string]string{"opencode": home + "/files/x.db"}, want: []string{"files/x.db"}},
		"folder":           {given: map[string]string{"opencode": home + "/xdg/opencode"}, want: []string{"xdg/opencode/opencode.db"}},
		"before databases": {env: map[string]string{"XDG_DATA_HOME": home + "/old"}, err: "before 1.2"},
	} {
		stores, err := transcript.OpenCode{}.Stores(t.Context(), transcript.Places{Home: home, OS: "linux", Env: func(v string) string { return tc.env[v] }, Given: tc.given})
		var got []string
		for _, s := range stores {
			rel, _ := filepath.Rel(home, s.Path())
			got = append(got, rel)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %s%v", name, diff, err)
		}
	}
}

func FuzzOpenCode(f *testing.F) {
	f.Add(`{"role":"user","time":{"created":1795598000010}}`, `{"type":"text","text":"one"}`, runDenies, `{"messageID":"x"}`)
	f.Add(`{"role":"assistant","error":{"name":"APIError"}}`, `{"type":"tool","tool":"write","state":{"status":"completed","input":{"filePath":"/p/x"}}}`, "", "[]")
	f.Fuzz(func(t *testing.T, message, part, permission, revert string) {
		sqlText := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", "''") }
		got := readHome(t, transcript.OpenCode{}, openCodeHome(
			openCodeSession("s1", 1, "permission", sqlText(permission)), openCodeSession("s2", 2, "revert", sqlText(revert)),
			openCodeTurn("s1", "m1", 10, "first", "1"),
			fmt.Sprintf("INSERT INTO message VALUES ('x', 's1', 20, 1, '%s');", sqlText(message)), openCodePart("px", "x", sqlText(part)),
			fmt.Sprintf("INSERT INTO message VALUES ('y', 's2', 20, 1, '%s');", sqlText(message)), openCodePart("py", "y", sqlText(part))))
		if got.Err != nil {
			t.Error(got.Err)
		}
	})
}
