package wiring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowly finds the texts token by token, to compare with.
//
// frame is an object or a list that is being read.
type frame struct {
	object bool
	key    string // of the member whose value comes next
	named  bool   // key is read
	first  int    // of the leaves that are in it
}

func slowly(payload []byte) []*leaf {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	var leaves []*leaf
	var open []frame
	for {
		before := int(dec.InputOffset())
		t, err := dec.Token()
		if err != nil {
			return leaves
		}
		var top *frame
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		if s, ok := t.(string); ok && top != nil && top.object && !top.named {
			top.key, top.named = s, true
			continue
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				f := frame{object: v == '{', first: len(leaves)}
				if top != nil && v == '[' {
					f.key = top.key
				}
				open = append(open, f)
				continue
			}
			open = open[:len(open)-1]
		case string:
			if top != nil && v != "" {
				end := int(dec.InputOffset())
				begin := before + bytes.IndexByte(payload[before:end], '"')
				leaves = append(leaves, &leaf{at: span{begin, end}, channel: top.key, text: v, was: v})
			}
		case json.Number:
			if top != nil && strings.HasSuffix(top.key, "index") {
				for _, l := range leaves[top.first:] {
					l.channel += fmt.Sprint(" ", top.key, v)
				}
			}
		}
		if len(open) > 0 {
			open[len(open)-1].named = false
		}
	}
}

func described(leaves []*leaf) []string {
	var out []string
	for _, l := range leaves {
		out = append(out, fmt.Sprintf("%q %q %d %d", l.channel, l.text, l.at.begin, l.at.end))
	}
	return out
}

func TestTextsOfEvents(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		` {"choices":[{"delta":{"content":"a\\u0041\\/b"},"index":1},{"delta":{"content":"c"},"index":0}]}`,
		`{"type":"content_block_delta","index":2,"delta":{"text":"x","list":["a","b",["c"]]}}`,
		"\t[\"a\", {\"b\": \"c\", \"output_index\": 7, \"d\": {}}]\n", `"text"`, `7`, `null`, `{}`, `{"a":""}`,
	} {
		if diff := cmp.Diff(described(slowly([]byte(event))), described(textsIn([]byte(event)))); diff != "" {
			t.Errorf("%s:\n%s", event, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		event, err := json.Marshal(anyEvent(4).Draw(t, "event"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(described(slowly(event)), described(textsIn(event))); diff != "" {
			t.Errorf("%s:\n%s", event, diff)
		}
	})
}

func anyEvent(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(0, 9), func(i int) any { return i }),
		rapid.Just[any](nil), rapid.Just[any](true),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	name := rapid.OneOf(rapid.SampledFrom([]string{"index", "output_index", "text"}), rapid.String())
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(anyEvent(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(name, anyEvent(depth-1), 0, 4), func(m map[string]any) any { return m }),
	)...)
}
