package transcript_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// BenchmarkClaude reads sessions of together 20 MB.
func BenchmarkClaude(b *testing.B) {
	home := b.TempDir()
	if _, err := transcripttest.Generate(home, 20, 20<<20, 1); err != nil {
		b.Fatal(err)
	}
	stores, err := transcript.Claude{}.Stores(b.Context(), transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(20 << 20)
	for b.Loop() {
		for _, s := range stores {
			r := &transcript.Reading{Clean: redact.New(), Each: func(transcript.Transcript) error { return nil }}
			if err := (transcript.Claude{}).Read(b.Context(), s, r); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkValid tells what the check of each line costs by itself.
func BenchmarkValid(b *testing.B) {
	line := []byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":"` + string(make([]byte, 0)) + longText() + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !gjson.ValidBytes(line) {
			b.Fatal("not valid")
		}
	}
}

func longText() string {
	text := ""
	for range 500 {
		text += `the order of \"dates\" is written as a total\n`
	}
	return text
}
