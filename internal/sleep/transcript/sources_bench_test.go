package transcript_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// bulk is what tools print: nine tenths of a store.
var bulk = strings.Repeat("the order of \"dates\" is written as a total of 1042\n", 160)

// asJSON writes values as lines.
func asJSON(b *testing.B, values ...any) string {
	b.Helper()
	out := ""
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		out += string(data) + "\n"
	}
	return out
}

type object = map[string]any

// BenchmarkSources reads 20 stores of 1 MB each of a source; BenchmarkSources/…-lines splits the
// same bytes into lines.
func BenchmarkSources(b *testing.B) {
	prose := strings.Repeat("Write the delivery date of the order. ", 10)
	event := func(kind string, data object) object {
		return object{"type": kind, "data": data, "id": fmt.Sprint(kind, len(data)), "timestamp": "2026-11-23T08:00:00Z", "parentId": "x"}
	}
	message := func(m object) object {
		return object{"type": "message", "timestamp": "2026-05-01T08:00:01Z", "message": m}
	}
	for _, c := range []struct {
		src              transcript.Source
		name, note       string
		head, turn, tail string
	}{{
		src: transcript.Copilot{}, name: "session-state/%d/events.jsonl",
		turn: asJSON(b, event("user.message", object{"content": prose, "transformedContent": prose}), event("tool.execution_start", object{"toolCallId": "c", "toolName": "bash", "arguments": object{"command": "ls"}}),
			event("tool.execution_complete", object{"toolCallId": "c", "success": true, "result": object{"content": bulk}}), event("assistant.message", object{"content": prose})),
	}, {
		src: transcript.VSCode{}, name: "%d.jsonl", note: "/PROJECT/shop", head: `{"kind":0,"v":{"sessionId":"s","requests":[]}}` + "\n",
		turn: asJSON(b, object{"kind": 2, "k": []any{"requests"}, "v": []any{object{
			"requestId": "r", "timestamp": 1795420800000, "agent": object{"extensionId": "github.copilot-chat"}, "message": object{"text": prose},
			"response": []any{object{"kind": "toolInvocationSerialized", "toolId": "t", "resultDetails": object{"output": bulk}}, object{"value": prose}},
		}}}),
	}, {
		src: transcript.Cursor{}, name: "projects/x/agent-transcripts/%d.jsonl", note: "/PROJECT/shop",
		turn: asJSON(b, object{"role": "user", "message": object{"content": "<user_query>" + prose + "</user_query>"}},
			object{"role": "assistant", "message": object{"content": []any{object{"type": "tool_use", "name": "Write", "input": object{"path": "/PROJECT/shop/x", "contents": bulk}}, object{"type": "text", "text": prose}}}}),
	}, {
		src: transcript.OpenClaw{}, name: "agents/main/sessions/%d.jsonl", head: `{"type":"session","id":"s","cwd":"/PROJECT/shop"}` + "\n",
		turn: asJSON(b, message(object{"role": "user", "content": prose}), message(object{"role": "toolResult", "toolCallId": "t", "isError": false, "content": []any{object{"type": "text", "text": bulk}}}),
			message(object{"role": "assistant", "content": []any{object{"type": "text", "text": prose}}})),
	}, {
		src: transcript.Devin{}, name: "transcripts/%d.json", head: `{"schema_version":"ATIF-v1.7","session_id":"s","steps":[{}`, tail: "]}",
		turn: "," + asJSON(b, object{"source": "user", "message": prose}) + "," +
			asJSON(b, object{"source": "agent", "message": prose, "observation": object{"results": []any{object{"content": bulk}}}}),
	}} {
		root, bytes := b.TempDir(), int64(0)
		stores := []transcript.Store{}
		for i := range 20 {
			s := transcript.Store{Source: c.src.Name(), Root: root, Name: fmt.Sprintf(c.name, i), Note: c.note}
			text := c.head + strings.Repeat(c.turn, (1<<20)/len(c.turn)) + c.tail
			if err := os.MkdirAll(filepath.Dir(s.Path()), 0o700); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			stores, bytes = append(stores, s), bytes+int64(len(text))
		}
		clean := redact.New()
		b.Run(c.src.Name(), func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				for _, s := range stores {
					r := &transcript.Reading{Clean: clean, Each: func(transcript.Transcript) error { return nil }}
					if err := c.src.Read(b.Context(), s, r); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(c.src.Name()+"-lines", func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				for _, s := range stores {
					split(b, s.Path())
				}
			}
		})
	}
}

// split reads a file line by line.
func split(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	in := bufio.NewReaderSize(f, 64<<10)
	for err == nil {
		_, err = in.ReadSlice('\n')
		if err == bufio.ErrBufferFull { //nolint:errorlint // it is returned as it is
			err = nil
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
