package check

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// TestSchemasThatCannotBeUsed: what the validator takes without a word would fail
// every answer, end the process, or go out to the network.
func TestSchemasThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, want string }{
		{`{$ref: "#"}`, "#: it refers to itself"},
		{`{allOf: [{$ref: "#"}]}`, "#: it refers to itself"},
		{`{properties: {a: {$ref: "#/$defs/x"}}, $defs: {x: {anyOf: [true, {$ref: "#/$defs/y"}]}, y: {not: {$ref: "#/$defs/x"}}}}`, "it refers to itself"},
		{`{properties: {a/b: {$ref: "#/properties/a~1b"}}}`, "#/properties/a~1b: it refers to itself"},
		{`{$anchor: top, if: {$dynamicRef: "#top"}}`, "it refers to itself"},
		{`{$id: "https://example.com/s", oneOf: [{$ref: "https://example.com/s"}]}`, "it refers to itself"},
		{`{$schema: "http://json-schema.org/draft-04/schema#", type: object}`, `$schema: found the text "http://json-schema.org/draft-04/schema#", allowed: https://json-schema.org/draft/2020-12/schema, http://`},
		{`{properties: {a: {type: int}}}`, `#/properties/a/type: found the text "int", allowed: object, array`},
		{`{type: [string, nil]}`, `#/type: found the text "nil"`},
		{`{type: true}`, "#/type: found true"},
		{`{properties: {price: {multipleOf: 0.01}}}`, "#/properties/price/multipleOf: found 0.01, allowed: a whole number, or a fraction such as 0.5"},
		{`{$ref: "https://example.com/other.json"}`, "other documents are not fetched: put the schema under $defs"},
		{`{$ref: "file:///etc/passwd"}`, "other documents are not fetched"},
		{`{items: {$ref: "other.json#/a"}}`, "other documents are not fetched"},
	}
	for _, tt := range tests {
		_, err := Compile(fromYAML(t, "{type: json-schema, schema: "+tt.schema+"}"), Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "checks[0].schema: ") {
			t.Errorf("%s:\n got %v\nwant %s", tt.schema, err, tt.want)
		}
	}
}

// TestSchemasThatCanBeUsed: none of these goes round for ever.
func TestSchemasThatCanBeUsed(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, fits, not string }{
		{`{type: object, properties: {next: {$ref: "#"}}}`, `{"next":{"next":{}}}`, `{"next":{"next":1}}`},
		{`{$ref: "#/$defs/list", $defs: {list: {type: array, items: {$ref: "#/$defs/list"}}}}`, `[[],[[]]]`, `[[1]]`},
		{`{allOf: [{$ref: "#/$defs/n"}, {$ref: "#/$defs/n"}], $defs: {n: {type: integer}}}`, "1e2", "1.5"},
		{`{properties: {type: true, $ref: {type: string}}, dependentRequired: {type: [x]}}`, `{"type":1,"x":2}`, `{"$ref":1}`},
		{`{const: 9007199254740993}`, "9007199254740993", "9007199254740992"},
		{`{enum: [1234567890123456789, x, 0.1, null]}`, "1234567890123456789", "1234567890123456788"},
		{`{enum: [1234567890123456789, x, 0.1, null]}`, "0.1", "0.2"},
		{`{const: null}`, "null", "0"},
		{`{const: 5}`, "5.0", "6"},
		{`{properties: {a/b: {items: {anyOf: [{const: {id: 1234567890123456789}}]}}}}`, `{"a/b":[{"id":1234567890123456789}]}`, `{"a/b":[{"id":1234567890123456788}]}`},
		{`{prefixItems: [{const: 9007199254740993}], $defs: {n: {const: 9007199254740993}}, additionalProperties: {$ref: "#/$defs/n"}}`, `{"x":9007199254740993}`, "[9007199254740992]"},
		{`{multipleOf: 0.25}`, "0.75", "0.7"},
		{`{multipleOf: 3}`, "6", "7"},
		{`{const: {$ref: "#", type: odd}}`, `{"$ref":"#","type":"odd"}`, `{}`},
		{`{$schema: "http://json-schema.org/draft-07/schema#", definitions: {n: {type: number}}, items: {$ref: "#/definitions/n"}}`, "[1]", `["1"]`},
	}
	for _, tt := range tests {
		s := suite(t, "{type: json-schema, schema: "+tt.schema+"}", Options{})
		if got := s.Score(tt.fits, task.Task{}); got.Hard != 1 {
			t.Errorf("%s does not take %s: %+v", tt.schema, tt.fits, got)
		}
		if got := s.Score(tt.not, task.Task{}); got.Hard != 0 {
			t.Errorf("%s takes %s", tt.schema, tt.not)
		}
	}
}
