package transcript_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func TestCodex(t *testing.T) {
	t.Parallel()
	const commit = "b23f69d85dd2b2c14584141534bd981060186503"
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Codex{}, Home: "testdata/codex", Scenario: codexScenario, Filled: "testdata/codex-filled",
		Want: []transcript.Transcript{{
			Source: "codex", ID: "01a2024d-26b4-7322-b867-7a0e4707227e", Project: "/PROJECT/shop", Origin: transcript.Headless,
			Version: "0.169.0", Branch: "master", Commit: commit,
			Started: at("2026-11-22T08:09:02.065Z"), Ended: at("2026-11-22T08:09:19.161Z"),
			Turns: []transcript.Turn{{
				ID: "msg_01a2024d-2d71-7533-bbbf-e9c03f1e9e7e", Started: at("2026-11-22T08:09:02.065Z"), Ended: at("2026-11-22T08:09:07.258Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "exec_command", OK: yes()}, {Name: "exec_command", OK: yes()}},
				Files: []string{}, Skill: "house-rules", SkillBy: transcript.ByRead, Redacted: 1,
				Read: []string{houseRules}, Lines: readHouseRules("House rules of this project for dates and totals. Use for every task."),
				Commands: []transcript.Command{ran("cat "+houseRules, 0), ran(`printf 'written by tool\n' > out.txt`, 0)},
			}, {
				ID: "msg_01a2024d-6ce7-7dc3-a133-4c2241d8ab4a", Started: at("2026-11-22T08:09:18.311Z"), Ended: at("2026-11-22T08:09:19.161Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "codex", ID: "01a2024d-9786-7ba0-ae1a-1d54fb738511", Project: "/PROJECT/shop", Origin: transcript.Headless,
			Version: "0.169.0", Branch: "master", Commit: commit,
			Started: at("2026-11-22T08:09:30.918Z"), Ended: at("2026-11-22T08:09:32.291Z"),
			Turns: []transcript.Turn{{
				ID: "msg_01a2024d-9e26-75e2-b21f-5dbbee2ed26d", Started: at("2026-11-22T08:09:30.918Z"), Ended: at("2026-11-22T08:09:32.291Z"),
				User: "This one fails.", Tools: []transcript.Tool{}, Files: []string{}, Failed: "http_connection_failed 401",
			}},
		}},
	})
}

// lay writes files of lines below a home folder of their own.
func lay(t *testing.T, files map[string][]string) (home string) {
	t.Helper()
	home = t.TempDir()
	for name, lines := range files {
		to := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// readLines reads one file of lines by a source.
func readLines(t *testing.T, source transcript.Source, name string, lines ...string) transcripttest.Result {
	t.Helper()
	return transcripttest.Case{Source: source}.All(t, lay(t, map[string][]string{name: lines}), nil)
}

const (
	rollout     = ".codex/sessions/2026/11/22/rollout-2026-11-22T08-00-00-019f9e0d-cc26-7ef0-a121-bc6eeff24bad.jsonl"
	interactive = `{"timestamp":"2026-11-22T08:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.140.0","source":"cli","git":{"commit_hash":"abc","branch":"main"}}}`
)

func codexEvent(payload string) string {
	return `{"timestamp":"2026-11-22T08:00:01Z","type":"event_msg","payload":` + payload + `}`
}

func codexItem(payload string) string {
	return `{"timestamp":"2026-11-22T08:00:01Z","type":"response_item","payload":` + payload + `}`
}

func kindly(id, text, kind string) string {
	return codexItem(`{"type":"message","id":"` + id + `","role":"user","content":[{"type":"input_text","text":"` + text + `"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["` + kind + `"]}}`)
}

func userSaid(text string) string {
	return codexEvent(`{"type":"user_message","message":"` + text + `"}`)
}

func userItem(id, text string) string {
	return codexEvent(`{"type":"item_completed","item":{"type":"UserMessage","id":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}}`)
}

// only is the one transcript of a result.
func only(t *testing.T, got transcripttest.Result) transcript.Transcript {
	t.Helper()
	if got.Err != nil || len(got.Problems) > 0 || len(got.Transcripts) != 1 {
		t.Fatalf("%d transcripts, %v, %v", len(got.Transcripts), got.Problems, got.Err)
	}
	return got.Transcripts[0]
}

func wordsOf(tr transcript.Transcript) []string {
	out := []string{}
	for _, turn := range tr.Turns {
		out = append(out, turn.User)
	}
	return out
}

func TestTrap69CodexFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, event, want string }{
		{"task_complete", `{"type":"task_complete","error":{"message":"m","codex_error_info":{"http_connection_failed":{"http_status_code":401}}}}`, "http_connection_failed 401"},
		{"a word", `{"type":"task_complete","error":{"message":"m","codex_error_info":"usage_limit_exceeded"}}`, "usage_limit_exceeded"},
		{"no info", `{"type":"turn_complete","error":{"message":"stream disconnected"}}`, "stream disconnected"},
		{"a text", `{"type":"task_complete","error":"boom"}`, "boom"},
		{"event", `{"type":"error","message":"m","codex_error_info":"unauthorized"}`, "unauthorized"},
		{"budget", `{"type":"turn_aborted","reason":"budget_limited"}`, "budget_limited"},
		{"none", `{"type":"task_complete","error":null}`, ""},
	} {
		tr := only(t, readLines(t, transcript.Codex{}, rollout, interactive, userSaid("Do it."), codexEvent(`{"type":"agent_message","message":"On it."}`), codexEvent(c.event)))
		turn := tr.Turns[0]
		if turn.Failed != c.want || (turn.Agent == "") != (c.want != "") {
			t.Errorf("%s: failed %q, agent %q, want %q", c.name, turn.Failed, turn.Agent, c.want)
		}
	}
}

func TestTrap70CodexWrittenTwice(t *testing.T) {
	t.Parallel()
	started := func(id string) string { return codexEvent(`{"type":"task_started","turn_id":"` + id + `"}`) }
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"item and event", []string{kindly("m1", "A", "user.text"), userItem("i1", "A")}, []string{"A"}},
		{"event and item", []string{userItem("i1", "A"), kindly("m1", "A", "user.text")}, []string{"A"}},
		{"old and new names", []string{kindly("m1", "A", "user.text"), userItem("i1", "A"), userSaid("A")}, []string{"A"}},
		{"old name alone", []string{userSaid("A")}, []string{"A"}},
		{"old version: the item says no kinds", []string{codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}`), userSaid("A")}, []string{"A"}},
		{"old version: AGENTS.md and environment", []string{codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p\nx"}]}`), codexEvent(`{"type":"user_message","kind":"environment_context","message":"<environment_context>"}`), userSaid("A")}, []string{"A"}},
		{"old version: an item that no event tells of", []string{codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"B"}]}`), userSaid("A")}, []string{"A"}},
		{"equal, apart", []string{started("t1"), kindly("m1", "A", "user.text"), userItem("i1", "A"), started("t2"), kindly("m2", "A", "user.text"), userItem("i2", "A")}, []string{"A", "A"}},
		{"equal, in one turn of the agent", []string{started("t1"), kindly("m1", "A", "user.text"), userItem("i1", "A"), kindly("m2", "A", "user.text"), userItem("i2", "A")}, []string{"A", "A"}},
		{"equal, apart, old version", []string{userSaid("A"), codexEvent(`{"type":"agent_message","message":"x"}`), userSaid("A")}, []string{"A", "A"}},
		{"one place each, apart", []string{started("t1"), userItem("i1", "A"), started("t2"), userSaid("A")}, []string{"A", "A"}},
		{"what the program put in", []string{kindly("m1", "B", "hooks.additional_context"), kindly("m2", "A", "user.text"), kindly("m3", "C", "agents_md.instructions")}, []string{"A"}},
		{"a helper's inheritance", []string{strings.Replace(kindly("m1", "B", "user.text"), `"payload"`, `"metadata":{"inherited_user_message":true},"payload"`, 1), kindly("m2", "A", "user.text")}, []string{"A"}},
		{"what an editor put in", []string{userSaid(`# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nA`)}, []string{"A"}},
		{"an image's tag", []string{codexItem(`{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"x"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"A"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text","user.image","user.text","user.text"]}}`), userItem("i1", "A")}, []string{"A"}},
		{"a compaction repeats", []string{userSaid("A"), `{"timestamp":"2026-11-22T08:00:01Z","type":"compacted","payload":{"message":"B","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}]}}`}, []string{"A"}},
		{"taken back", []string{userSaid("A"), userSaid("B"), userSaid("C"), codexEvent(`{"type":"thread_rolled_back","num_turns":2}`), userSaid("D")}, []string{"A", "D"}},
		{"all taken back", []string{userSaid("A"), codexEvent(`{"type":"thread_rolled_back","num_turns":9}`), codexEvent(`{"type":"agent_message","message":"x"}`), userSaid("D")}, []string{"D"}},
	} {
		tr := only(t, readLines(t, transcript.Codex{}, rollout, append([]string{interactive}, c.lines...)...))
		if diff := cmp.Diff(c.want, wordsOf(tr)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTrap71CodexLiveAndArchived(t *testing.T) {
	t.Parallel()
	const archived = ".codex/archived_sessions/rollout-2026-11-21T08-00-00-119f9e0d-cc26-7ef0-a121-bc6eeff24bad.jsonl"
	both := strings.Replace(rollout, "sessions/2026/11/22", "archived_sessions", 1)
	home := lay(t, map[string][]string{
		rollout:                                  {interactive, userSaid("A"), userSaid("B")},
		both:                                     {interactive, userSaid("A")},
		archived:                                 {strings.Replace(interactive, `"s1"`, `"s0"`, 1), userSaid("C")},
		".codex/sessions/2026/11/22/other.jsonl": {interactive, userSaid("X")},
	})
	got := transcripttest.Case{Source: transcript.Codex{}}.All(t, home, nil)
	words := [][]string{}
	for _, tr := range got.Transcripts {
		words = append(words, wordsOf(tr))
	}
	if diff := cmp.Diff([][]string{{"A", "B"}, {"C"}}, words); diff != "" || got.Err != nil {
		t.Errorf("%v (-want +got):\n%s", got.Err, diff)
	}
	moved := transcripttest.Case{Source: transcript.Codex{}, Env: map[string]string{"CODEX_HOME": ".codex"}}
	if more := moved.All(t, home, nil); len(more.Transcripts) != 2 {
		t.Errorf("CODEX_HOME: %d sessions", len(more.Transcripts))
	}
}

// pack packs a file, as Codex does with old ones.
func pack(t *testing.T, name string, text []byte) {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, z.EncodeAll(text, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTrap71CodexPacked(t *testing.T) {
	t.Parallel()
	home := lay(t, map[string][]string{rollout: {interactive, userSaid("A"), userSaid("B")}})
	file := filepath.Join(home, filepath.FromSlash(rollout))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := transcripttest.Case{Source: transcript.Codex{}}
	plain := only(t, c.All(t, home, nil))
	pack(t, file+".zst", []byte(interactive+"\n"))
	if diff := cmp.Diff(plain, only(t, c.All(t, home, nil))); diff != "" {
		t.Errorf("with a packed file beside it:\n%s", diff)
	}
	pack(t, file+".zst", text)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, only(t, c.All(t, home, nil))); diff != "" {
		t.Errorf("packed:\n%s", diff)
	}
	if err := os.Truncate(file+".zst", 60); err != nil {
		t.Fatal(err)
	}
	if got := c.All(t, home, nil); got.Err == nil || !strings.Contains(got.Err.Error(), ".jsonl.zst") {
		t.Errorf("damaged: %+v", got)
	}
}

// A fork copies what was said so far: the same turns, with the same ids, under its own name.
func TestTrap71CodexForks(t *testing.T) {
	t.Parallel()
	fork := `{"timestamp":"2026-11-23T08:00:00Z","type":"session_meta","payload":{"id":"s2","forked_from_id":"s1","cwd":"/p","source":"cli"}}`
	for name, lines := range map[string][]string{
		"ids of messages": {kindly("m1", "A", "user.text"), kindly("m2", "A", "user.text")},
		"ids of items":    {userItem("i1", "A"), userItem("i2", "A")},
		"ids of turns":    {codexEvent(`{"type":"task_started","turn_id":"01a2024d-292e-74a0-94d0-cdfa59e8d9d4"}`), userSaid("A"), userSaid("A")},
		"places":          {userSaid("A"), userSaid("A")},
	} {
		parent := only(t, readLines(t, transcript.Codex{}, rollout, append([]string{interactive}, lines...)...))
		later := []string{}
		for _, l := range append([]string{fork, interactive}, lines...) {
			later = append(later, strings.Replace(l, "2026-11-22T08:00:01Z", "2026-11-23T08:00:01Z", 1))
		}
		child := only(t, readLines(t, transcript.Codex{}, rollout, append(later, userSaid("B"))...))
		if child.ID != "s2" || parent.ID != "s1" || len(parent.Turns) != 2 || len(child.Turns) != 3 || parent.Turns[0].ID == parent.Turns[1].ID {
			t.Fatalf("%s: %+v %+v", name, parent, child)
		}
		for i := range parent.Turns {
			if parent.Turns[i].ID != child.Turns[i].ID {
				t.Errorf("%s: turn %d has the id %s, in the fork %s", name, i, parent.Turns[i].ID, child.Turns[i].ID)
			}
		}
	}
}

// What is said after a fork is said twice, even where it is the same.
func TestTrap71CodexAfterAFork(t *testing.T) {
	t.Parallel()
	turn := func(id string) []string {
		return []string{codexEvent(`{"type":"task_started","turn_id":"01a2024d-292e-74a0-94d0-` + id + `"}`), userSaid("A")}
	}
	fork := `{"timestamp":"2026-11-23T08:00:00Z","type":"session_meta","payload":{"id":"s2","forked_from_id":"s1","cwd":"/p","source":"cli"}}`
	parent := only(t, readLines(t, transcript.Codex{}, rollout, slices.Concat([]string{interactive}, turn("cdfa59e8d9d4"), turn("cdfa59e8d9d5"))...))
	child := only(t, readLines(t, transcript.Codex{}, rollout, slices.Concat([]string{fork, interactive}, turn("cdfa59e8d9d4"), turn("cdfa59e8d9d6"))...))
	if parent.Turns[0].ID != child.Turns[0].ID || parent.Turns[1].ID == child.Turns[1].ID {
		t.Errorf("%+v %+v", parent.Turns, child.Turns)
	}
}

func TestTrap72CodexOrigin(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]transcript.Origin{
		`"originator":"codex_cli_rs","source":"cli"`:                                                  transcript.Interactive,
		`"originator":"codex_vscode","source":"vscode","thread_source":"user"`:                        transcript.Interactive,
		`"originator":"Codex Desktop","source":{"custom":"x"}`:                                        transcript.Interactive,
		`"originator":"codex_exec","source":"exec","thread_source":"user"`:                            transcript.Headless,
		`"originator":"a_script","source":"exec"`:                                                     transcript.Headless,
		`"originator":"codex_sdk_ts"`:                                                                 transcript.Headless,
		`"originator":"codex_exec"`:                                                                   transcript.Headless,
		`"originator":"x","source":"mcp"`:                                                             transcript.Headless,
		`"originator":"codex_cli_rs","source":{"subagent":{"thread_spawn":{"parent_thread_id":"x"}}}`: transcript.Subagent,
		`"originator":"codex_exec","source":{"subagent":"review"}`:                                    transcript.Subagent,
		`"originator":"codex_cli_rs","source":"cli","thread_source":"memory_consolidation"`:           transcript.Subagent,
	} {
		meta := `{"timestamp":"2026-11-22T08:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/p",` + members + `}}`
		if tr := only(t, readLines(t, transcript.Codex{}, rollout, meta, kindly("m1", "A", "user.text"))); tr.Origin != want {
			t.Errorf("%s: %s, want %s", members, tr.Origin, want)
		} else if own := tr.Turns[0].ID == "m1"; own == (want == transcript.Subagent) {
			t.Errorf("%s: the id %s of a turn: only a helper's differ from those of the session whose words it repeats", members, tr.Turns[0].ID)
		}
	}
}

func TestTrap77CodexSkills(t *testing.T) {
	t.Parallel()
	body := kindly("m2", `<skill>\n<name>release</name>\n<path>/p/.agents/skills/release/SKILL.md</path>\nUse /x/other/SKILL.md\n</skill>`, "skills.selected_skill_instructions")
	reads := codexItem(`{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{\"cmd\":\"cat /p/.agents/skills/house-rules/SKILL.md\"}"}`)
	started := codexEvent(`{"type":"task_started","turn_id":"01a2024d-292e-74a0-94d0-cdfa59e8d9d4"}`)
	for _, c := range []struct {
		name  string
		lines []string
		skill string
		by    transcript.Evidence
	}{
		{"read", []string{userSaid("A"), reads}, "house-rules", transcript.ByRead},
		{"record before read", []string{userSaid("A"), body, reads}, "release", transcript.ByRecord},
		{"record before the words", []string{userSaid("Before."), started, body, kindly("m1", "A", "user.text"), reads}, "release", transcript.ByRecord},
		{"old version", []string{codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>\n<name>release</name>\nx</skill>"}]}`), userSaid("A")}, "", ""},
		{"old version, after the words", []string{userSaid("A"), codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>\n<name>release</name>\nx</skill>"}]}`)}, "release", transcript.ByRecord},
		{"user's input", []string{codexEvent(`{"type":"item_completed","item":{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"A"},{"type":"skill","name":"release","path":"x"}]}}`)}, "release", transcript.ByRecord},
		{"local shell", []string{userSaid("A"), codexItem(`{"type":"local_shell_call","call_id":"c1","action":{"command":["cat","/s/house-rules/SKILL.md"]}}`)}, "house-rules", transcript.ByRead},
		{"shell", []string{userSaid("A"), codexItem(`{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat /s/house-rules/SKILL.md\"]}"}`)}, "house-rules", transcript.ByRead},
		{"code", []string{userSaid("A"), codexItem(`{"type":"custom_tool_call","name":"exec","call_id":"c1","input":"await tools.exec_command({cmd:\"cat /s/house-rules/SKILL.md\"})"}`)}, "house-rules", transcript.ByRead},
		{"two", []string{userSaid("A"), reads, strings.Replace(reads, "house-rules", "release", 1)}, "", ""},
		{"all", []string{userSaid("A"), strings.Replace(reads, "house-rules", "*", 1)}, "", ""},
		{"quoted by the user", []string{userSaid("See x/SKILL.md")}, "", ""},
	} {
		tr := only(t, readLines(t, transcript.Codex{}, rollout, append([]string{interactive}, c.lines...)...))
		if turn := tr.Turns[len(tr.Turns)-1]; turn.Skill != c.skill || turn.SkillBy != c.by {
			t.Errorf("%s: %q by %q, want %q by %q", c.name, turn.Skill, turn.SkillBy, c.skill, c.by)
		}
	}
}

func TestCodexTools(t *testing.T) {
	t.Parallel()
	no := func() *bool { ok := false; return &ok }
	call := func(id, name string) string {
		return codexItem(`{"type":"function_call","name":"` + name + `","call_id":"` + id + `","arguments":"{}"}`)
	}
	output := func(id, text string) string {
		return codexItem(`{"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"}`)
	}
	patch := codexItem(`{"type":"custom_tool_call","name":"apply_patch","call_id":"c1","input":"*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: c.txt\n*** End Patch"}`)
	for _, c := range []struct {
		name  string
		lines []string
		tools []transcript.Tool
		files []string
	}{
		{"unified", []string{call("c1", "exec_command"), output("c1", `Chunk ID: 1\nWall time: 1\nProcess exited with code 2\nOutput:\nx`)}, []transcript.Tool{{Name: "exec_command", OK: no()}}, nil},
		{"a program's own words are no frame", []string{call("c1", "exec_command"), output("c1", `Chunk ID: 1\nWall time: 1\nProcess running with session ID 5\nOutput:\nProcess exited with code 0`)}, []transcript.Tool{{Name: "exec_command"}}, nil},
		{"free form", []string{call("c1", "shell"), output("c1", `Exit code: 0\nWall time: 1\nOutput:\nx`)}, []transcript.Tool{{Name: "shell", OK: yes()}}, nil},
		{"old", []string{call("c1", "shell"), output("c1", `{\"output\":\"x\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.1}}`)}, []transcript.Tool{{Name: "shell", OK: no()}}, nil},
		{"unknown", []string{call("c1", "update_plan"), output("c1", `Plan updated`)}, []transcript.Tool{{Name: "update_plan"}}, nil},
		{"event", []string{call("c1", "shell"), codexEvent(`{"type":"exec_command_end","call_id":"c1","exit_code":1}`), output("c1", `Exit code: 0\n`)}, []transcript.Tool{{Name: "shell", OK: no()}}, nil},
		{"mcp", []string{codexItem(`{"type":"function_call","namespace":"mcp__docs__","name":"find","call_id":"c1"}`), codexEvent(`{"type":"mcp_tool_call_end","call_id":"c1","result":{"Err":"x"}}`)}, []transcript.Tool{{Name: "mcp__docs__find", OK: no()}}, nil},
		{"one id twice", []string{call("c1", "a"), output("c1", `Exit code: 0\n`), call("c1", "b"), output("c1", `Exit code: 1\n`)}, []transcript.Tool{{Name: "a", OK: yes()}, {Name: "b", OK: no()}}, nil},
		{"by hand", []string{codexEvent(`{"type":"item_completed","item":{"type":"CommandExecution","id":"h1","source":"user_shell","exit_code":1}}`)}, []transcript.Tool{}, nil},
		{"patch", []string{patch, codexItem(`{"type":"custom_tool_call_output","call_id":"c1","output":"Exit code: 0\nWall time: 0\nOutput:\nSuccess."}`)}, []transcript.Tool{{Name: "apply_patch", OK: yes()}}, []string{"a.txt", "b.txt", "c.txt"}},
		{"patch that failed", []string{patch, codexItem(`{"type":"custom_tool_call_output","call_id":"c1","output":"apply_patch verification failed: x"}`)}, []transcript.Tool{{Name: "apply_patch", OK: no()}}, nil},
		{"patch by event", []string{patch, codexEvent(`{"type":"patch_apply_end","call_id":"c1","success":true,"changes":{"/p/d/a.txt":{"type":"add"},"/q":{"type":"update","move_path":"/p/e"}}}`), output("c1", `Exit code: 0\n`)}, []transcript.Tool{{Name: "apply_patch", OK: yes()}}, []string{"d/a.txt", "/q", "e"}},
		{"patch by item", []string{patch, codexEvent(`{"type":"item_completed","item":{"type":"FileChange","id":"c1","status":"completed","changes":{"/p/a.txt":{"add":{"content":"x"}}}}}`)}, []transcript.Tool{{Name: "apply_patch", OK: yes()}}, []string{"a.txt"}},
		{"search", []string{codexItem(`{"type":"web_search_call","status":"completed","action":{"query":"q"}}`)}, []transcript.Tool{{Name: "web_search"}}, nil},
	} {
		turn := only(t, readLines(t, transcript.Codex{}, rollout, append([]string{interactive, userSaid("A")}, c.lines...)...)).Turns[0]
		if diff := cmp.Diff(c.tools, turn.Tools); diff != "" {
			t.Errorf("%s: tools (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(append([]string{}, c.files...), turn.Files); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCodexInterrupted(t *testing.T) {
	t.Parallel()
	context := func(policy string) string {
		return `{"timestamp":"2026-11-22T08:00:01Z","type":"turn_context","payload":{"approval_policy":"` + policy + `"}}`
	}
	refused := []string{codexItem(`{"type":"function_call","name":"shell","call_id":"c1"}`), codexEvent(`{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"declined"}}`)}
	for name, c := range map[string]struct {
		lines []string
		want  bool
	}{
		"stopped":               {[]string{codexEvent(`{"type":"turn_aborted","reason":"interrupted"}`)}, true},
		"review":                {[]string{codexEvent(`{"type":"turn_aborted","reason":"review_ended"}`)}, false},
		"refused":               {append([]string{context("on-request")}, refused...), true},
		"refused by the policy": {append([]string{context("never")}, refused...), false},
	} {
		turn := only(t, readLines(t, transcript.Codex{}, rollout, append([]string{interactive, userSaid("A")}, c.lines...)...)).Turns[0]
		if turn.Interrupted != c.want {
			t.Errorf("%s: interrupted %v", name, turn.Interrupted)
		}
	}
}

// Before 0.30 a file was the bare items of a conversation.
func TestCodexBareItems(t *testing.T) {
	t.Parallel()
	tr := only(t, readLines(t, transcript.Codex{}, rollout,
		`{"id":"s1","timestamp":"2025-08-01T08:00:00Z","instructions":"x","git":{"commit_hash":"abc","branch":"main"}}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/p</cwd>\n</environment_context>"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}`,
		`{"type":"function_call","name":"shell","call_id":"c1","arguments":"{}"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`))
	if tr.ID != "s1" || tr.Project != "/p" || tr.Commit != "abc" || len(tr.Turns) != 1 || tr.Turns[0].User != "A" || tr.Turns[0].Agent != "Done." || len(tr.Turns[0].Tools) != 1 {
		t.Errorf("%+v", tr)
	}
}

// Before September 2025 items had no times, the folder was a line of text or of the calls alone, and
// at first a session was one document.
func TestCodexBeforeSeptember2025(t *testing.T) {
	t.Parallel()
	const (
		meta  = `{"id":"s1","timestamp":"2025-06-01T08:00:00.000Z","instructions":null}`
		env   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\nCurrent working directory: /srv/my shop\nApproval policy: on-request\n</environment_context>"}]}`
		asks  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}`
		patch = `{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'EOF'\\n*** Begin Patch\\n*** Update File: a.go\\n@@\\n-x\\n+y\\n*** End Patch\\nEOF\"],\"workdir\":\"/srv/my shop\"}"}`
		done  = `{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`
		says  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`
	)
	old := ".codex/sessions/rollout-2025-04-20-0a0a0a0a-0000-4000-8000-000000000000.json"
	began := at("2025-06-01T08:00:00Z")
	for name, c := range map[string]struct {
		files map[string]string
		named bool // of the project
	}{
		"a line of the environment": {map[string]string{rollout: strings.Join([]string{meta, `{"record_type":"state"}`, env, asks, patch, done, says, asks}, "\n") + "\n"}, true},
		"the folder of a call":      {map[string]string{rollout: strings.Join([]string{meta, asks, patch, done, says, asks}, "\n") + "\n"}, true},
		"one document":              {map[string]string{old: `{"session":` + meta + `,"items":[` + strings.Join([]string{asks, patch, done, says, asks}, ",") + `]}`}, true},
		"no folder at all":          {map[string]string{rollout: strings.Join([]string{meta, asks, says, asks}, "\n") + "\n"}, false},
	} {
		tr := only(t, readFiles(t, transcript.Codex{}, c.files))
		if diff := cmp.Diff([]string{"A", "A"}, wordsOf(tr)); diff != "" || tr.ID != "s1" || !tr.Ended.Equal(began) || !tr.Turns[0].Started.Equal(began) {
			t.Errorf("%s: %+v", name, tr)
		}
		if want := "/srv/my shop"; c.named != (tr.Project == want) || c.named != slices.Equal(tr.Turns[0].Files, []string{"a.go"}) {
			t.Errorf("%s: project %q, files %q", name, tr.Project, tr.Turns[0].Files)
		}
	}
}

func TestCodexNewer(t *testing.T) {
	t.Parallel()
	got := readLines(t, transcript.Codex{}, rollout,
		strings.Replace(interactive, `"source"`, `"history_mode":"elsewhere","source"`, 1),
		`{"timestamp":"2026-11-22T08:00:01Z","type":"not_known_yet","payload":{"type":"user_message","message":"X"}}`,
		codexEvent(`{"type":"not_known_yet","message":"X"}`), codexItem(`{"type":"not_known_yet","text":"X"}`), userSaid("A"))
	if len(got.Transcripts) != 1 || len(got.Problems) != 1 || got.Err != nil || !strings.Contains(got.Problems[0].What, "history_mode") {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"A"}, wordsOf(got.Transcripts[0])); diff != "" {
		t.Error(diff)
	}
}

func FuzzCodex(f *testing.F) { fuzzLines(f, transcript.Codex{}, "testdata/codex", rollout) }

// fuzzLines reads what it is given as a file of a source: it ends, and its times are in order.
func fuzzLines(f *testing.F, source transcript.Source, from, name string) {
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		f.Add(data)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		home := t.TempDir()
		to := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
		stores, err := source.Stores(t.Context(), transcripttest.Case{}.Places(home))
		if err != nil || len(stores) != 1 {
			t.Fatal(stores, err)
		}
		r := &transcript.Reading{Clean: redact.New(), Temp: home, Each: func(tr transcript.Transcript) error {
			for _, turn := range tr.Turns {
				if turn.User == "" || turn.ID == "" || turn.Ended.Before(turn.Started) || turn.Started.Location() != time.UTC {
					t.Errorf("%+v", turn)
				}
			}
			return nil
		}}
		_ = source.Read(t.Context(), stores[0], r) // whatever it says, it says it
	})
}

// A person at the terminal, captured from 0.169.0: a correction, Esc, a command of the program
// and one of the shell, what was typed while the agent worked, a skill by its name, and a turn
// that was taken back, after which the session goes on in a file of its own.
func TestCodexTyped(t *testing.T) {
	t.Parallel()
	turn := func(id, from, to, user, agent string, tools, redacted int, files ...string) transcript.Turn {
		out := transcript.Turn{ID: "msg_01a2123" + id, Started: at("2026-11-25T" + from + "Z"), Ended: at("2026-11-25T" + to + "Z"), User: user, Agent: agent, Tools: []transcript.Tool{}, Files: append([]string{}, files...), Redacted: redacted}
		for range tools {
			out.Tools = append(out.Tools, transcript.Tool{Name: "exec_command", OK: yes()})
		}
		return out
	}
	first := turn("d-4133-7cc1-857d-c631186cb08e", "10:25:34.003", "10:25:34.244", "Write the delivery date of order 1042 into out.txt. Keep to the house-rules. The key is PLANTED_TOKEN=[redacted]", "Done: the date is in out.txt.", 2, 1, "out2.txt")
	first.Skill, first.SkillBy = "house-rules", transcript.ByRead
	first.Read, first.Lines = []string{houseRules}, readHouseRules("How this shop writes dates and totals. Use for every task.")
	first.Commands = []transcript.Command{ran("cat "+houseRules, 0)}
	stock := turn("d-92de-7411-8bcb-b5459312d3cf", "10:25:54.91", "10:26:02.964", "Check the stock", "One step more.", 1, 0)
	stock.Commands = []transcript.Command{ran("sleep 8; echo stock", 0)}
	stopped := turn("d-71a0-7641-b7a8-ad3d220ca929", "10:25:46.4", "10:25:49.391", "Count all the orders", "", 0, 0)
	stopped.Interrupted = true
	named := turn("d-c761-7e31-912a-8b0b191ecfa4", "10:26:08.353", "10:26:13.084", "$house-rules Say how you are", "I am well.", 0, 0)
	named.Skill, named.SkillBy = "house-rules", transcript.ByRecord
	session := func(from, to string, turns ...transcript.Turn) transcript.Transcript {
		return transcript.Transcript{
			Source: "codex", ID: "01a2123d-065e-7331-b6fe-313686d205bb", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "0.169.0",
			Branch: "trunk", Commit: "0b5840982e34f957f67185f4f42b485ef46d8e25", Started: at("2026-11-25T" + from + "Z"), Ended: at("2026-11-25T" + to + "Z"), Turns: turns,
		}
	}
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Codex{}, Home: "testdata/codex-typed", TakenBack: []string{"Rewind me"},
		Want: []transcript.Transcript{
			session(
				"10:25:34.003", "10:26:13.084", first,
				turn("d-5b54-7992-a304-98a06536603e", "10:25:40.692", "10:25:40.789", "No, that is wrong: the date must be written as YYYY-MM-DD.", "Corrected.", 1, 0, "out2.txt"),
				stopped,
				stock,
				turn("d-b259-7943-ad33-6b701979ffc7", "10:26:02.969", "10:26:03.006", "Only the blue ones, please", "Checked.", 0, 0),
				named,
			),
			session("10:26:34.643", "10:26:34.68", turn("e-2e13-73d3-ae85-a197c3876b14", "10:26:34.643", "10:26:34.68", "Say how you are", "I am well.", 0, 0)),
		},
	})
}

// What a later file of a session takes back counts no more, in any of the earlier ones, and the
// earlier ones are read anew for it.
func TestCodexGoesOnInAnotherFile(t *testing.T) {
	t.Parallel()
	const thread = "019f9e0d-cc26-7ef0-a121-bc6eeff24bad"
	numbered := func(n string, line string) string { return `{"ordinal":` + n + `,` + line[1:] }
	goesOn := func(of, end string) string {
		return strings.Replace(interactive, `"payload":{`, `"payload":{"history_base":{"thread_id":"`+of+`","end_ordinal_exclusive":`+end+`},`, 1)
	}
	name := func(minute, id string) string {
		return ".codex/sessions/2026/11/22/rollout-2026-11-22T08-" + minute + "-00-" + thread + "_019f9e0d-cc26-7ef0-a121-00000000000" + id + ".jsonl"
	}
	all := map[string][]string{rollout: {numbered("0", interactive), numbered("1", userSaid("A")), numbered("2", userSaid("B")), numbered("3", userSaid("C"))}}
	c := transcripttest.Case{Source: transcript.Codex{}}
	words := func() (out [][]string) {
		got := c.All(t, lay(t, all), nil)
		if got.Err != nil || len(got.Problems) > 0 {
			t.Fatalf("%v %v", got.Err, got.Problems)
		}
		for _, tr := range got.Transcripts {
			out = append(out, wordsOf(tr))
		}
		return out
	}
	mark := func() transcript.Mark {
		stores, err := transcript.Codex{}.Stores(t.Context(), c.Places(lay(t, all)))
		if err != nil {
			t.Fatal(err)
		}
		m, err := transcript.Peek(t.Context(), stores[0])
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := mark()
	for _, step := range []struct {
		name  string
		lines []string
		want  [][]string
	}{
		{rollout, all[rollout], [][]string{{"A", "B", "C"}}},
		{name("10", "1"), []string{numbered("3", goesOn(thread, "3")), numbered("4", userSaid("D")), numbered("5", userSaid("E"))}, [][]string{{"A", "B"}, {"D", "E"}}},
		{name("20", "2"), []string{numbered("5", goesOn(thread, "5")), numbered("6", userSaid("F"))}, [][]string{{"A", "B"}, {"D"}, {"F"}}},
		{name("30", "3"), []string{numbered("2", goesOn(thread, "2")), numbered("3", userSaid("G"))}, [][]string{{"A"}, {"G"}}},
		{name("40", "4"), []string{numbered("0", goesOn("of another session", "0")), numbered("4", userSaid("H"))}, [][]string{{"A"}, {"G"}, {"H"}}},
	} {
		all[step.name] = step.lines
		if diff := cmp.Diff(step.want, slices.DeleteFunc(words(), func(w []string) bool { return len(w) == 0 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if after := mark(); after == before || after.Size <= before.Size {
		t.Errorf("the first file would not be read anew: %+v, before %+v", after, before)
	}
}
