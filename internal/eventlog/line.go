package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
)

// Line is one event of the log. JSON is its wire form on one line, without a newline, with
// its number "n" as the first field.
type Line struct {
	N    int64
	JSON []byte
}

// Kinds of events that the log handles in a way of their own.
const (
	kindOutcome = "outcome"
	kindStage   = "stage_started"
	kindRunDone = "run_done"
)

// isFleeting reports whether events of a kind only say how things are: of several that come close
// together the last one is enough.
func isFleeting(kind string) bool { return kind == "progress" || kind == "in_flight" }

// ofSession events belong to the session that sends them: a resumed run has its own.
func ofSession(kind string) bool {
	switch kind {
	case "run_started", kindRunDone, "refusals", "waiting", "steered":
		return true
	}
	return isFleeting(kind)
}

// urgent events are written at once: somebody may wait for them, or the process end.
func urgent(kind string) bool {
	switch kind {
	case "run_started", kindRunDone, "step_done", "candidate_judged", "epoch_done", "stopped", "test_done", "certificate", "compared", "steered":
		return true
	}
	return false
}

// testDone is event.TestDone in the log, where "n" is the number of the line.
type testDone struct {
	Arm   string  `json:"arm"`
	Hard  float64 `json:"hard"`
	Soft  float64 `json:"soft"`
	Tasks int     `json:"tasks"`
}

func (testDone) Kind() string { return event.TestDone{}.Kind() }

// toLogEvent returns the form of an event in the log: its own, unless a field of it has the name of
// a field of lines.
func toLogEvent(e event.Event) event.Event {
	if done, ok := e.(event.TestDone); ok {
		return testDone{Arm: done.Arm, Hard: done.Hard, Soft: done.Soft, Tasks: done.N}
	}
	return e
}

// appendLine appends a line: a number, an event in its wire form and a newline.
func appendLine(dst []byte, n int64, wire []byte) []byte {
	dst = append(dst, `{"n":`...)
	dst = strconv.AppendInt(dst, n, 10)
	dst = append(dst, ',')
	dst = append(dst, wire[1:]...)
	return append(dst, '\n')
}

// parseNumber returns the number of a line and what follows the comma after it.
func parseNumber(line []byte) (n int64, rest []byte, ok bool) {
	digits, ok := bytes.CutPrefix(line, []byte(`{"n":`))
	if !ok {
		return 0, nil, false
	}
	end := bytes.IndexByte(digits, ',')
	if end < 1 || end > 19 {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(string(digits[:end]), 10, 64)
	return n, digits[end+1:], err == nil && n > 0
}

// content takes the wire form of an event apart, behind its opening brace: its kind, and
// what it says apart from the time.
func content(fields []byte) (kind string, says []byte, ok bool) {
	rest, ok := bytes.CutPrefix(fields, []byte(`"event":"`))
	if !ok {
		return "", nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", nil, false
	}
	kind = string(rest[:end])
	rest, ok = bytes.CutPrefix(rest[end+1:], []byte(`,"time":"`))
	if !ok {
		return "", nil, false
	}
	end = bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", nil, false
	}
	return kind, rest[end+1:], true
}

// sum returns the number by which an event is known again, whenever it is sent.
func sum(kind string, says []byte) uint64 {
	h := sha256.New()
	h.Write([]byte(kind))
	h.Write(says)
	var out [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(out[:0]))
}

// short is what is kept of an outcome in a segment that is no longer whole.
type short struct {
	N      int64    `json:"n"`
	Row    int64    `json:"row"`
	Status string   `json:"status,omitempty"` // missing: ok
	Hard   *float64 `json:"hard"`
	Soft   *float64 `json:"soft"`
}

// States of outcomes.
const (
	statusOK         = "ok"
	statusUnmeasured = "unmeasured"
)

// shortenLine returns a line as it is in a segment that is no longer whole: the line itself, unless
// it is an outcome that was made of an entry of the record.
func shortenLine(n int64, fields, line []byte) []byte {
	kind, _, ok := content(fields)
	if !ok || kind != kindOutcome {
		return line
	}
	var s short
	if err := json.Unmarshal(line, &s); err != nil || s.Row == 0 || s.Status == statusUnmeasured {
		return line
	}
	if s.N = n; s.Status == statusOK {
		s.Status = ""
	}
	out, err := json.Marshal(s)
	if err != nil {
		return line
	}
	return out
}

// parseRow returns the row of a shortened line.
func parseRow(fields []byte) (row int64, ok bool) {
	digits, ok := bytes.CutPrefix(fields, []byte(`"row":`))
	if !ok {
		return 0, false
	}
	end := bytes.IndexByte(digits, ',')
	if end < 1 {
		return 0, false
	}
	row, err := strconv.ParseInt(string(digits[:end]), 10, 64)
	return row, err == nil && row > 0
}

// restoreLine returns the outcome of a shortened line. known is what the record says of it.
func restoreLine(line []byte, known event.OutcomeDone, at time.Time) ([]byte, error) {
	var s short
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	known.Row, known.Hard, known.Soft, known.Status = s.Row, s.Hard, s.Soft, s.Status
	if known.Status == "" {
		known.Status = statusOK
	}
	wire, err := event.Marshal(known, at)
	if err != nil {
		return nil, err
	}
	whole := appendLine(nil, s.N, wire)
	return whole[:len(whole)-1], nil
}
