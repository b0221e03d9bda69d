package result

import "encoding/json"

// Steered is what happened to a request to a run: to stop, or to continue under other ceilings.
type Steered struct {
	RunDir  string                     `json:"run_dir"`
	What    string                     `json:"what"`              // stop, stop_now, limit
	Request string                     `json:"request,omitempty"` // its id; missing: nothing was asked
	Limits  map[string]json.RawMessage `json:"limits,omitempty"`  // that were asked for: a number, a text for the time, null for none
	State   SteerState                 `json:"state"`
	Status  Status                     `json:"status"`           // of the run, when it was looked at
	Reason  string                     `json:"reason,omitempty"` // of a refusal
	Note    string                     `json:"note,omitempty"`   // what else is to be known
	Text    string                     `json:"text"`             // all of it in words
}

// SteerState says how far a request has come.
type SteerState string

// States of requests.
const (
	SteerDone       SteerState = "done"       // it is carried out
	SteerRefused    SteerState = "refused"    // the run has refused it
	SteerKept       SteerState = "kept"       // no process works on the run; its next session begins with it
	SteerIdle       SteerState = "idle"       // no process works on the run: there is nothing to stop
	SteerUnanswered SteerState = "unanswered" // no answer came, and the request was taken back
)
