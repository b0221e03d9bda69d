package header

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Body is a JSON object that somebody else has written and that is sent on as it
// came, but for single members.
type Body struct {
	raw []byte
	err error
}

// NewBody returns raw, which is not changed.
func NewBody(raw []byte) *Body { return &Body{raw: raw} }

// Has reports whether there is something at a path of names with dots between.
func (b *Body) Has(path string) bool { return gjson.GetBytes(b.raw, path).Exists() }

// Int returns the number at a path, 0 if there is none.
func (b *Body) Int(path string) int { return int(gjson.GetBytes(b.raw, path).Int()) }

// Set puts a value at a path.
func (b *Body) Set(path string, v any) {
	if b.err == nil {
		b.raw, b.err = sjson.SetBytes(b.raw, path, v)
	}
}

// Drop takes away what is at the paths.
func (b *Body) Drop(paths ...string) {
	for _, path := range paths {
		if b.err == nil && b.Has(path) {
			b.raw, b.err = sjson.DeleteBytes(b.raw, path)
		}
	}
}

// Bytes returns the object with its changes.
func (b *Body) Bytes() ([]byte, error) {
	if b.err != nil {
		return nil, fmt.Errorf("set a field of the request: %w", b.err)
	}
	return b.raw, nil
}
