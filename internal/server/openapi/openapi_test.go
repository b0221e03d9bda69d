package openapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

type inner struct {
	A string `json:"a"`
	B int    `json:"b"`
}

type Node struct {
	inner

	B     float64         `json:"b"` // hides that of inner
	Next  *Node           `json:"next"`
	Maybe *int            `json:"maybe,omitempty"`
	Null  *int            `json:"null"`
	At    time.Time       `json:"at"`
	List  []inner         `json:"list"`
	Names map[string]bool `json:"names,omitempty"`
	Raw   json.RawMessage `json:"raw"`
	Bytes []byte          `json:"bytes"`
	Any   any             `json:"any"`
	Skip  string          `json:"-"`
	Plain bool
	own   int
}

// A document has each type as encoding/json writes it.
func TestDocument(t *testing.T) {
	t.Parallel()
	_ = Node{own: 1}
	text, err := Document(API{Title: "t", Version: "1", Prefix: "/p", Error: inner{}, Routes: []Route{
		{Method: "GET", Path: "/nodes/{id}", Summary: "s", Answer: Node{}, Query: []Parameter{{Name: "q", Kind: "integer", Many: true}}},
		{Method: "POST", Path: "/nodes/{id}", Body: inner{}, Open: true},
		{Method: "GET", Path: "/calls", Answer: record.Call{}, Others: []any{result.Calls{}, result.Summary{}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	want := m{
		"type": "object", "required": []any{"b", "next", "null", "at", "list", "raw", "bytes", "any", "Plain", "a"},
		"properties": m{
			"a": m{"type": "string"}, "b": m{"type": "number"}, "maybe": m{"type": "integer"}, "null": m{"type": []any{"integer", "null"}},
			"next": m{"anyOf": []any{m{"$ref": "#/components/schemas/Node"}, m{"type": "null"}}},
			"at":   m{"type": "string", "format": "date-time"}, "list": m{"type": "array", "items": m{"$ref": "#/components/schemas/inner"}},
			"names": m{"type": "object", "additionalProperties": m{"type": "boolean"}}, "raw": true, "bytes": m{"type": "string", "contentEncoding": "base64"}, "any": true, "Plain": m{"type": "boolean"},
		},
	}
	if diff := cmp.Diff(want, doc.Components.Schemas["Node"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if doc.OpenAPI != "3.1.0" || len(doc.Paths["/p/nodes/{id}"]) != 2 {
		t.Errorf("%s %v", doc.OpenAPI, doc.Paths)
	}
	if doc.Components.Schemas["Call"] == nil || doc.Components.Schemas["Calls"] == nil || doc.Components.Schemas["Summary"] == nil {
		t.Error("types are missing")
	}
	post, _ := doc.Paths["/p/nodes/{id}"]["post"].(m)
	if diff := cmp.Diff([]any{}, post["security"]); diff != "" {
		t.Error(diff)
	}
}
