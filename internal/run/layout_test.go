package run

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLaidOut(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    any
		want string
	}{
		{"null", nil, "null\n"},
		{"a number", 1.5, "1.5\n"},
		{"an empty list", []int{}, "[]\n"},
		{"an empty map in a list", []any{map[string]int{}}, "[\n  {}\n]\n"},
		{
			"records", []any{map[string]any{"id": "a", "turns": []any{map[string]any{"role": "user", "n": 1}, true}}},
			"[\n  {\n    \"id\": \"a\",\n    \"turns\": [{\"n\": 1, \"role\": \"user\"}, true]\n  }\n]\n",
		},
		{
			"records by name", map[string]any{"best": []any{map[string]any{"id": "a"}, map[string]any{"id": "b"}}, "seed": nil},
			"{\n  \"best\": [\n    {\"id\": \"a\"},\n    {\"id\": \"b\"}\n  ],\n  \"seed\": null\n}\n",
		},
		{"what looks like structure in a string", []string{`a\"},{[:`, `\`, `\\"`}, "[\n  \"a\\\\\\\"},{[:\",\n  \"\\\\\",\n  \"\\\\\\\\\\\"\"\n]\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := laidOut("x.json", tc.v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("layout (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaidOutNamesTheFile(t *testing.T) {
	_, err := laidOut("x.json", func() {})
	if err == nil || !strings.HasPrefix(err.Error(), "encode x.json: ") {
		t.Errorf("error = %v", err)
	}
}

// TestLaidOutAddsOnlySpace: without its white space the file is what the
// encoder of the standard library wrote.
func TestLaidOutAddsOnlySpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "v")
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := laidOut("x.json", v)
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, got); err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		if diff := cmp.Diff(string(want), compact.String()); diff != "" {
			t.Errorf("content (-want +got):\n%s", diff)
		}
	})
}

// value draws anything that JSON holds, nested at most depth levels.
func value(depth int) *rapid.Generator[any] {
	plain := rapid.OneOf(
		rapid.String().AsAny(), rapid.StringMatching(`[\\"{}\[\]:, ]*`).AsAny(),
		rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
	)
	if depth == 0 {
		return plain
	}
	return rapid.OneOf(
		plain,
		rapid.SliceOfN(value(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).AsAny(),
	)
}

// BenchmarkLaidOut prints the rate beside that of the standard library's layout.
func BenchmarkLaidOut(b *testing.B) {
	records := make([]map[string]any, 400)
	for i := range records {
		records[i] = map[string]any{
			"id": "item", "hard": 1, "question": strings.Repeat("words and ", 60),
			"turns": []map[string]any{{"role": "assistant", "content": `<answer>"x"</answer>`}},
		}
	}
	for name, encode := range map[string]func() ([]byte, error){
		"ours":     func() ([]byte, error) { return laidOut("x.json", records) },
		"standard": func() ([]byte, error) { return json.MarshalIndent(records, "", "  ") },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				data, err := encode()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(data)))
			}
		})
	}
}
