package transcript_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// Sessions with outputs of tools of 20 KB beside short words, as agents write them; the
// figure is a multiple of the time of splitting the same bytes into lines.
func BenchmarkGemini(b *testing.B) {
	out := strings.Repeat("a line of an output of a tool\\n", 700)
	var lines []string
	for i := range 400 {
		n := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		lines = append(lines, geminiUser("u"+n, "Do it "+n, ""), geminiAgent("g"+n, "Done.", geminiModel+`,"toolCalls":[{"id":"c","name":"run_shell_command","status":"success","args":{"command":"ls"},"result":[{"functionResponse":{"response":{"output":"`+out+`"}}}]}]`))
	}
	benchmark(b, transcript.Gemini{}, geminiSay(lines...), geminiFile)
}

func BenchmarkQwen(b *testing.B) {
	out := strings.Repeat("a line of an output of a tool\\n", 700)
	var file strings.Builder
	for range 400 {
		file.WriteString(qwenSay(qwenUser("Do it", ""), qwenAgent("Done."), `"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c","response":{"output":"`+out+`"}}}]},"toolCallResult":{"callId":"c","status":"success"}`)[qwenFile])
	}
	benchmark(b, transcript.Qwen{}, map[string]string{qwenFile: file.String()}, qwenFile)
}

func benchmark(b *testing.B, source transcript.Source, files map[string]string, name string) {
	home := b.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	stores, err := source.Stores(b.Context(), transcripttest.Case{Source: source}.Places(home))
	if err != nil || len(stores) != 1 {
		b.Fatal(stores, err)
	}
	clean := redact.New()
	const rounds = 20
	begin := time.Now()
	for range rounds {
		data, err := os.ReadFile(stores[0].Path())
		if err != nil {
			b.Fatal(err)
		}
		in := bufio.NewScanner(bytes.NewReader(data))
		in.Buffer(nil, 1<<20)
		for in.Scan() {
		}
	}
	split := float64(time.Since(begin).Nanoseconds()) / rounds
	b.SetBytes(int64(len(files[name])))
	for b.Loop() {
		r := &transcript.Reading{Clean: clean, Temp: b.TempDir(), Each: func(transcript.Transcript) error { return nil }}
		if err := source.Read(b.Context(), stores[0], r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/split, "x-lines")
}
