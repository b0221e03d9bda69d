package rollout

import (
	"strings"
	"testing"
	"unsafe"
)

// The prompt of a task is one text in memory, however often it is rendered, while what
// is kept is bounded.
func TestPromptsAreKeptOnce(t *testing.T) {
	t.Parallel()
	var k kept
	text := func(word string) string { return strings.Repeat(word, 1000) }
	first := k.one("a", text("x"))
	if again := k.one("a", text("x")); unsafe.StringData(again) != unsafe.StringData(first) {
		t.Error("the same prompt is there twice")
	}
	if other := k.one("a", text("y")); other != text("y") || k.bytes != 1000 {
		t.Errorf("another prompt of the task is %q..., %d bytes are kept", other[:1], k.bytes)
	}
	for i := range 100 {
		k.one(strings.Repeat("b", i), strings.Repeat("z", keptPrompts/10))
		if k.bytes > keptPrompts {
			t.Fatalf("%d bytes are kept", k.bytes)
		}
	}
}
