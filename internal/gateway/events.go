package gateway

import "bytes"

// events collects server-sent events until they are written.
type events struct{ buf bytes.Buffer }

// send adds one event; name may be "". The values are our own structures, which
// can be written, and raw JSON that was checked when it came.
func (e *events) send(name string, v any) {
	if name != "" {
		e.buf.WriteString("event: " + name + "\n")
	}
	b, err := document(v)
	if err != nil {
		b = []byte("{\"error\":{\"message\":\"the answer cannot be written\"}}\n")
	}
	e.buf.WriteString("data: ")
	e.buf.Write(b)
	e.buf.WriteByte('\n')
}

// raw adds bytes as they are.
func (e *events) raw(s string) { e.buf.WriteString(s) }
