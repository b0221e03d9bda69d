package result

import "time"

// WeekFormat is that of a Week.
const WeekFormat = 1

// Week holds the results of nights of some days, what waits for the user, and how what was adopted fares. It is `week` in what `sleep
// status --json` prints, and of which `sleep status` shows the most. What is not known is null.
type Week struct {
	Format    int            `json:"format"`
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Days      int            `json:"days"`
	Simulated bool           `json:"simulated"` // a model of some night is a simulation
	Nights    []WeekNight    `json:"nights"`    // that began in these days, the newest first
	Waits     WeekWaits      `json:"waits"`
	Adoptions []WeekAdoption `json:"adoptions"` // that are in force, and what was adopted or taken back in these days; the newest first
	Spent     WeekSpent      `json:"spent"`     // by these nights
	Scheduled *time.Time     `json:"scheduled"` // when the next night comes by itself; null: not known, or none is scheduled
	Next      []WeekStep     `json:"next"`      // what to do, the most urgent first
	Problems  []string       `json:"problems"`  // what could not be read
}

// WeekNight is a night of a Week.
type WeekNight struct {
	Night       string       `json:"night"`
	Project     string       `json:"project"`
	Started     time.Time    `json:"started_at"`
	Ended       *time.Time   `json:"ended_at"` // null: it is not over
	Simulated   bool         `json:"simulated"`
	Exploratory bool         `json:"exploratory"`
	Sessions    int          `json:"sessions"`  // that were mined
	NewTasks    int          `json:"new_tasks"` // clusters
	Targets     []WeekTarget `json:"targets"`
	Skipped     int          `json:"skipped"` // groups of tasks without a document
	Notes       []string     `json:"notes"`
	Spent       NightSpent   `json:"spent"`
}

// WeekTarget is the result of a night for a document.
type WeekTarget struct {
	Target   string       `json:"target"` // "": the night as a whole
	Outcome  NightOutcome `json:"outcome"`
	Reason   string       `json:"reason"`
	Proposal WeekProposed `json:"proposal"`
	Number   int          `json:"number,omitempty"` // of its adoption
	Rules    []WeekRule   `json:"rules"`            // that the proposal adds
}

// WeekRule is a rule, and what it rests on.
type WeekRule struct {
	Text  string `json:"text"`
	Tasks *int   `json:"tasks"` // whose failures asked for it; null: not known
	Won   *int   `json:"won"`   // of these, won on fresh answers; null: not measured
}

// WeekProposed says what happened to a proposal.
type WeekProposed string

// What may have happened to a proposal.
const (
	ProposedNothing   WeekProposed = "none"       // the night staged nothing for the document
	ProposedWaits     WeekProposed = "waits"      // it can be adopted
	ProposedAdopted   WeekProposed = "adopted"    // it is in the document
	ProposedTakenBack WeekProposed = "taken_back" // it was, and was taken back
	ProposedOlder     WeekProposed = "older"      // a newer night proposes another text for the document
	ProposedStale     WeekProposed = "stale"      // the document has changed so that it is refused
	ProposedGone      WeekProposed = "gone"       // it was discarded, or forgotten
)

// WeekWaits is what waits for somebody.
type WeekWaits struct {
	Review    int            `json:"review"` // tasks that no one has reviewed
	Held      int            `json:"held"`   // of these, nothing is used before somebody has looked
	Proposals []WeekProposal `json:"proposals"`
	Intents   []WeekIntent   `json:"intents"`
	Nights    []string       `json:"nights"` // that are not over
}

// WeekProposal is a text that waits to be adopted.
type WeekProposal struct {
	Night   string       `json:"night"`
	Project string       `json:"project"`
	Target  string       `json:"target"`
	Outcome NightOutcome `json:"outcome"`
	Reason  string       `json:"reason"`
	Rules   int          `json:"rules"` // that it adds
}

// WeekIntent is an adoption or rollback that has begun and of which no end is known.
type WeekIntent struct {
	Number  int       `json:"number"`
	Project string    `json:"project"`
	Kind    string    `json:"kind"`
	Began   time.Time `json:"began_at"`
}

// WeekAdoption is a text that was written into a document, or taken back.
type WeekAdoption struct {
	Number  int           `json:"number"`
	Kind    string        `json:"kind"`               // adopted, rolled_back
	Of      int           `json:"of,omitempty"`       // of a rollback, the number that it took back
	BackBy  int           `json:"back_by,omitempty"`  // the number of the rollback that took it back
	Project string        `json:"project"`            //
	Night   string        `json:"night"`              // that proposed it
	At      time.Time     `json:"at"`                 //
	Target  string        `json:"target"`             // "": a rollback that had nothing to write
	Claim   string        `json:"claim,omitempty"`    // what it was called when it was adopted
	Reason  string        `json:"reason,omitempty"`   //
	Merged  bool          `json:"merged"`             //
	Rules   []WeekRule    `json:"rules"`              // that it brought
	Since   *NightAdopted `json:"since"`              // the evidence since; null: no night has looked
	SeenIn  string        `json:"since_in,omitempty"` // the night that looked last
}

// WeekSpent is what nights have used.
type WeekSpent struct {
	Calls    int64    `json:"calls"`
	Input    int64    `json:"input_tokens"`
	Output   int64    `json:"output_tokens"`
	Cached   int64    `json:"cached_tokens"`
	CostUSD  *float64 `json:"cost_usd"`       // null: of a night it is not known
	KnownUSD float64  `json:"known_cost_usd"` // of the nights of which it is known
	Unknown  int      `json:"unknown_nights"` // of which it is not
}

// WeekStep is something to do, with its command.
type WeekStep struct {
	Why     string `json:"why"`
	Command string `json:"command"`
}
