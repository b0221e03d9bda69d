package transcript_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// A file of nothing but turns and skills takes no more memory than what is kept of it.
func TestEndlessSessionsAreBounded(t *testing.T) {
	var b strings.Builder
	for n := range 30_000 {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%d","timestamp":"2026-11-22T08:00:00Z","cwd":"/p","message":{"content":"w"}}`+"\n", n)
		if n%3 == 0 {
			fmt.Fprintf(&b, `{"type":"assistant","attributionSkill":"s%d","message":{"content":[]}}`+"\n", n)
		}
	}
	home := claudeHome(t, map[string]string{"a.jsonl": b.String()})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got, problems := readClaude(t, home)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(got) != 1 || len(got[0].Turns) != transcript.MaxTurns || len(problems) != 1 {
		t.Fatalf("%d sessions, %v", len(got), problems)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("%d MB are kept", grown>>20)
	}
}
