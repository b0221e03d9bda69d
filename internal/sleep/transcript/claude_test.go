package transcript_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func yes() *bool { ok := true; return &ok }

func TestClaude(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Claude{}, Home: "testdata/claude", Scenario: claudeScenario, Filled: "testdata/claude-filled",
		Want: []transcript.Transcript{{
			Source: "claude", ID: "7569b375-2bc8-4cd1-b22d-650c83d78d80", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "2.1.197", Branch: "master",
			Started: at("2026-11-22T08:23:30.4Z"), Ended: at("2026-11-22T08:23:32.276Z"),
			Turns: []transcript.Turn{{
				ID: "6078f4eb-a458-4dfa-8b0b-75ea81b14f9a", Started: at("2026-11-22T08:23:30.4Z"), Ended: at("2026-11-22T08:23:32.276Z"),
				User: "This one fails.", Tools: []transcript.Tool{}, Files: []string{}, Failed: "authentication_failed",
			}},
		}, {
			Source: "claude", ID: "c557cdca-64d7-4010-804b-0fff9c0b6a4f", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "2.1.197", Branch: "master",
			Started: at("2026-11-22T08:22:46.533Z"), Ended: at("2026-11-22T08:23:14.99Z"),
			Turns: []transcript.Turn{{
				ID: "b2735a15-1cab-4828-b306-1879142a1ccd", Started: at("2026-11-22T08:22:46.533Z"), Ended: at("2026-11-22T08:22:50.459Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "Skill", OK: yes()}, {Name: "Write", OK: yes()}},
				Files: []string{"out.txt"}, Skill: "house-rules", SkillBy: transcript.ByRecord, Redacted: 1,
			}, {
				ID: "7a9504bd-0255-4698-91a0-ad08247e50a0", Started: at("2026-11-22T08:23:13.852Z"), Ended: at("2026-11-22T08:23:14.99Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	})
}

// A person at the terminal, captured from 2.1.197: a skill by its tool and by its name, a
// correction, Esc before an answer and while a tool ran, a tool refused with words, what was
// typed while the agent worked, a command of the program and one of the shell, /rewind, and a
// resume. The first two records of the agent stand before the prompt.
func TestClaudeTyped(t *testing.T) {
	t.Parallel()
	turn := func(id, from, to, user, agent string) transcript.Turn {
		return transcript.Turn{ID: id, Started: at("2026-11-25T" + from + "Z"), Ended: at("2026-11-25T" + to + "Z"), User: user, Agent: agent, Tools: []transcript.Tool{}, Files: []string{}}
	}
	with := func(turn transcript.Turn, edit func(*transcript.Turn)) transcript.Turn { edit(&turn); return turn }
	tool := func(name string, ok *bool) []transcript.Tool { return []transcript.Tool{{Name: name, OK: ok}} }
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Claude{}, Home: "testdata/claude-typed",
		TakenBack: []string{"Count all the orders", "And say how many there are", "Rewind me"},
		Want: []transcript.Transcript{{
			Source: "claude", ID: "08f34cbd-2444-4131-90ac-35ad7c887bff", Project: "/PROJECT/shop", Origin: transcript.Interactive, Version: "2.1.197", Branch: "trunk",
			Started: at("2026-11-25T10:12:44.343Z"), Ended: at("2026-11-25T10:16:24.575Z"),
			Turns: []transcript.Turn{
				with(turn("da921a4e-7f5f-44f7-8515-60e61af4c2b8", "10:12:44.343", "10:13:02.23", "Write the delivery date of order 1042 into out.txt. Keep to the house-rules. The key is PLANTED_TOKEN=[redacted]", "Done: the date is in out.txt."), func(turn *transcript.Turn) {
					turn.Tools, turn.Files = append(tool("Skill", yes()), tool("Write", yes())...), []string{"out.txt"}
					turn.Skill, turn.SkillBy, turn.Redacted = "house-rules", transcript.ByRecord, 1
				}),
				with(turn("a160d669-448e-4105-9d79-d4788780637f", "10:13:05.797", "10:13:08.881", "No, that is wrong: the date must be written as YYYY-MM-DD.", "Corrected."), func(turn *transcript.Turn) {
					turn.Tools, turn.Files = tool("Write", yes()), []string{"out.txt"}
				}),
				with(turn("13835400-ce4a-47ee-bb54-4e51e6f76ca7", "10:13:18.18", "10:13:37.834", "Count all the ordersDelete the old orders", "One step more."), func(turn *transcript.Turn) {
					turn.Tools, turn.Interrupted = tool("Bash", no()), true
				}),
				turn("8f3ac4f5-cd7c-4e05-a552-ded2cfc58d6f", "10:13:37.834", "10:13:37.938", "Do not delete the README, only old.txt", "Deleted."),
				with(turn("e0c077e1-c2e4-4329-ba77-57663fa8ddce", "10:13:46.277", "10:13:46.344", "Say how you are", "I am well."), func(turn *transcript.Turn) {
					turn.Skill, turn.SkillBy = "house-rules", transcript.ByRecord
				}),
				with(turn("17c71092-74a6-4585-ab35-6b2271f1fba3", "10:14:58.037", "10:14:58.037", "Count all the orders", ""), func(turn *transcript.Turn) { turn.Interrupted = true }),
				with(turn("b1db3d63-795e-49dc-8fd1-67ddd1f6c440", "10:15:43.532", "10:15:52.091", "Check the stock", "One step more."), func(turn *transcript.Turn) {
					turn.Tools, turn.Commands = tool("Bash", yes()), []transcript.Command{ran("sleep 8", 0)}
				}),
				turn("17d982e5-cc81-4c07-86b6-a2d4a1ba6643", "10:15:47.298", "10:15:52.135", "Only the blue ones, please", "Checked."),
				with(turn("e2c3ccf7-bb0c-47a8-8d2e-fb640aac5e4f", "10:16:18.811", "10:16:21.878", "Sleep long", "One step more."), func(turn *transcript.Turn) {
					turn.Tools, turn.Interrupted = tool("Bash", no()), true
					turn.Commands = []transcript.Command{{Text: "sleep 60"}}
				}),
				turn("62e0d584-eccb-4561-96e0-0bdad953518e", "10:16:24.504", "10:16:24.575", "Say how you are", "I am well."),
			},
		}},
	})
}

// claudeChild is a record with a parent; 0: none.
func claudeChild(kind string, n, parent int, content, more string) string {
	above := "null"
	if parent > 0 {
		above = fmt.Sprintf(`"u%d"`, parent)
	}
	return claudeLine(kind, n, content, `,"parentUuid":`+above+more)
}

func TestClaudeTree(t *testing.T) {
	t.Parallel()
	text := func(words string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, words) }
	call := func(id string) string {
		return fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Write","input":{"file_path":"/p/%s"}}]`, id, id)
	}
	result := func(id string) string { return fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q}]`, id) }
	queued := func(n, parent int, members string) string {
		return fmt.Sprintf(`{"type":"attachment","uuid":"u%d","parentUuid":"u%d","timestamp":"2026-11-22T08:00:%02dZ","cwd":"/p","attachment":{"type":"queued_command",%s}}`+"\n", n, parent, n, members)
	}
	one := claudeChild("user", 1, 0, `"one"`, "")
	for name, c := range map[string]struct {
		lines string
		want  []briefTurn
	}{
		"records before their prompt": {
			claudeChild("user", 4, 3, result("a"), "") + claudeChild("assistant", 3, 2, call("a"), "") + claudeChild("assistant", 2, 1, text("x"), "") + one + claudeChild("assistant", 5, 4, text("y"), ""),
			[]briefTurn{{ID: "u1", User: "one", Agent: "y", Tools: 1}},
		},
		"the first prompt has a parent that is not there": {
			claudeChild("user", 1, 99, `"one"`, "") + claudeChild("assistant", 2, 1, text("x"), ""),
			[]briefTurn{{ID: "u1", User: "one", Agent: "x"}},
		},
		"results of tools side by side are no fork": {
			one + claudeChild("assistant", 2, 1, call("a"), "") + claudeChild("assistant", 3, 2, call("b"), "") + claudeChild("user", 4, 2, result("a"), "") + claudeChild("user", 5, 3, result("b"), "") +
				claudeChild("assistant", 6, 4, text("x"), "") + claudeChild("user", 7, 5, `"two"`, ""),
			[]briefTurn{{ID: "u1", User: "one", Agent: "x", Tools: 2}, {ID: "u7", User: "two"}},
		},
		"taken back, twice": {
			one + claudeChild("assistant", 2, 1, text("x"), "") + claudeChild("user", 3, 2, `"two"`, "") + claudeChild("assistant", 4, 3, text("y"), "") + claudeChild("user", 5, 4, `"three"`, "") +
				claudeChild("user", 6, 2, `"four"`, "") + claudeChild("assistant", 7, 6, text("z"), "") + claudeChild("user", 8, 2, `"five"`, ""),
			[]briefTurn{{ID: "u1", User: "one", Agent: "x"}, {ID: "u8", User: "five"}},
		},
		"from what was taken back nothing is": {
			one + claudeChild("user", 2, 1, `"two"`, "") + claudeChild("user", 3, 1, `"three"`, "") + claudeChild("user", 4, 2, `"four"`, ""),
			[]briefTurn{{ID: "u1", User: "one"}, {ID: "u3", User: "three"}, {ID: "u4", User: "four"}},
		},
		"a record that is there twice takes nothing back": {
			one + claudeChild("user", 2, 1, `"two"`, "") + claudeChild("user", 3, 2, `"three"`, "") + claudeChild("user", 2, 1, `"two"`, "") + claudeChild("assistant", 4, 3, text("x"), ""),
			[]briefTurn{{ID: "u1", User: "one"}, {ID: "u2", User: "two"}, {ID: "u3", User: "three", Agent: "x"}},
		},
		"typed while the agent works": {
			one + queued(2, 1, `"prompt":"two","commandMode":"prompt"`) + queued(3, 2, `"prompt":[{"type":"text","text":"three"},{"type":"image"}],"commandMode":"prompt","origin":{"kind":"human"}`) +
				queued(4, 3, `"prompt":"a task has ended","commandMode":"task-notification"`) + queued(5, 3, `"prompt":"an agent says","commandMode":"prompt","origin":{"kind":"peer"}`) +
				queued(6, 3, `"prompt":"put in","commandMode":"prompt","isMeta":true`) + queued(7, 3, `"prompt":{"x":1},"commandMode":"prompt"`),
			[]briefTurn{{ID: "u1", User: "one"}, {ID: "u2", User: "two"}, {ID: "u3", User: "three"}},
		},
		"a tool is refused": {
			one + claudeChild("assistant", 2, 1, call("a"), "") +
				claudeChild("user", 3, 2, result("a"), `,"toolUseResult":"Error: The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nNot so."`),
			[]briefTurn{{ID: "u1", User: "one", Interrupted: true, Tools: 1}, {ID: "u3", User: "Not so."}},
		},
		"a tool says that one was refused": {
			one + claudeChild("assistant", 2, 1, call("a"), "") +
				claudeChild("user", 3, 2, result("a"), `,"toolUseResult":{"stdout":"The user doesn't want to proceed. To tell you how to proceed, the user said:\nNot so."}`),
			[]briefTurn{{ID: "u1", User: "one", Tools: 1}},
		},
		"a skill or a command by its name": {
			claudeChild("user", 1, 0, `"<command-message>tidy</command-message>\n<command-name>/tidy</command-name>\n<command-args>all of it</command-args>"`, "") +
				claudeChild("user", 2, 1, `"<command-message>tidy is running…</command-message>\n<command-name>/tidy</command-name>"`, "") +
				claudeChild("user", 3, 2, `"<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>"`, ""),
			[]briefTurn{{ID: "u1", User: "all of it"}, {ID: "u2", User: "/tidy"}},
		},
		"the program says that nothing was asked": {
			one + claudeChild("assistant", 2, 1, text("x"), "") + claudeLine("assistant", 3, text("No response requested."), `,"parentUuid":"u2","isApiErrorMessage":false,"message":{"model":"<synthetic>","content":`+text("No response requested.")+`}`),
			[]briefTurn{{ID: "u1", User: "one", Agent: "x"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := readClaude(t, claudeHome(t, map[string]string{"a.jsonl": c.lines}))
			if len(got) != 1 || len(problems) > 0 {
				t.Fatalf("%+v %v", got, problems)
			}
			if diff := cmp.Diff(c.want, briefs(transcripttest.Result{Transcripts: got})[0].Turns); diff != "" {
				t.Error(diff)
			}
		})
	}
}
