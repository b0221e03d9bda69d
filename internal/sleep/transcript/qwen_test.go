package transcript_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func TestQwen(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Qwen{}, Home: "testdata/qwen", Scenario: qwenScenario, Filled: "testdata/qwen-filled",
		Want: []transcript.Transcript{{
			Source: "qwen", ID: "4b7b3b0c-cca4-4b34-ac5d-ce8da9d27789", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "0.15.10", Branch: "master",
			Started: at("2026-11-22T08:12:40.657Z"), Ended: at("2026-11-22T08:13:35.665Z"),
			Turns: []transcript.Turn{{
				ID: "ab841a5d-107a-4da7-9570-f6ee13e5368d", Started: at("2026-11-22T08:12:40.657Z"), Ended: at("2026-11-22T08:12:50.652Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write_file", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool, Redacted: 1,
			}, {
				ID: "065cead1-d8f2-44ad-9b70-77ae2ec72e53", Started: at("2026-11-22T08:13:34.177Z"), Ended: at("2026-11-22T08:13:35.665Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "qwen", ID: "503b6f2d-b6ad-4f89-8b49-fe6ac9ecabf2", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "0.15.10", Branch: "master",
			Started: at("2026-11-22T08:14:29.095Z"), Ended: at("2026-11-22T08:14:30.442Z"),
			Turns: []transcript.Turn{{
				ID: "f43e5060-c060-4a9a-8f89-acd884bc0ab9", Started: at("2026-11-22T08:14:29.095Z"), Ended: at("2026-11-22T08:14:30.442Z"),
				User:  "This one fails.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "AuthenticationError",
			}},
		}},
	})
}

// People at the terminal and a script, captured from 0.15.10 and 0.24.4.
func TestQwenTyped(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Qwen{}, Home: "testdata/qwen-typed",
		Want: []transcript.Transcript{{
			Source: "qwen", ID: "9aab64e0-ae1c-4a0b-a92a-1cd131a9f2d4", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "0.24.4", Branch: "master",
			Started: at("2026-11-25T09:31:16.122Z"), Ended: at("2026-11-25T09:31:28.078Z"),
			Turns: []transcript.Turn{{
				ID: "3d404e0d-d3ad-477f-a528-bfe3306f6396", Started: at("2026-11-25T09:31:16.122Z"), Ended: at("2026-11-25T09:31:28.078Z"),
				User:  "Hello again there",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write_file", OK: no()}}, Files: []string{},
				Skill: "house-rules", SkillBy: transcript.ByTool,
			}},
		}, {
			Source: "qwen", ID: "9d8bbfa7-5988-4c33-822f-c8b942f8bab5", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "0.24.4", Branch: "master",
			Started: at("2026-11-25T09:29:22.51Z"), Ended: at("2026-11-25T09:30:02.77Z"),
			Turns: []transcript.Turn{{
				ID: "753d6e99-6954-4482-b62c-6519e706c2a6", Started: at("2026-11-25T09:29:22.51Z"), Ended: at("2026-11-25T09:29:30.84Z"),
				User:  "Write the date @out.md",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write_file", OK: no()}}, Files: []string{},
				Skill: "house-rules", SkillBy: transcript.ByTool,
			}, {
				ID: "461c2a6d-5c9b-4bbe-90d0-e3dce98530c2", Started: at("2026-11-25T09:29:57.92Z"), Ended: at("2026-11-25T09:30:02.77Z"),
				User:  "No, wrong CORRECT",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}, {
			Source: "qwen", ID: "c996a3d8-1d8e-465f-bd78-6174072cfc0c", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "0.15.10", Branch: "master",
			Started: at("2026-11-25T09:27:20.149Z"), Ended: at("2026-11-25T09:28:12.01Z"),
			Turns: []transcript.Turn{{
				ID: "08e0bb9d-74fd-4a83-becd-d4d5cd08d681", Started: at("2026-11-25T09:27:20.149Z"), Ended: at("2026-11-25T09:27:23.47Z"),
				User:  "Write the date, see @note.md please",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write_file", OK: no()}}, Files: []string{},
				Skill: "house-rules", SkillBy: transcript.ByTool,
			}, {
				ID: "9579dbfe-7f33-4722-81a5-7cbc971f2e55", Started: at("2026-11-25T09:27:59.225Z"), Ended: at("2026-11-25T09:28:00.037Z"),
				User:  "\"No, wrong it\"",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}, {
				ID: "23ac1b10-ecaa-4370-a2db-3980369db666", Started: at("2026-11-25T09:28:11.098Z"), Ended: at("2026-11-25T09:28:12.01Z"),
				User:  "This one fails.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "AuthenticationError",
			}},
		}},
	})
}

const qwenFile = ".qwen/projects/-p/chats/s.jsonl"

// qwenSay is a session of records, each of which follows the one before, but for those that
// name a parent of their own.
func qwenSay(records ...string) map[string]string {
	out := ""
	for i, rec := range records {
		uuid, parent := "q"+string(rune('a'+i)), `"q`+string(rune('a'+i-1))+`"`
		if i == 0 {
			parent = "null"
		}
		head := `{"uuid":"` + uuid + `","sessionId":"s","timestamp":"2026-11-22T08:00:01.000Z","cwd":"/p",`
		if !strings.Contains(rec, `"parentUuid"`) {
			head += `"parentUuid":` + parent + `,`
		}
		out += head + rec + "}\n"
	}
	return map[string]string{qwenFile: out}
}

func qwenUser(text, more string) string {
	return `"type":"user","message":{"role":"user","parts":[{"text":"` + text + `"}]}` + more
}

func qwenAgent(text string) string {
	return `"type":"assistant","message":{"role":"model","parts":[{"text":"` + text + `"}]}`
}

func qwenEvent(members string) string {
	return `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{` + members + `}}`
}

const qwenError = `"event.name":"qwen-code.api_error","error_type":"AuthenticationError","prompt_id":"x"`

func TestTrap69QwenFailure(t *testing.T) {
	t.Parallel()
	call := `"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c","name":"x","args":{}}}]}`
	got := readHome(t, transcript.Qwen{}, qwenSay(
		qwenUser("one", ""), qwenEvent(qwenError),
		qwenUser("two", ""), qwenEvent(qwenError), call, // answered when it was asked again
		qwenUser("three", ""), qwenAgent("Working."), qwenEvent(qwenError),
		qwenUser("four", ""), qwenAgent("4"), qwenEvent(qwenError+`,"subagent_name":"memory"`)))
	want := []brief{{ID: "s", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{
		{ID: "qa", User: "one", Failed: "AuthenticationError"},
		{ID: "qc", User: "two", Tools: 1},
		{ID: "qf", User: "three", Failed: "AuthenticationError"},
		{ID: "qi", User: "four", Agent: "4"},
	}}}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrap68QwenWordsOfTheProgram(t *testing.T) {
	t.Parallel()
	got := readHome(t, transcript.Qwen{}, qwenSay(
		qwenUser("one", ""),
		qwenUser("a timer", `,"subtype":"cron"`), qwenUser("a notice", `,"subtype":"notification"`), qwenUser("a goal", `,"provenance":"goal_control"`),
		qwenUser("a helper", `,"isSidechain":true`), qwenUser("another", `,"agentId":"explore-1"`), qwenUser("newer", `,"subtype":"newer"`),
		`"type":"system","subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/about"}`,
		`"type":"tool_result","message":{"role":"user","parts":[{"text":"no words"},{"functionResponse":{"id":"z","response":{"output":"o"}}}]}`,
		qwenAgent("1"),
		qwenUser("while it works", `,"subtype":"mid_turn_user_message"`), qwenUser("marked", `,"subtype":"newer","provenance":"real_user"`),
		`"type":"user","message":{"role":"user","parts":[{"text":"<system-reminder>x</system-reminder>"},{"text":"see @a"},{"text":"\n--- Content from referenced files ---"},{"text":"content"}]}`,
		qwenUser("what hooks made of it", `,"provenance":"real_user","systemPayload":{"displayText":"typed","hookContext":"x"}`)))
	want := []brief{{ID: "s", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{
		{ID: "qa", User: "one", Agent: "1"}, {ID: "qk", User: "while it works"}, {ID: "ql", User: "marked"}, {ID: "qm", User: "see @a"}, {ID: "qn", User: "typed"},
	}}}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrap72QwenOrigin(t *testing.T) {
	t.Parallel()
	const hash = ".qwen/tmp/00d74baf14ea415c6164614838c91f834c38c3e564444dfa5bc3aa0d2809e265/logs.json" // the digest of /p
	log := func(session string) map[string]string {
		files := qwenSay(qwenUser("one", ""), qwenAgent("1"))
		files[hash] = `[{"sessionId":"` + session + `","type":"user","message":"s"}]`
		return files
	}
	sdk := log("s")
	sdk[qwenFile] += `{"uuid":"x","parentUuid":"qb","type":"system","subtype":"attribution_snapshot","systemPayload":{"snapshot":{"surface":"sdk-ts"}}}` + "\n"
	child := log("s")
	child[qwenFile] += `{"uuid":"x","parentUuid":"qb","type":"system","subtype":"parent_session","systemPayload":{"parentSessionId":"o"}}` + "\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  transcript.Origin
	}{
		"typed": {log("s"), transcript.Interactive}, "typed in another": {log("o"), transcript.Headless},
		"no log": {qwenSay(qwenUser("one", "")), transcript.Headless}, "sdk": {sdk, transcript.Headless}, "helper": {child, transcript.Subagent},
		"daemon": {qwenSay(qwenUser("one", `,"daemonPromptId":"d"`)), transcript.Interactive},
	} {
		got := readHome(t, transcript.Qwen{}, tc.files)
		if len(got.Transcripts) != 1 || got.Transcripts[0].Origin != tc.want {
			t.Errorf("%s: %+v, want %s", name, briefs(got), tc.want)
		}
	}
}

func TestQwenActiveBranch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		records []string
		want    []briefTurn
	}{
		"rewound": {
			[]string{qwenUser("one", ""), qwenAgent("1"), qwenUser("two", ""), qwenAgent("2"), `"parentUuid":"qb","type":"system","subtype":"rewind","systemPayload":{}`, qwenUser("instead", "")},
			[]briefTurn{{ID: "qa", User: "one", Agent: "1"}, {ID: "qf", User: "instead"}},
		},
		"rewound to the beginning": {
			[]string{qwenUser("one", ""), qwenAgent("1"), `"parentUuid":null,"type":"system","subtype":"rewind","systemPayload":{}`, qwenUser("again", "")},
			[]briefTurn{{ID: "qd", User: "again"}},
		},
		"a title with an old parent takes nothing back": {
			[]string{qwenUser("one", ""), qwenAgent("1"), qwenUser("two", ""), `"parentUuid":"qa","type":"system","subtype":"custom_title","systemPayload":{}`},
			[]briefTurn{{ID: "qa", User: "one", Agent: "1"}, {ID: "qc", User: "two"}},
		},
		"a parent that is gone": {
			[]string{qwenUser("one", ""), qwenUser("two", `,"parentUuid":"gone"`), `"parentUuid":null,` + qwenUser("three", "")},
			[]briefTurn{{ID: "qa", User: "one"}, {ID: "qb", User: "two"}, {ID: "qc", User: "three"}},
		},
	} {
		want := []brief{{ID: "s", Project: "/p", Origin: transcript.Headless, Turns: tc.want}}
		if diff := cmp.Diff(want, briefs(readHome(t, transcript.Qwen{}, qwenSay(tc.records...)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A session that was branched off holds the turns of the other under their ids.
func TestQwenStoresAndBranches(t *testing.T) {
	t.Parallel()
	c := transcripttest.Case{Source: transcript.Qwen{}, Env: map[string]string{"QWEN_HOME": "a", "QWEN_RUNTIME_DIR": "b"}}
	text := qwenSay(qwenUser("one", ""))[qwenFile]
	got := c.All(t, layFiles(t, map[string]string{
		"a/projects/-p/chats/no.jsonl": text, "b/projects/-p/chats/s.jsonl": text,
		"b/projects/-p/chats/archive/t.jsonl":       strings.ReplaceAll(text, `"s"`, `"t","forkedFrom":{"sessionId":"s"}`),
		"b/projects/-p/subagents/s/agent-x.jsonl":   text,
		"b/projects/-p/chats/subagents/s/y.jsonl":   text,
		"b/projects/-p/chats/agent-explore-1.jsonl": text,
	}), nil)
	want := []brief{
		{ID: "t", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{{ID: "qa", User: "one"}}},
		{ID: "s", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{{ID: "qa", User: "one"}}},
	}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQwenTools(t *testing.T) {
	t.Parallel()
	call := func(id, name, args string) string {
		return `"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"` + id + `","name":"` + name + `","args":` + args + `}}]}`
	}
	result := func(id, status string) string {
		return `"type":"tool_result","toolCallResult":{"callId":"` + id + `","status":"` + status + `"}`
	}
	got := readHome(t, transcript.Qwen{}, qwenSay(
		qwenUser("one", ""),
		call("c", "skill", `{"skill":"a"}`), result("c", "success"), // the same id comes again
		call("c", "write_file", `{"file_path":"/p/x"}`), result("c", "error"),
		call("c", "edit", `{"file_path":"/p/y"}`), result("c", "success"),
		call("d", "run_shell_command", `{"command":"rm y"}`), result("d", "cancelled"),
		call("e", "z", `{}`),
		qwenUser("two skills", ""), call("c", "skill", `{"skill":"a"}`), result("c", "success"), call("c", "skill", `{"skill":"b"}`), result("c", "success")))
	if len(got.Transcripts) != 1 || len(got.Transcripts[0].Turns) != 2 {
		t.Fatalf("%+v", got)
	}
	turn := got.Transcripts[0].Turns[0]
	tools := []transcript.Tool{{Name: "skill", OK: yes()}, {Name: "write_file", OK: no()}, {Name: "edit", OK: yes()}, {Name: "run_shell_command", OK: no()}, {Name: "z"}}
	if diff := cmp.Diff(tools, turn.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"y"}, turn.Files); diff != "" || turn.Skill != "a" || turn.SkillBy != transcript.ByTool || !turn.Interrupted {
		t.Errorf("%s%+v", diff, turn)
	}
	if two := got.Transcripts[0].Turns[1]; two.Skill != "" {
		t.Errorf("of two skills one was taken: %+v", two)
	}
}

func FuzzQwen(f *testing.F) {
	sample, err := os.ReadFile("testdata/qwen/.qwen/projects/-PROJECT-shop/chats/4b7b3b0c-cca4-4b34-ac5d-ce8da9d27789.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(qwenSay(qwenUser("one", ""), `"parentUuid":null,"type":"system","subtype":"rewind"`, qwenUser("two", ""))[qwenFile]))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzFile(t, transcript.Qwen{}, qwenFile, data) })
}
