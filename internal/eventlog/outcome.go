package eventlog

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
)

// appendOutcome appends what event.Marshal returns of an outcome: one comes with every
// answer, and reflection would take several times as long.
func appendOutcome(b []byte, o *event.OutcomeDone, at time.Time) (_ []byte, err error) {
	b = append(b, `{"event":"outcome","time":"`...)
	b = at.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	b = appendInt(b, "row", o.Row, true)
	b = appendText(b, "key", o.Key, false)
	b = appendInt(b, "epoch", int64(o.Epoch), true)
	b = appendInt(b, "step", int64(o.Step), false)
	b = appendText(b, "stage", o.Stage, false)
	b = appendText(b, "arm", o.Arm, true)
	b = appendText(b, "task", o.Task, false)
	b = appendInt(b, "sample", int64(o.Sample), false)
	b = appendText(b, "status", o.Status, false)
	if b, err = appendScore(b, "hard", o.Hard); err != nil {
		return b, err
	}
	if b, err = appendScore(b, "soft", o.Soft); err != nil {
		return b, err
	}
	b = appendText(b, "fail_reason", o.Reason, true)
	if o.Seconds != 0 {
		if b, err = appendScore(b, "seconds", &o.Seconds); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

// appendInt appends a field; one that may be missing is, if it is 0.
func appendInt(b []byte, name string, v int64, optional bool) []byte {
	if optional && v == 0 {
		return b
	}
	return strconv.AppendInt(appendName(b, name), v, 10)
}

// appendText appends a field; one that may be missing is, if it is empty.
func appendText(b []byte, name, v string, optional bool) []byte {
	if optional && v == "" {
		return b
	}
	b = appendName(b, name)
	if !plainText(v) {
		quoted, _ := json.Marshal(v) // a text
		return append(b, quoted...)
	}
	b = append(b, '"')
	b = append(b, v...)
	return append(b, '"')
}

// plainText reports whether JSON writes a text unchanged.
func plainText(v string) bool {
	for i := range len(v) {
		switch c := v[i]; {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func appendScore(b []byte, name string, v *float64) ([]byte, error) {
	b = appendName(b, name)
	switch {
	case v == nil:
		return append(b, "null"...), nil
	case *v == 1, *v == 0 && !math.Signbit(*v):
		return strconv.AppendInt(b, int64(*v), 10), nil
	}
	text, err := json.Marshal(*v)
	return append(b, text...), err
}
