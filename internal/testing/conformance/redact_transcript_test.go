package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// TestTrap44RedactionOfTranscripts reads a session whose turns are the recorded texts, and the
// recorded data as JSON: what is kept is what the redaction makes of them, which TestRedaction
// compares with the reference, and stays as it is when it is redacted once more.
func TestTrap44RedactionOfTranscripts(t *testing.T) {
	t.Parallel()
	texts := []string{"Server=db;Password={top;secret};Database=app", `token="x`, "retry(token=x)", "token budget exceeded", "max_tokens: 512"}
	for _, family := range []string{"redaction", "redact_value"} {
		for _, v := range load(t, family) {
			for _, in := range v.in {
				text, ok := in.(string)
				if !ok {
					data, err := json.Marshal(in)
					if err != nil {
						t.Fatal(err)
					}
					text = string(data)
				}
				if strings.TrimSpace(wording.Plain(text)) != "" {
					texts = append(texts, text)
				}
			}
		}
	}
	got := readTexts(t, texts)
	if len(got) != len(texts) || len(texts) < 250 {
		t.Fatalf("%d turns of %d texts", len(got), len(texts))
	}
	r, masked := redact.New(), 0
	for i, text := range texts {
		want := r.Text(wording.Plain(strings.TrimSpace(text)))
		if got[i] != want {
			t.Errorf("%q is kept as\n%q, want\n%q", text, got[i], want)
		}
		if again := r.Text(got[i]); again != got[i] {
			t.Errorf("%q changes when it is redacted again: %q", got[i], again)
		}
		if got[i] != text {
			masked++
		}
	}
	t.Logf("%d texts, %d of them not kept as they are", len(texts), masked)
}

// readTexts are the users' words of a session of these texts.
func readTexts(t *testing.T, texts []string) (out []string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString(`{"type":"session","id":"s","project":"/p"}` + "\n")
	for i, text := range texts {
		data, err := json.Marshal(map[string]any{"type": "user", "id": string(rune('a'+i%26)) + strings.Repeat("x", i/26), "text": text, "time": "2026-11-22T08:00:00Z"})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &transcript.Reading{Clean: redact.New(), Each: func(tr transcript.Transcript) error {
		for i := range tr.Turns {
			out = append(out, tr.Turns[i].User)
		}
		return nil
	}}
	if err := (transcript.JSONL{}).Read(t.Context(), transcript.Store{Source: "jsonl", Root: dir, Name: "s.jsonl"}, r); err != nil {
		t.Fatal(err)
	}
	return out
}
