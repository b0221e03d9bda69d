package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

func TestGemini(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Gemini{}, Home: "testdata/gemini", Scenario: geminiScenario, Filled: "testdata/gemini-filled",
		Want: []transcript.Transcript{{
			Source: "gemini", ID: "69e3a974-d2cf-47bd-aeb3-020b1275be8e", Project: "/PROJECT/shop", Origin: transcript.Headless,
			Started: at("2026-11-22T08:11:02Z"), Ended: at("2026-11-22T08:11:47.503Z"),
			Turns: []transcript.Turn{{
				ID: "b85a8081-6e4e-44a6-b7ba-2341e4133385", Started: at("2026-11-22T08:11:02Z"), Ended: at("2026-11-22T08:11:06.466Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "activate_skill", OK: yes()}, {Name: "write_file", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool, Redacted: 1,
			}, {
				ID: "189ee034-4541-4053-a264-7d8a9558f50a", Started: at("2026-11-22T08:11:46.77Z"), Ended: at("2026-11-22T08:11:47.503Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	})
}

// A person at the terminal, captured from 0.61.0.
func TestGeminiTyped(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Gemini{}, Home: "testdata/gemini-typed",
		Want: []transcript.Transcript{{
			Source: "gemini", ID: "4ef5e7e5-9986-485d-8419-5cf597c78fe7", Project: "/PROJECT/shop", Origin: transcript.Interactive,
			Started: at("2026-11-25T09:27:20.373Z"), Ended: at("2026-11-25T09:28:10.633Z"),
			Turns: []transcript.Turn{{
				ID: "92c4cdd1-3121-4fb6-aaf9-ee3cc837ab07", Started: at("2026-11-25T09:27:20.373Z"), Ended: at("2026-11-25T09:27:25.066Z"),
				User:  "Write the date, see @note.md please",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "activate_skill", OK: yes()}, {Name: "write_file", OK: yes()}}, Files: []string{"out.txt"},
				Skill: "house-rules", SkillBy: transcript.ByTool,
			}, {
				ID: "6a9cee79-cf16-4d8e-b95c-8e90700fda6a", Started: at("2026-11-25T09:27:57.685Z"), Ended: at("2026-11-25T09:27:58.187Z"),
				User:  "\"No, wrong it\"",
				Agent: "FAKE-ANSWER 43", Tools: []transcript.Tool{}, Files: []string{},
			}, {
				ID: "b6436d46-c0c0-4e4c-97f4-24ae9941d02f", Started: at("2026-11-25T09:28:09.759Z"), Ended: at("2026-11-25T09:28:10.633Z"),
				User:  "This one fails.",
				Tools: []transcript.Tool{}, Files: []string{}, Failed: "error",
			}},
		}},
	})
}

const geminiFile = ".gemini/tmp/shop/chats/session-2026-11-22T08-00-s.jsonl"

// geminiSay is a session of lines in the project /p.
func geminiSay(lines ...string) map[string]string {
	head := `{"sessionId":"s","projectHash":"h","startTime":"2026-11-22T08:00:00.000Z","kind":"main"}`
	return map[string]string{
		geminiFile:                       strings.Join(append([]string{head}, lines...), "\n") + "\n",
		".gemini/tmp/shop/.project_root": "/p",
	}
}

func geminiUser(id, text, more string) string {
	return `{"id":"` + id + `","timestamp":"2026-11-22T08:00:01.000Z","type":"user","content":[{"text":"` + text + `"}]` + more + `}`
}

func geminiAgent(id, text, more string) string {
	return `{"id":"` + id + `","timestamp":"2026-11-22T08:00:02.000Z","type":"gemini","content":"` + text + `"` + more + `}`
}

const geminiModel = `,"model":"m"`

func TestTrap73GeminiLog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []string
		want  []briefTurn
	}{
		"set of all messages on resume": {
			lines: []string{
				geminiUser("u1", "one", ""), geminiAgent("a1", "first", geminiModel),
				`{"$set":{"messages":[` + geminiUser("c", "<session_context> x", "") + `,` + geminiUser("u1", "one", "") + `,` + geminiAgent("a1", "first", "") + `]}}`,
				geminiUser("u2", "two", ""), geminiAgent("a2", "second", geminiModel),
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "first"}, {ID: "u2", User: "two", Agent: "second"}},
		},
		"a message repeated by id": {
			lines: []string{
				geminiUser("u1", "one", ""), geminiAgent("a1", "first", geminiModel),
				geminiAgent("a1", "first", geminiModel+`,"toolCalls":[{"id":"c1","name":"x","status":"success"}]`), geminiUser("u1", "one", ""),
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "first", Tools: 1}},
		},
		"equal messages that are apart": {
			lines: []string{geminiUser("u1", "go on", ""), geminiAgent("a1", "1", geminiModel), geminiUser("u2", "go on", ""), geminiAgent("a2", "2", geminiModel)},
			want:  []briefTurn{{ID: "u1", User: "go on", Agent: "1"}, {ID: "u2", User: "go on", Agent: "2"}},
		},
		"context that is written as a message": {
			lines: []string{geminiUser("c", "<session_context>\\nx", ""), geminiUser("d", "<state_snapshot>x</state_snapshot>", ""), geminiUser("u1", "one", "")},
			want:  []briefTurn{{ID: "u1", User: "one"}},
		},
		"a summary that stands in a set alone": {
			lines: []string{geminiUser("u1", "one", ""), geminiAgent("a1", "1", geminiModel), `{"$set":{"messages":[` + geminiUser("z", "What happened so far", "") + `]}}`},
			want:  []briefTurn{{ID: "u1", User: "one", Agent: "1"}},
		},
		"what was said stays when the model is shown less": {
			lines: []string{
				geminiUser("u1", "one", ""), geminiAgent("a1", "1", geminiModel), geminiUser("u2", "two", ""), geminiAgent("a2", "2", geminiModel),
				`{"$set":{"messages":[` + geminiUser("u2", "two", "") + `]}}`, geminiUser("u3", "three", ""),
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "1"}, {ID: "u2", User: "two", Agent: "2"}, {ID: "u3", User: "three"}},
		},
		"history that is recorded again under other ids": {
			lines: []string{
				geminiUser("u1", "one", ""), geminiAgent("a1", "1", geminiModel), geminiUser("u2", "go on", ""), geminiAgent("a2", "2", geminiModel),
				geminiUser("v1", "one", ""), geminiAgent("b1", "1", ""), geminiUser("v2", "go on", ""), geminiAgent("b2", "2", ""),
				`{"$set":{"messages":[` + strings.Join([]string{geminiUser("v1", "one", ""), geminiAgent("b1", "1", ""), geminiUser("v2", "go on", ""), geminiAgent("b2", "2", "")}, ",") + `]}}`,
				geminiAgent("a3", "still 2", geminiModel), geminiUser("u3", "go on", ""), geminiAgent("a4", "3", geminiModel),
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "1"}, {ID: "u2", User: "go on", Agent: "still 2"}, {ID: "u3", User: "go on", Agent: "3"}},
		},
		"a message of the program that is written out later": {
			lines: []string{`{"$set":{"messages":[` + geminiUser("z", "What happened so far", "") + `]}}`, geminiUser("u1", "one", ""), geminiUser("z", "What happened so far", "")},
			want:  []briefTurn{{ID: "u1", User: "one"}},
		},
		"the same words, answered twice, of which the model is shown the later": {
			lines: []string{
				geminiUser("u1", "go on", ""), geminiAgent("a1", "1", geminiModel), geminiUser("u2", "go on", ""), geminiAgent("a2", "2", geminiModel),
				`{"$set":{"messages":[` + geminiUser("u2", "go on", "") + `]}}`,
			},
			want: []briefTurn{{ID: "u1", User: "go on", Agent: "1"}, {ID: "u2", User: "go on", Agent: "2"}},
		},
		"rewound": {
			lines: []string{
				geminiUser("u1", "one", ""), geminiAgent("a1", "1", geminiModel), geminiUser("u2", "two", ""), geminiAgent("a2", "2", geminiModel),
				`{"$rewindTo":"u2"}`, geminiUser("u3", "instead", ""),
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "1"}, {ID: "u3", User: "instead"}},
		},
		"rewound to what is not known": {
			lines: []string{geminiUser("u1", "one", ""), `{"$rewindTo":"x"}`, geminiUser("u2", "two", "")},
			want:  []briefTurn{{ID: "u2", User: "two"}},
		},
		"files, hooks and what was typed": {
			lines: []string{
				`{"id":"u1","timestamp":"2026-11-22T08:00:01.000Z","type":"user","content":[{"text":"see @a"},{"text":"\n--- Content from referenced files ---"},{"text":"content of a"}]}`,
				geminiUser("u2", "the body of a command", `,"displayContent":[{"text":"/mine x"}]`),
				geminiUser("u3", "Please continue.", `,"displayContent":[{"text":"/mine x"}]`),
				geminiUser("u4", "Please continue.", ""),
				`{"id":"u5","timestamp":"2026-11-22T08:00:01.000Z","type":"user","content":[{"text":"yes"},{"text":"<hook_context>x</hook_context>"}]}`,
			},
			want: []briefTurn{{ID: "u1", User: "see @a"}, {ID: "u2", User: "/mine x"}, {ID: "u4", User: "Please continue."}, {ID: "u5", User: "yes"}},
		},
		"results of tools, thoughts, a newer type": {
			lines: []string{
				geminiUser("u1", "one", ""),
				`{"id":"r","timestamp":"2026-11-22T08:00:01.000Z","type":"user","content":[{"functionResponse":{"id":"c","name":"x","response":{"output":"o"}}}]}`,
				`{"id":"a","timestamp":"2026-11-22T08:00:01.000Z","type":"gemini","content":[{"text":"hm","thought":true},{"text":"said"}]}`,
				`{"id":"n","type":"newer","content":"?"}`, `{"newer":{"id":"x"}}`,
			},
			want: []briefTurn{{ID: "u1", User: "one", Agent: "said"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readHome(t, transcript.Gemini{}, geminiSay(tc.lines...))
			want := []brief{{ID: "s", Project: "/p", Origin: transcript.Headless, Turns: tc.want}}
			if diff := cmp.Diff(want, briefs(got)); diff != "" || got.Err != nil || len(got.Problems) > 0 {
				t.Errorf("(-want +got):\n%s%v %v", diff, got.Err, got.Problems)
			}
		})
	}
}

func TestTrap69GeminiFailure(t *testing.T) {
	t.Parallel()
	fail := `{"id":"e","timestamp":"2026-11-22T08:00:03.000Z","type":"error","content":"[API Error: 401]"}`
	got := readHome(t, transcript.Gemini{}, geminiSay(
		geminiUser("u1", "one", ""), fail,
		geminiUser("u2", "two", ""), geminiAgent("a2", "Working.", geminiModel), strings.Replace(fail, `"e"`, `"f"`, 1),
		geminiUser("u3", "three", ""), geminiAgent("a3", "done", geminiModel), `{"id":"g","type":"error","content":"Unknown command"}`,
		geminiUser("u4", "four", ""), `{"$set":{"messages":[]}}`, `{"id":"h","type":"info","content":"Request cancelled."}`,
		geminiUser("u5", "five", ""), `{"$set":{"messages":[`+geminiUser("u3", "three", "")+`]}}`,
		geminiUser("u6", "six", ""), `{"$set":{"messages":[`+geminiUser("u6", "six", "")+`]}}`, geminiAgent("a6", "6", geminiModel)))
	want := []brief{{ID: "s", Project: "/p", Origin: transcript.Interactive, Turns: []briefTurn{
		{ID: "u1", User: "one", Failed: "error"},
		{ID: "u2", User: "two", Failed: "error"},
		{ID: "u3", User: "three", Agent: "done"},
		{ID: "u4", User: "four", Interrupted: true},
		{ID: "u5", User: "five", Failed: "unanswered"},
		{ID: "u6", User: "six", Agent: "6"},
	}}}
	if diff := cmp.Diff(want, briefs(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrap72GeminiOrigin(t *testing.T) {
	t.Parallel()
	helper := geminiSay(geminiUser("u1", "one", ""))
	helper[geminiFile] = strings.Replace(helper[geminiFile], `"main"`, `"subagent"`, 1)
	helper[".gemini/tmp/shop/chats/s/t.jsonl"] = helper[geminiFile] // a helper's place
	typed := geminiSay(geminiUser("u1", "one", ""))
	typed[".gemini/tmp/shop/logs.json"] = `[{"sessionId":"other","type":"user","message":"x"},{"sessionId":"s","type":"user","message":"y"}]`
	other := geminiSay(geminiUser("u1", "one", ""))
	other[".gemini/tmp/shop/logs.json"] = `[{"sessionId":"other","type":"user","message":"s"}]`
	for name, tc := range map[string]struct {
		files map[string]string
		want  transcript.Origin
	}{
		"nobody typed": {geminiSay(geminiUser("u1", "one", "")), transcript.Headless}, "helper": {helper, transcript.Subagent},
		"typed": {typed, transcript.Interactive}, "typed in another": {other, transcript.Headless},
	} {
		got := readHome(t, transcript.Gemini{}, tc.files)
		if len(got.Transcripts) != 1 || got.Transcripts[0].Origin != tc.want {
			t.Errorf("%s: %+v, want %s", name, briefs(got), tc.want)
		}
	}
}

func TestGeminiOlderFiles(t *testing.T) {
	t.Parallel()
	const hash = "00d74baf14ea415c6164614838c91f834c38c3e564444dfa5bc3aa0d2809e265" // of /p
	doc := "{\n  \"sessionId\": \"o\", \"messages\": [" + geminiUser("u1", "one", "") + "," + geminiAgent("a1", "1", geminiModel) + "]}"
	got := readHome(t, transcript.Gemini{}, map[string]string{
		".gemini/projects.json": `{"projects":{"/p":"shop"}}`,
		".gemini/tmp/" + hash + "/chats/session-2025-11-22T08-00-o.json": "\xef\xbb\xbf" + doc,
		".gemini/tmp/shop/chats/session-2025-11-22T08-00-p.json":         doc, // goes on in:
		".gemini/tmp/shop/chats/session-2025-11-22T08-00-p.jsonl":        `{"sessionId":"p"}` + "\n" + geminiUser("u2", "two", "") + "\n",
		".gemini/tmp/shop/chats/session-2025-11-22T08-00-q.json":         doc[:len(doc)-1], // being written
		".gemini/tmp/gone/chats/session-2025-11-22T08-00-r.json":         strings.Replace(doc, `"o"`, `"r"`, 1),
	})
	want := []brief{
		{ID: "o", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{{ID: "u1", User: "one", Agent: "1"}}},
		{ID: "r", Origin: transcript.Headless, Turns: []briefTurn{{ID: "u1", User: "one", Agent: "1"}}},
		{ID: "p", Project: "/p", Origin: transcript.Headless, Turns: []briefTurn{{ID: "u2", User: "two"}}},
	}
	if diff := cmp.Diff(want, briefs(got)); diff != "" || got.Err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, got.Err)
	}
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].String(), "session-2025-11-22T08-00-q.json: not a JSON object") {
		t.Errorf("problems: %v", got.Problems)
	}
}

func TestGeminiHomeOfTheEnvironment(t *testing.T) {
	t.Parallel()
	c := transcripttest.Case{Source: transcript.Gemini{}, Env: map[string]string{"GEMINI_CLI_HOME": "elsewhere"}}
	files := map[string]string{}
	for name, text := range geminiSay(geminiUser("u1", "one", "")) {
		files["elsewhere/"+name] = text
	}
	if got := c.All(t, layFiles(t, files), nil); len(got.Transcripts) != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzGemini(f *testing.F) {
	sample, err := os.ReadFile("testdata/gemini/.gemini/tmp/shop/chats/session-2026-11-22T08-11-69e3a974.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(geminiSay(geminiUser("u1", "one", ""), `{"$rewindTo":"u1"}`, `{"$set":{"messages":[{"id":1},{"id":"u1"}]}}`)[geminiFile]))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzFile(t, transcript.Gemini{}, geminiFile, data) })
}

// fuzzFile reads a store with any bytes.
func fuzzFile(t *testing.T, source transcript.Source, name string, data []byte) {
	home := t.TempDir()
	path := filepath.Join(home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	stores, err := source.Stores(t.Context(), transcripttest.Case{Source: source}.Places(home))
	if err != nil || len(stores) != 1 {
		t.Fatal(stores, err)
	}
	r := &transcript.Reading{Clean: redact.New(), Temp: t.TempDir(), Each: func(tr transcript.Transcript) error {
		seen := map[string]bool{}
		for _, turn := range tr.Turns {
			if turn.User == "" || turn.ID == "" || seen[turn.ID] || turn.Failed != "" && turn.Agent != "" {
				t.Errorf("turn %+v", turn)
			}
			seen[turn.ID] = true
		}
		return nil
	}}
	if err := source.Read(t.Context(), stores[0], r); err != nil {
		t.Fatal(err)
	}
}
