package gateway

import (
	"bytes"
	"io"
)

// unasked passes on the events of Chat Completions, but for the one with the counts
// alone: a server is always asked for it, since what a call costs is known by no other
// means, and an agent that did not ask for it takes the first choice of every event.
type unasked struct {
	to   io.Writer
	part []byte // of an event whose end is yet to come
}

// maxHeldEvent bounds how many bytes of an event wait for its end. Counts are far smaller.
const maxHeldEvent = 64 << 10

// Write implements io.Writer. What is whole is passed on at once.
func (u *unasked) Write(b []byte) (int, error) {
	seen := max(0, len(u.part)-len("\n\r")) // no event ends before
	u.part = append(u.part, b...)
	n := eventsEnd(u.part, seen)
	if n == 0 && len(u.part) > maxHeldEvent {
		n = len(u.part)
	}
	if n == 0 {
		return len(b), nil
	}
	var out []byte
	for events := u.part[:n]; len(events) > 0; {
		one := events[:eventEnd(events)]
		if !countsAlone(one) {
			out = append(out, one...)
		}
		events = events[len(one):]
	}
	u.part = append([]byte(nil), u.part[n:]...)
	if len(out) == 0 {
		return len(b), nil
	}
	_, err := u.to.Write(out)
	return len(b), err
}

// end passes on what has no end.
func (u *unasked) end() {
	if len(u.part) > 0 && !countsAlone(u.part) {
		_, _ = u.to.Write(u.part) // the stream is over: no one can be notified
	}
	u.part = nil
}

// eventEnd returns where the first event of b ends: after its empty line, or with b.
func eventEnd(b []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return len(b)
		}
		line := bytes.TrimSuffix(b[at:at+n], []byte("\r"))
		if at += n + 1; len(line) == 0 {
			return at
		}
	}
}

// eventsEnd returns where the last event of b ends that ends after from, 0 if there is none.
func eventsEnd(b []byte, from int) int {
	end := 0
	for _, mark := range []string{"\n\n", "\n\r\n"} {
		if at := bytes.LastIndex(b[from:], []byte(mark)); at >= 0 {
			end = max(end, from+at+len(mark))
		}
	}
	return end
}

// countsAlone reports whether an event has counts and no choice.
func countsAlone(event []byte) bool {
	var data []byte
	for line := range bytes.Lines(event) {
		if v, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			data = append(data, v...)
		}
	}
	if !bytes.Contains(data, []byte(`"usage"`)) {
		return false
	}
	n, err := parseJSON(bytes.TrimSpace(data))
	return err == nil && n.get("usage").isObject() && n.get("choices").isList() && len(n.get("choices").kids) == 0
}
