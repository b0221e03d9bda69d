package event

// What follows is for those who look at a run while it is at work. These events occur
// often, and none of them decides anything: how the run continues follows from its record.

// OutcomeDone gives the result of a task with one skill, once. Hard and Soft are shares
// from 0 to 1, null if it was not measured.
type OutcomeDone struct {
	Row     int64    `json:"row,omitempty"` // of the entry of the record that has the reply; missing: an equal request of the run was answered before
	Key     string   `json:"key"`           // its place in the record
	Epoch   int      `json:"epoch,omitempty"`
	Step    int      `json:"step"`
	Stage   string   `json:"stage"` // what it was asked for: rollout, gate, baseline, test and so on
	Arm     string   `json:"arm,omitempty"`
	Task    string   `json:"task"`
	Sample  int      `json:"sample"`
	Status  string   `json:"status"` // ok, agent_error, unmeasured
	Hard    *float64 `json:"hard"`
	Soft    *float64 `json:"soft"`
	Reason  string   `json:"fail_reason,omitempty"`
	Seconds float64  `json:"seconds,omitempty"` // that the answer took; missing: not known
}

// GateRead says how far a gate has read, and how well the candidate does. Difference, Low,
// High, Reject and Accept are in gate-score points of the candidate minus the incumbent,
// null where there is none yet.
type GateRead struct {
	Key        string   `json:"key"` // place of the trial in the record: a step that is tried again, or whose model drifted, has several
	Epoch      int      `json:"epoch,omitempty"`
	Step       int      `json:"step"`
	Gate       string   `json:"gate"`  // strict, observe
	Phase      string   `json:"phase"` // pass, or keep (losses are asked afresh; units are losses)
	Units      int      `json:"units"` // read: tasks, or clusters of them
	Of         int      `json:"of"`
	Wins       int      `json:"wins"` // units on which the candidate is ahead
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
	Missing    int      `json:"missing,omitempty"` // that could not be measured
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"` // what the gate's rule allows for: the bounds that close while it reads
	High       *float64 `json:"high"`
	Reject     *float64 `json:"reject"`           // at or below this difference it would be rejected now
	Accept     *float64 `json:"accept"`           // above this one it would be accepted at the end of what is read now
	Action     string   `json:"action,omitempty"` // the verdict; missing: it reads on
	Why        string   `json:"reason,omitempty"`
	Lost       []string `json:"lost,omitempty"` // with the verdict: tasks that the current skill wins and the candidate loses, as fresh answers confirm
}

// InFlight says what is being waited for.
type InFlight struct {
	Calls []InFlightCalls `json:"calls"` // the most first; empty: nothing
	Limit int             `json:"limit"` // requests at once that the run may have
}

// InFlightCalls are the requests in flight for one purpose at one endpoint.
type InFlightCalls struct {
	Stage    string  `json:"stage"`
	Role     string  `json:"role"`
	Model    string  `json:"model"`
	Endpoint string  `json:"endpoint"` // host, or the name of the program
	Calls    int     `json:"calls"`
	Oldest   float64 `json:"oldest_s"` // seconds that the oldest of them has been out
}

// Refusals counts attempts that gave no result since the last such event, by endpoint and class.
type Refusals struct {
	Endpoint string `json:"endpoint"`
	Model    string `json:"model"`
	Role     string `json:"role"` // of the first one
	Code     string `json:"code"`
	Count    int    `json:"count"`
	Key      string `json:"key"`             // of the last one
	Limit    int    `json:"limit,omitempty"` // requests at once that the endpoint is given now
}

// Steered says that somebody outside of the process stopped the run or changed its ceilings.
type Steered struct {
	Request string         `json:"request"`           // its id: each is carried out once
	What    string         `json:"what"`              // stop, stop_now, limit
	Limits  map[string]any `json:"limits,omitempty"`  // of limit: the ceilings as they are now, null for none
	From    string         `json:"from"`              // command, browser
	Asked   string         `json:"asked_at"`          // RFC 3339
	Refused string         `json:"refused,omitempty"` // why it was not carried out
}

func (OutcomeDone) Kind() string { return "outcome" }
func (GateRead) Kind() string    { return "gate_read" }
func (InFlight) Kind() string    { return "in_flight" }
func (Refusals) Kind() string    { return "refusals" }
func (Steered) Kind() string     { return "steered" }
