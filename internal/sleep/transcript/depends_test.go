package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// TestMarkHasWhatAStoreDependsOn changes, for each source that looks elsewhere than into the files of a
// store, one such place: the marks of the stores that depend on it are others, and those of the rest
// are not.
func TestMarkHasWhatAStoreDependsOn(t *testing.T) {
	t.Parallel()
	const vscode, devin = ".config/Code/User/workspaceStorage/w", ".config/Devin/User/workspaceStorage/w"
	for name, c := range map[string]struct {
		source transcript.Source
		files  map[string]string
		change string // this file
		to     string // "": it is deleted
		same   int    // stores that do not depend on it
	}{
		"cursor, where a chat ran": {
			transcript.Cursor{},
			map[string]string{".cursor/projects/a/agent-transcripts/s/s.jsonl": "x", ".cursor/projects/a/agent-transcripts/t/t.jsonl": "x"},
			".cursor/chats/0/s/meta.json", `{"cwd":"/srv/a"}`, 1,
		},
		"cursor, a helper": {
			transcript.Cursor{},
			map[string]string{".cursor/projects/a/agent-transcripts/s/s.jsonl": "x", ".cursor/chats/0/s/meta.json": `{"cwd":"/srv/a"}`},
			".cursor/chats/0/s/meta.json", `{"cwd":"/srv/a","isSubagent":true}`, 0,
		},
		"cursor, a trusted folder": {
			transcript.Cursor{},
			map[string]string{".cursor/projects/a/agent-transcripts/s/s.jsonl": "x", ".cursor/projects/b/agent-transcripts/s/s.jsonl": "x"},
			".cursor/projects/a/.workspace-trusted", `{"workspacePath":"/srv/a"}`, 1,
		},
		"openclaw, the keys": {
			transcript.OpenClaw{},
			map[string]string{".openclaw/agents/m/sessions/s.jsonl": "x", ".openclaw/agents/m/sessions/t.jsonl": "x"},
			".openclaw/agents/m/sessions/sessions.json", `{"agent:m:cron:1":{"sessionId":"s"}}`, 1,
		},
		"gemini, the projects": {
			transcript.Gemini{},
			map[string]string{".gemini/tmp/a/chats/session-1-s.jsonl": "x", ".gemini/tmp/b/chats/session-1-s.jsonl": "x"},
			".gemini/projects.json", `{"projects":{"/srv/a":"a"}}`, 1,
		},
		"gemini, what was typed": {
			transcript.Gemini{},
			map[string]string{".gemini/tmp/a/chats/session-1-abc.jsonl": "x", ".gemini/tmp/a/chats/session-1-def.jsonl": "x"},
			".gemini/tmp/a/logs.json", `[{"sessionId":"abc-1","type":"user"}]`, 1,
		},
		"qwen, what was typed": {
			transcript.Qwen{},
			map[string]string{".qwen/projects/a/chats/abc-1.jsonl": "x", ".qwen/projects/a/chats/def-1.jsonl": "x"},
			".qwen/tmp/a/logs.json", `[{"sessionId":"abc-1","type":"user"}]`, 1,
		},
		"copilot, sessions with events": {
			transcript.Copilot{},
			map[string]string{".copilot/session-store.db": "x", ".copilot/session-state/t/events.jsonl": "x", ".copilot/session-state/s/events.jsonl": "x"},
			".copilot/session-state/s/events.jsonl", "", 1,
		},
		"vscode, the folder": {
			transcript.VSCode{},
			map[string]string{vscode + "1/chatSessions/s.jsonl": "x", vscode + "1/workspace.json": `{"folder":"file:///a"}`, vscode + "2/chatSessions/s.jsonl": "x", vscode + "2/workspace.json": `{"folder":"file:///a"}`},
			vscode + "1/workspace.json", `{"folder":"file:///b"}`, 1,
		},
		"devin, the folders of its editor": {
			transcript.Devin{},
			map[string]string{".local/share/devin/cli/transcripts/s.json": "x"},
			devin + "1/workspace.json", `{"folder":"file:///b"}`, 0,
		},
		"codex, a file that continues": {
			transcript.Codex{},
			map[string]string{
				".codex/sessions/rollout-2026-11-22T08-00-00-0a0a0a0a-0000-4000-8000-000000000000.jsonl": "x",
				".codex/sessions/rollout-2026-11-22T08-00-00-0b0b0b0b-0000-4000-8000-000000000000.jsonl": "x",
			},
			".codex/sessions/rollout-2026-11-23T08-00-00-0a0a0a0a-0000-4000-8000-000000000000_0c0c0c0c-0000-4000-8000-000000000000.jsonl", "x", 1,
		},
	} {
		home := layFiles(t, c.files)
		before := marks(t, c.source, home)
		if c.to == "" {
			if err := os.Remove(filepath.Join(home, c.change)); err != nil {
				t.Fatal(err)
			}
		} else {
			writeFile(t, filepath.Join(home, c.change), c.to)
		}
		same, other := 0, 0
		for path, mark := range marks(t, c.source, home) {
			switch old, was := before[path]; {
			case was && mark == old:
				same++
			case was:
				other++
			}
		}
		if same != c.same || other != 1 {
			t.Errorf("%s: %d stores are as they were and %d are not, want %d and 1", name, same, other, c.same)
		}
	}
}

func marks(t *testing.T, source transcript.Source, home string) map[string]transcript.Mark {
	t.Helper()
	stores, err := source.Stores(t.Context(), transcripttest.Case{Source: source}.Places(home))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]transcript.Mark{}
	for _, s := range stores {
		if out[s.Path()], err = transcript.Peek(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
