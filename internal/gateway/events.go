package gateway

import (
	"bytes"
	"encoding/json"
)

// events collects server-sent events until they are written.
type events struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// send adds one event; name may be "". The values are our own structures, which
// encoding/json cannot refuse, and raw JSON that was checked when it came.
func (e *events) send(name string, v any) {
	if e.enc == nil {
		e.enc = json.NewEncoder(&e.buf)
		e.enc.SetEscapeHTML(false)
	}
	if name != "" {
		e.buf.WriteString("event: " + name + "\n")
	}
	e.buf.WriteString("data: ")
	at := e.buf.Len()
	if err := e.enc.Encode(v); err != nil {
		e.buf.Truncate(at)
		e.buf.WriteString(`{"error":{"message":"the answer cannot be written"}}` + "\n")
	}
	e.buf.WriteByte('\n') // Encode ended the line
}

// raw adds bytes as they are.
func (e *events) raw(s string) { e.buf.WriteString(s) }

// document writes a value as JSON.
func document(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// object is a JSON object. Its members are written in the order of their names.
type object = map[string]any
