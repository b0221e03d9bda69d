package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestChunksAreTheWhole: a list that is read in chunks is the list that is read whole.
func TestChunksAreTheWhole(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x", chunkSize/2)
	entries := []string{
		"- a: 1\n  b: two\n", "- - x\n  - y\n", "- - x\n", "-\n  a: 1\n", "- plain\n", "- |\n  text\n\n\n", "- a: |\n    text\n\n    - no entry\n\n\n", "- a: |+\n    kept\n\n\n",
		"- a: >-\n    one\n    two\n\n", "# between\n", "  # to the right\n", "\n", "- &x%d {a: 1}\n", "- &x {a: 2}\n", "- *x\n", "- <<: *x\n  b: 3\n", "- \"a\n  b\"\n", "- 'it\n\n  is'\n", "- [a,\n  b]\n",
		"- !!str 1\n", "- a: # says\n    - b\n", "- {a: 1} # after\n", "---\n", "...\n", "- ~\n", "- \n", "- a:\n  - b\n", "- ? k\n  : v\n", "tail: 1\n", "- a: " + filler + "\n", "- |\n  " + filler + "\n\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "---\n", "# c\n", "tasks:\n", "# c\n---\ntasks:\n"}).Draw(t, "head"))
		for i, e := range rapid.SliceOfN(rapid.SampledFrom(entries), 1, 12).Draw(t, "entries") {
			b.WriteString(strings.Replace(e, "%d", fmt.Sprint(i), 1))
			if rapid.Bool().Draw(t, "fill") {
				b.WriteString("- a: " + filler + "\n")
			}
		}
		text := b.String()
		crlf := rapid.Bool().Draw(t, "crlf")
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		var whole []Item
		r := &yamlReader{anchors: map[string]any{}}
		wholeErr := r.chunk(yamlChunk{text: []byte(text)}, func(it Item) { whole = append(whole, it) })
		chunks, err := yamlItemsOf([]byte(text))
		if wholeErr != nil {
			return // in chunks less is seen of what is wrong, and more is within the bounds
		}
		if crlf { // the library counts lines of comments twice
			for _, list := range [][]Item{chunks, whole} {
				for i := range list {
					list[i].Line = 0
				}
			}
		}
		short := strings.ReplaceAll(text, filler, "FILLER")
		if err != nil {
			t.Fatalf("in chunks: %v\n%s", err, short)
		}
		if got, want := shortJSON(t, chunks), shortJSON(t, whole); got != want {
			t.Fatalf("%s\nin chunks %s\nwhole    %s", short, strings.ReplaceAll(got, filler, "FILLER"), strings.ReplaceAll(want, filler, "FILLER"))
		}
	})
}

func shortJSON(t *rapid.T, list []Item) string {
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
