package gateway

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// vendored is what encoding/json writes of a value, and of the members of objects.
func vendored(v any) (string, error) {
	var list []any
	brackets, names := "[]", []string(nil)
	switch v := v.(type) {
	case object:
		brackets = "{}"
		for _, m := range v {
			names, list = append(names, m.name), append(list, m.value)
		}
		if v == nil {
			return "null", nil
		}
	case []object:
		for _, o := range v {
			list = append(list, o)
		}
		if v == nil {
			return "null", nil
		}
	default:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return strings.TrimSuffix(buf.String(), "\n"), err
	}
	texts := make([]string, len(list))
	for i, inner := range list {
		value, err := vendored(inner)
		if err != nil {
			return "", err
		}
		if names != nil {
			name, _ := vendored(names[i])
			value = name + ":" + value
		}
		texts[i] = value
	}
	return brackets[:1] + strings.Join(texts, ",") + brackets[1:], nil
}

// drawnValue is a value as answers have them.
func drawnValue(t *rapid.T, depth int) any {
	kinds := []string{"string", "bytes", "int", "int64", "bool", "null", "raw", "float", "strings", "struct"}
	if depth > 0 {
		kinds = append(kinds, "object", "objects", "list")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "string":
		return rapid.String().Draw(t, "string")
	case "bytes":
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case "int":
		return rapid.Int().Draw(t, "int")
	case "int64":
		return rapid.Int64().Draw(t, "int64")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "raw":
		return rapid.SampledFrom([]json.RawMessage{json.RawMessage(`{ "a" : "<\u00e9>" }`), json.RawMessage(`[1, 2]`), nil, json.RawMessage(`{`)}).Draw(t, "raw")
	case "float":
		return rapid.Float64().Draw(t, "float")
	case "strings":
		return rapid.SliceOf(rapid.String()).Draw(t, "strings")
	case "struct":
		return struct {
			A string `json:"a,omitempty"`
			B any    `json:"b"`
		}{"<&>", object{{"c", "\u2028"}}}
	case "object":
		return drawnObject(t, depth-1)
	case "objects":
		return rapid.SampledFrom([][]object{nil, {}, {drawnObject(t, depth-1)}, {nil, drawnObject(t, depth-1)}}).Draw(t, "objects")
	case "list":
		return rapid.SampledFrom([][]any{nil, {}, {drawnValue(t, depth-1), drawnValue(t, depth-1)}}).Draw(t, "list")
	}
	return nil
}

func drawnObject(t *rapid.T, depth int) object {
	o := object{}
	for range rapid.IntRange(0, 20).Draw(t, "members") {
		o = append(o, member{rapid.StringN(0, 3, -1).Draw(t, "name"), drawnValue(t, depth)})
	}
	return o
}

// TestJSON: answers are written byte for byte as encoding/json writes them, and
// what it refuses is refused.
func TestJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawnValue(t, 2)
		want, wantErr := vendored(v)
		got, err := document(v)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%v, encoding/json says %v", err, wantErr)
		}
		if diff := cmp.Diff(want+"\n", string(got)); err == nil && diff != "" {
			t.Fatalf("%#v (-encoding/json +got):\n%s", v, diff)
		}
	})
}

func written(t *testing.T, v any) string {
	b, err := document(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// TestJSONBytes has every byte and the odd runes, alone and between others.
func TestJSONBytes(t *testing.T) {
	t.Parallel()
	odd := []string{"\u2028", "\u2029", "\ufffd", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98", "é", "\xc3", ""}
	for c := range 256 {
		odd = append(odd, string([]byte{byte(c)}))
	}
	for _, s := range odd {
		for _, s := range []string{s, "ab" + s, s + "yz", "ab" + s + "\x80" + s + "yz"} {
			want, err := vendored(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, s); got != want {
				t.Errorf("%q: %s, want %s", s, got, want)
			}
		}
	}
	var e events
	e.send("x", object{{"a", math.NaN()}})
	e.send("", object{{"a", "b"}})
	want := "event: x\ndata: {\"error\":{\"message\":\"the answer cannot be written\"}}\n\ndata: {\"a\":\"b\"}\n\n"
	if got := e.buf.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
