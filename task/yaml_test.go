package task

import (
	"context"
	"testing"
)

// FuzzYAML goes past the file's kind and the lint, for speed: no crash, and
// every item has a line.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"tasks:\n- &x {prompt: p, gold: g}\n- <<: *x\n  id: !!str 1\n", "- prompt: |\n    a\n  gold: 0x1F\n  n: .inf\n", "? a\n: b\n",
		"%YAML 1.2\n---\na: >-\n  x\n...\n", "[a, {b: c}, \"d\\n\", 'e']", "!!binary x", "a: !<tag:x> {}\n- b", " - \t\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := yamlItemsOf(data)
		if err != nil {
			return
		}
		for _, it := range items {
			if it.Line < 1 {
				t.Fatalf("line %d", it.Line)
			}
		}
	})
}

func yamlItemsOf(data []byte) (list []Item, err error) {
	err = eachYAML(context.Background(), data, func(it Item) { list = append(list, it) })
	return list, err
}
