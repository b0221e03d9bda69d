package yamlx

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Ordered is a mapping that is written in its order.
type Ordered = yaml.MapSlice

// Entry is a key of an Ordered mapping and its value.
type Entry = yaml.MapItem

// Encode writes a value as a text: with two spaces a level, and text of several lines
// in block style.
func Encode(v any) ([]byte, error) {
	return yaml.MarshalWithOptions(v, yaml.Indent(2), yaml.UseLiteralStyleIfMultiline(true), floats())
}

// floats writes numbers with an exponent so that the library reads them as numbers: of 1e-09 it makes text.
func floats() yaml.EncodeOption {
	return yaml.CustomMarshaler(func(v float64) ([]byte, error) {
		text, err := yaml.Marshal(v)
		if mantissa, exponent, ok := strings.Cut(strings.TrimSpace(string(text)), "e"); ok && err == nil && !strings.Contains(mantissa, ".") {
			return []byte(mantissa + ".0e" + exponent), nil
		}
		return bytes.TrimSpace(text), err
	})
}

// Fill fills the struct that v points to from plain values. A key that it has no field
// for is an error, which quotes the values: they have been read and are no secret.
func Fill(v any, values map[string]any) error {
	text, err := yaml.Marshal(values)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return yaml.UnmarshalWithOptions(text, v, yaml.Strict())
}
