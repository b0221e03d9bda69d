package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// completed is what a shell is offered for a command line.
func completed(dir string, args ...string) (words []string, code int, errs string) {
	var out, err bytes.Buffer
	code = Main(context.Background(), append([]string{"__completeNoDesc"}, args...), Streams{In: strings.NewReader(""), Out: &out, Err: &err, Dir: dir}, "test")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:max(0, len(lines)-1)], code, err.String()
}

func completionDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"runs/a-1", "runs/a-2", "runs/no-run", "runs/bad\x1bname", "runs/$(x)", "outside/a-9"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "runs/no-run" {
			writeFile(t, filepath.Join(dir, name, "manifest.json"), "{}")
		}
	}
	_ = os.Symlink(filepath.Join(dir, "outside", "a-9"), filepath.Join(dir, "runs", "a-9"))
	writeFile(t, filepath.Join(dir, "config.yaml"), "tasks: tasks.jsonl\n")
	writeFile(t, filepath.Join(dir, "tasks.jsonl"), `{"id":"t-1","type":"total","prompt":"p"}`+"\n"+`{"id":"t-2","type":"sum","prompt":"q"}`+"\n"+`{"id":"t; rm","type":"total","prompt":"r"}`+"\n")
	return dir
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := completionDir(t)
	for _, tt := range []struct {
		line string // words; the last one is what was begun, _ is nothing
		want string // the answers, or those that have to be among them
		all  bool
	}{
		{"runs show _", "runs/a-1 runs/a-2", true},
		{"runs diff runs/a-1 runs/a-", "runs/a-1 runs/a-2", true},
		{"runs tasks _", "runs/a-1 runs/a-2", true},
		{"eval . --split _", "all selection test train", true},
		{"eval . --task _", "t-1 t-2", true},
		{"eval nothing --task _", "", true},
		{"eval . --type _", "sum total", true},
		{"try . --type t", "total", true},
		{"runs tasks runs/a-1 --type _", "", true},
		{"rescore _", "runs/a-1 runs/a-2", true},
		{"runs rm runs/a-1 _", "runs/a-1 runs/a-2", true},
		{"runs watch _", "runs/a-1 runs/a-2", true},
		{"train . --continue _", "runs/a-1 runs/a-2", true},
		{"runs list --status k", "killed", true},
		{"train . --set gate.mod", "gate.mode=", true},
		{"train . --set gate.mode=", "gate.mode=observe gate.mode=off gate.mode=strict", true},
		{"train . --set edits.tidy=", "edits.tidy=false edits.tidy=true", true},
		{"train --target openai/", "openai/ openai/gpt-5", false},
		{"config explain edits.bu", "edits.budget", true},
		{"runs diff --color _", "always auto never", true},
	} {
		args := strings.Fields(tt.line)
		if args[len(args)-1] == "_" {
			args[len(args)-1] = ""
		}
		got, code, _ := completed(dir, args...)
		want := strings.Fields(tt.want)
		missing := slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) })
		if code != 0 || missing || tt.all && !slices.Equal(got, want) {
			t.Errorf("%s: exit code %d, offered %q, want %q", tt.line, code, got, want)
		}
	}
}

// Whatever the line says, an answer is no error, and nothing in it steers a terminal.
func TestCompletionNeverFails(t *testing.T) {
	t.Parallel()
	dir := completionDir(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"runs", "show", "task", "train", "--set", "--task", "config", "explain", ".", "../..", "/etc/passwd", "gate.mode=", "\x1b[2J", "-"}), rapid.String())
		args := rapid.SliceOfN(word, 1, 4).Draw(t, "line")
		if args[0] == "" || strings.HasPrefix(args[0], "-") {
			args[0] = "runs"
		}
		words, code, _ := completed(dir, append(args, "")...)
		if out := strings.Join(words, "\n"); code != 0 && code != exitInput || strings.ContainsAny(out, "\x1b") {
			t.Fatalf("exit code %d, %q", code, words)
		}
	})
}

func BenchmarkCompletionOfRuns(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		path := filepath.Join(dir, "runs", fmt.Sprintf("r-%d", i))
		if err := os.MkdirAll(path, 0o755); err != nil {
			b.Fatal(err)
		}
		writeFile(b, filepath.Join(path, "manifest.json"), "{}")
	}
	for b.Loop() {
		if words, _, _ := completed(dir, "runs", "show", ""); len(words) != 1000 {
			b.Fatal(len(words))
		}
	}
}
