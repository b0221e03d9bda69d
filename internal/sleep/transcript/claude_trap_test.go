package transcript_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// claudeLine is a record of a session of Claude Code; more are members with a comma before.
func claudeLine(kind string, n int, content, more string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"u%d","timestamp":"2026-11-22T08:00:%02dZ","cwd":"/p","entrypoint":"cli","version":"3","message":{"role":%q,"content":%s}%s}`+"\n", kind, n, n%60, kind, content, more)
}

// claudeHome lays out files below projects/-p.
func claudeHome(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, ".claude", "projects", "-p", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func readClaude(t *testing.T, home string) ([]transcript.Transcript, []transcript.Problem) {
	t.Helper()
	stores, err := transcript.Claude{}.Stores(t.Context(), transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	var out []transcript.Transcript
	var problems []transcript.Problem
	for _, s := range stores {
		r := &transcript.Reading{Clean: redact.New(), Each: func(tr transcript.Transcript) error { out = append(out, tr); return nil }}
		if err := (transcript.Claude{}).Read(t.Context(), s, r); err != nil {
			t.Fatal(err)
		}
		problems = append(problems, r.Problems...)
	}
	return out, problems
}

func said(list []transcript.Transcript) []string {
	out := []string{}
	for _, tr := range list {
		for _, turn := range tr.Turns {
			out = append(out, turn.User)
		}
	}
	return out
}

func TestTrap43ClaudeHelpersCommandsAndMalformedSkills(t *testing.T) {
	t.Parallel()
	got, problems := readClaude(t, claudeHome(t, map[string]string{
		"a.jsonl": claudeLine("user", 1, `"real"`, "") +
			claudeLine("user", 2, `"<command-name>/clear</command-name>"`, "") +
			claudeLine("user", 3, `"<local-command-stdout>x</local-command-stdout>"`, "") +
			claudeLine("user", 4, `"a helper's"`, `,"isSidechain":true`) +
			claudeLine("assistant", 5, `[{"type":"tool_use","id":"a","name":"Skill","input":{"skill":7}},{"type":"tool_use","id":"b","name":"Skill"},{"type":"tool_use","id":"c","name":"Skill","input":{"skill":"  "}}]`, ""),
		"agent-1.jsonl":           claudeLine("user", 6, `"a helper's file"`, ""),
		"a/subagents/agent.jsonl": claudeLine("user", 7, `"a helper's file below"`, ""),
	}))
	if diff := cmp.Diff([]string{"real"}, said(got)); diff != "" || len(problems) > 0 {
		t.Errorf("%s %v", diff, problems)
	}
	if skill := got[0].Turns[0].Skill; skill != "" {
		t.Errorf("a skill of malformed blocks: %q", skill)
	}
}

func TestTrap68ClaudeTextOfTheProgram(t *testing.T) {
	t.Parallel()
	got, _ := readClaude(t, claudeHome(t, map[string]string{
		"a.jsonl": `{"type":"queue-operation","operation":"enqueue","content":"queued","timestamp":"2026-11-22T08:00:00Z"}` + "\n" +
			claudeLine("user", 1, `"real"`, "") +
			claudeLine("user", 2, `[{"type":"text","text":"Base directory for this skill"}]`, `,"isMeta":true`) +
			claudeLine("user", 3, `[{"type":"tool_result","tool_use_id":"x","content":"output"},{"type":"text","text":"beside it"}]`, "") +
			claudeLine("user", 4, `"The session continues"`, `,"isCompactSummary":true`) +
			`{"type":"attachment","attachment":{"type":"skill_listing","content":"list"},"cwd":"/p"}` + "\n" +
			`{"type":"last-prompt","lastPrompt":"real"}` + "\n" +
			claudeLine("user", 5, `[{"type":"text","text":"also real"},{"type":"image"}]`, ""),
	}))
	if diff := cmp.Diff([]string{"real", "also real"}, said(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTrap69ClaudeFailureIsNoAnswer(t *testing.T) {
	t.Parallel()
	got, _ := readClaude(t, claudeHome(t, map[string]string{
		"a.jsonl": claudeLine("user", 1, `"one"`, "") + claudeLine("assistant", 2, `[{"type":"text","text":"Failed to authenticate"}]`, `,"isApiErrorMessage":true,"error":"authentication_failed"`) +
			claudeLine("user", 3, `"two"`, "") + claudeLine("assistant", 4, `[{"type":"text","text":"Failed"}]`, `,"isApiErrorMessage":true`) + claudeLine("assistant", 5, `[{"type":"text","text":"went on"}]`, ""),
	}))
	turns := got[0].Turns
	if turns[0].Failed != "authentication_failed" || turns[0].Agent != "" || turns[1].Failed != "" || turns[1].Agent != "went on" {
		t.Errorf("%+v", turns)
	}
}

func TestTrap72ClaudeHeadlessIsToldByFields(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]transcript.Origin{
		"": transcript.Interactive, `,"promptSource":"sdk"`: transcript.Headless, `,"entrypoint":"sdk-cli"`: transcript.Headless, `,"entrypoint":"sdk-ts"`: transcript.Headless,
	} {
		got, _ := readClaude(t, claudeHome(t, map[string]string{"a.jsonl": claudeLine("user", 1, `"## CURRENT SKILL, as a replay would word it"`, more)}))
		if got[0].Origin != want {
			t.Errorf("%s: %s, want %s", more, got[0].Origin, want)
		}
	}
}

// Between a name and its last record a store may be damaged in many ways. It measures what the
// process takes, so nothing runs beside it.
func TestTrap79LongLinesBrokenBytesAndMarks(t *testing.T) {
	home := claudeHome(t, map[string]string{
		"a.jsonl": "\xef\xbb\xbf" + claudeLine("user", 1, `"first"`, "") + claudeLine("user", 2, "\"not \xff UTF-8\"", "") + "{\"type\": \"user\", broken\n\n[1]\n" + claudeLine("user", 3, `"last"`, ""),
	})
	path := filepath.Join(home, ".claude", "projects", "-p", "b.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	write := func(text string) {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	write(claudeLine("user", 4, `"before"`, ""))
	write(`{"type":"user","message":{"content":"`)
	for range 100 {
		write(strings.Repeat("x", 1<<20))
	}
	write("\"}}\n" + claudeLine("user", 5, `"after"`, ""))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, problems := readClaude(t, home)
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]string{"first", "last", "before", "after"}, said(got)); diff != "" {
		t.Error(diff)
	}
	var where []string
	for _, p := range problems {
		where = append(where, fmt.Sprintf("%s:%d %s", filepath.Base(p.Path), p.Line, p.What))
	}
	want := []string{"a.jsonl:2 not UTF-8", "a.jsonl:3 not a JSON object", "a.jsonl:5 not a JSON object", "b.jsonl:2 longer than 16 MB, which is the most that is read of a line"}
	if diff := cmp.Diff(want, where); diff != "" {
		t.Error(diff)
	}
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 120<<20 {
		t.Errorf("%d MB were taken for a line of 100 MB", grown>>20)
	}
}

// TestTrap80WrittenWhileRead reads a file 1,000 times while a program appends to it in pieces: what
// is read is always a beginning of what is written, and in the end all of it.
func TestTrap80WrittenWhileRead(t *testing.T) {
	t.Parallel()
	home := claudeHome(t, map[string]string{"a.jsonl": ""})
	var all strings.Builder
	var want []string
	for n := range 400 {
		text := fmt.Sprintf("turn %d %s.", n, strings.Repeat("é", n%90))
		want = append(want, text)
		all.WriteString(claudeLine("user", n, fmt.Sprintf("%q", text), ""))
	}
	f, err := os.OpenFile(filepath.Join(home, ".claude", "projects", "-p", "a.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	rest, r := all.String(), rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		n := min(len(rest), 1+r.IntN(2*all.Len()/1000)) // it ends anywhere, also within a character
		if _, err := f.WriteString(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		got, problems := readClaude(t, home)
		if diff := cmp.Diff(want[:len(said(got))], said(got)); diff != "" || len(problems) > 0 {
			t.Fatalf("%s %v", diff, problems)
		}
		if whole := strings.Count(all.String()[:all.Len()-len(rest)], "\n"); len(said(got)) < whole {
			t.Fatalf("%d turns of %d whole records", len(said(got)), whole)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
