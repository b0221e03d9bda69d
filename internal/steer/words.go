package steer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/result"
)

// words returns what happened to a request, in words.
func words(s result.Steered) string {
	switch s.State {
	case result.SteerDone:
		return doneWords(s)
	case result.SteerRefused:
		return "the run has refused it: " + s.Reason
	case result.SteerKept:
		return fmt.Sprintf("no process works on the run (%s): its next session begins with %s", statusWords(s.Status), limitWords(s.Limits, " "))
	case result.SteerIdle:
		return idleWords(s.Status)
	case result.SteerUnanswered:
		return "a process works on the run and has not answered: it is just beginning, waits for its user, or hangs; the request was taken back, ask again"
	}
	return string(s.State)
}

func doneWords(s result.Steered) string {
	var text string
	switch s.What {
	case Stop:
		text = "asked: the run finishes what is in flight, records it and ends; the same command continues with it"
	case StopNow:
		text = "asked: the run ends at once; what was in flight is lost, all that was answered is recorded, and the same command continues with it"
	default:
		text = limitWords(s.Limits, " is ") + " now; it stays so in later sessions of the run, until the configuration or the command says something else"
	}
	if s.Note != "" {
		text += "; " + s.Note
	}
	return text
}

func idleWords(status result.Status) string {
	switch status {
	case result.Completed:
		return "the run has ended: there is nothing to stop"
	case result.Running:
		return "no process works on the run, it was killed: there is nothing to stop, and the same command continues with it"
	}
	return fmt.Sprintf("no process works on the run (%s): there is nothing to stop, and the same command continues with it", statusWords(status))
}

func statusWords(status result.Status) string {
	if status == result.Running {
		return "killed"
	}
	return strings.ReplaceAll(string(status), "_", " ")
}

// Words returns a ceiling as people write it: 30, none, 2h0m0s.
func Words(v json.RawMessage) string {
	var text string
	switch {
	case string(v) == "null":
		return "none"
	case json.Unmarshal(v, &text) == nil:
		return text
	}
	return string(v)
}

// limitWords returns ceilings as text, in the order of their names.
func limitWords(l map[string]json.RawMessage, is string) string {
	var parts []string
	for _, name := range Names() {
		v, ok := l[name]
		if !ok {
			continue
		}
		parts = append(parts, "limits."+name+is+Words(v))
	}
	return strings.Join(parts, ", ")
}
