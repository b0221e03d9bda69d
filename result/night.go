package result

import (
	"time"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
)

// NightFormat is that of the documents of a night.
const NightFormat = 4

// Files of a night's folder.
const (
	NightFile            = "night.json"
	NightDiagnosticsFile = "diagnostics.json"
	NightProposalFile    = "proposal.json" // the manifest of what it has staged
)

// Night is the result of a night. It is night.json, and what `sleep run --json` prints. What was not
// measured is null.
type Night struct {
	Format  int       `json:"format"`
	ID      string    `json:"night"`
	Hash    string    `json:"hash,omitempty"` // what `sleep adopt --expect` takes of all that is proposed; not in night.json
	Project string    `json:"project"`
	Version string    `json:"version"`
	Started time.Time `json:"started_at"`
	Ended   time.Time `json:"ended_at,omitzero"` // absent: it is not over
	// Simulated: a model is a simulation. Exploratory: tasks are drafts that no one has reviewed; nothing
	// is certified then.
	Simulated   bool `json:"simulated"`
	Exploratory bool `json:"exploratory"`
	Explore     bool `json:"explore"` // --explore: whatever there is was trained on
	DryRun      bool `json:"dry_run"`
	// Tasks is the digest of the tasks of a file that the night works with alone; "": it works with those of sessions.
	// Again: a night on these tasks was asked for again, and nothing was done.
	Tasks  string `json:"tasks,omitempty"`
	Again  bool   `json:"again,omitempty"`
	Agreed bool   `json:"agreed"` // the user was given what the night would do, or no one was asked

	Since   time.Time      `json:"since,omitzero"` // what was shown or mined since is tonight's; absent: no night before has read a session, and all that is kept is
	Mined   NightMined     `json:"mined"`
	Targets []NightTarget  `json:"targets"`
	Skipped []NightSkipped `json:"skipped"` // groups of tasks without a document
	Notes   []string       `json:"notes"`

	Served []string    `json:"served"` // models that answered as the target, as their server named them; null: not known
	Joint  *NightJoint `json:"joint"`  // null: nothing was confirmed, or for one document alone

	Adopted []NightAdopted `json:"adopted"` // the evidence for what was adopted before, of the documents that the night has worked on

	// Forecast is what the night was expected to take when it had mined; null: no one was to learn of it, or nothing was to do.
	Forecast *NightForecast `json:"forecast,omitempty"`

	Spent NightSpent            `json:"spent"`  // of all its runs
	ByRun map[string]NightSpent `json:"by_run"` // of each of them
}

// NightForecast is what a night is expected to take, mining, training and confirmation together.
type NightForecast struct {
	Calls  Interval  `json:"calls"`
	Input  Interval  `json:"input_tokens"`
	Output Interval  `json:"output_tokens"`
	Cached *Interval `json:"cached_tokens"` // of the input, according to what servers reported of earlier nights; null: there was none
	USD    *Interval `json:"cost_usd"`      // null: unknown
	Basis  string    `json:"basis"`         // as that of a Forecast; "": nothing is trained
	// Unknown says what no one knows and is in no figure, such as the tokens of an agent that has carried out no task yet.
	Unknown []string `json:"unknown"`
	// Tokens is the ceiling of a night whose limits say nothing, unless the default is lower; null: the default, since no run has shown
	// how long replies are, or something is unknown.
	Tokens *int64 `json:"tokens_needed"`
}

// NightMined is how sessions became tasks.
type NightMined struct {
	Sessions int         `json:"sessions"` // new or grown, of the project
	Noted    int         `json:"mined"`    // of these, mined to the end
	Funnel   *MineFunnel `json:"funnel"`   // null: nothing was mined
	Taken    NightTaken  `json:"taken"`
	Runs     []string    `json:"runs"`
}

// NightTaken counts what happened to the tasks of a night.
type NightTaken struct {
	New     int `json:"new"`     // clusters
	Again   int `json:"again"`   // tasks of clusters that were known
	Held    int `json:"held"`    // tasks
	Unfit   int `json:"unfit"`   // tasks
	Test    int `json:"test"`    // clusters put aside
	Dropped int `json:"dropped"` // clusters that had to go: there are too many of a skill
}

// NightSkipped is a group of tasks that no document could be found for.
type NightSkipped struct {
	Skill  string `json:"skill"`
	Groups int    `json:"groups"`
	Reason string `json:"reason"`
}

// NightTarget is what happened to a document.
type NightTarget struct {
	Target  string       `json:"target"`         // its id: skill:NAME or memory:FILE
	Hash    string       `json:"hash,omitempty"` // the same of this document alone, with --target
	File    string       `json:"file"`           // live
	New     bool         `json:"new"`            // the file is not there yet
	Outcome NightOutcome `json:"outcome"`
	Reason  string       `json:"reason"`
	Help    string       `json:"help,omitempty"` // the one command that helps

	Groups NightGroups   `json:"groups"`
	Can    NightCan      `json:"can_show"`
	Places []NightPlaced `json:"places"` // of the tasks by which the document is measured, and of those that cannot be

	Judge     *NightJudging   `json:"judge"`    // of models.judge, on answers of sessions; null: it decides no task
	Baseline  *NightMeasured  `json:"baseline"` // of the live document on the tasks of the night
	Noise     *float64        `json:"noise"`    // deviation of one answer around its task's mean; null: not measured
	Confirmed *NightLook      `json:"confirmed"`
	Test      *NightLook      `json:"test"`
	Continued *NightContinued `json:"continued"` // an earlier night's proposal that continues

	Consolidation NightConsolidation `json:"consolidation"`
	Rules         []NightRule        `json:"rules"`                // of the proposal
	Remove        []string           `json:"remove"`               // rules of the live document that are proposed for removal
	RemoveWhy     []string           `json:"remove_why,omitempty"` // why, in the same order
	Held          []NightHeld        `json:"held"`                 // edits that wait for a person: nothing of them is staged
	Runs          []string           `json:"runs"`                 // below sleep.dir
	Proposal      string             `json:"proposal"`             // the proposed text, below the night's folder; "": none
	LiveSHA       string             `json:"live_sha"`             // of the live bytes; "": the file is not there
	Proposed      string             `json:"proposed_sha"`
	Spent         NightSpent         `json:"spent"`
}

// NightGroups counts the clusters of a target. A cluster is one wish, and one unit of evidence.
type NightGroups struct {
	Open    int `json:"open"`    // awake, for training and selection
	Fresh   int `json:"fresh"`   // put aside as test, unread
	Asleep  int `json:"asleep"`  // not shown for too long
	Waiting int `json:"waiting"` // held, or not to be carried out again
	Tonight int `json:"tonight"` // of Open: shown since the last night
	Recall  int `json:"recalled"`
	// Unreviewed are those of Tonight, Recall and Fresh that no one has reviewed.
	Unreviewed int `json:"unreviewed"`
}

// NightPlaced is where a task is carried out, or why it is not.
type NightPlaced struct {
	Task   string   `json:"task"`
	In     string   `json:"in"`     // commit: its files, by an agent; empty: a folder without files, by an agent; chat: no agent; "": nowhere
	Commit string   `json:"commit"` // in whose files; "": there are none, or none is known
	Folder string   `json:"folder"` // below the project
	Files  []string `json:"files"`  // that its session worked on
	Unfit  string   `json:"unfit"`  // "": it is carried out
}

// NightCan is what a target's number of clusters can show, computed before anything is spent.
type NightCan struct {
	Does   string         `json:"does"`   // observe, train, train and test, or train without a gate
	Level  float64        `json:"level"`  // of the test
	Needed int            `json:"needed"` // fresh test groups that certify when all are won
	Power  []NightPowered `json:"power"`  // of the test, with as many fresh groups as there are
}

// NightPowered is how likely a gain is certified.
type NightPowered struct {
	Gain  float64 `json:"gain"`
	Found float64 `json:"found"`
}

// NightJudging is what a judge made of answers that sessions hold, before anything was decided by it.
type NightJudging struct {
	Tasks    int               `json:"tasks"`    // of the target that night, that a judge decides
	Planned  int               `json:"planned"`  // pairs of answers that are kept, at most 12
	Calls    int               `json:"calls"`    // of the judge that they need
	Pairs    int               `json:"pairs"`    // of which both answers were judged
	Apart    int               `json:"apart"`    // of these, the accepted answer scored higher
	Share    *float64          `json:"share"`    // of Pairs; null: there are none
	Needs    float64           `json:"needs"`    // of Share
	Usable   *bool             `json:"usable"`   // null: there was nothing to try it on, or it was not tried
	Examples []NightUnresolved `json:"examples"` // pairs that it did not distinguish, at most three
	Run      string            `json:"run,omitempty"`
}

// NightUnresolved is a pair of answers that a judge did not distinguish.
type NightUnresolved struct {
	Task      string  `json:"task"`
	Corrected float64 `json:"corrected"` // scores
	Accepted  float64 `json:"accepted"`
}

// NightMeasured are mean scores over tasks.
type NightMeasured struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	score.Unanswered
}

// NightLook is a comparison of the live document and the proposal on fresh answers, looked at once.
type NightLook struct {
	Run        string        `json:"run"`
	Level      float64       `json:"level"`
	Test       gate.LookTest `json:"test"`
	N          int           `json:"n"`
	Wins       int           `json:"wins"`
	Losses     int           `json:"losses"`
	Ties       int           `json:"ties"`
	Difference *float64      `json:"difference"`
	AtLeast    *float64      `json:"at_least"` // lower end of the one-sided interval at Level; null: not above 0
	Better     bool          `json:"better"`
	Tasks      []string      `json:"tasks"`

	Unanswered BothUnanswered `json:"unanswered,omitzero"` // answers of the live document (old) and of the proposal (new)
}

// NightContinued is the evidence for an earlier night's proposal.
type NightContinued struct {
	Candidate int64    `json:"candidate"`
	Night     string   `json:"night"` // that staged it
	State     string   `json:"state"`
	Reason    string   `json:"reason"`
	Tonight   int      `json:"tonight"` // pairs that came tonight
	Pairs     int      `json:"pairs"`
	Wins      int      `json:"wins"`
	Losses    int      `json:"losses"`
	Evidence  *float64 `json:"evidence"` // certified at Needs; null: no pairs
	Needs     float64  `json:"needs"`
	Run       string   `json:"run,omitempty"`
}

// Consolidation has the members that the reference writes of a night, by its names; scores are of the gate's
// metric.
type NightConsolidation struct {
	Accepted         bool        `json:"accepted"`
	GateAction       string      `json:"gate_action"`
	BaselineScore    *float64    `json:"baseline_score"`
	CandidateScore   *float64    `json:"candidate_score"`
	NewSkill         *string     `json:"new_skill"`  // digest of the staged text; null: none, or no skill
	NewMemory        *string     `json:"new_memory"` // the same of a memory file
	AppliedEdits     []NightEdit `json:"applied_edits"`
	RejectedEdits    []NightEdit `json:"rejected_edits"`
	HoldoutBaseline  *float64    `json:"holdout_baseline"`  // of the confirmation
	HoldoutCandidate *float64    `json:"holdout_candidate"` //
	HoldoutDetail    string      `json:"holdout_detail"`    // the file that has it
	ReflectRaw       *string     `json:"reflect_raw"`       // the optimizer's last reply, as it came but for secrets
	CallError        *string     `json:"call_error"`        // the last error of a call
}

// NightEdit is an edit of a training.
type NightEdit struct {
	Step       int      `json:"step"`
	Op         string   `json:"op"`
	Content    string   `json:"content"`
	Anchor     string   `json:"anchor,omitempty"`
	Status     string   `json:"status"`
	Action     string   `json:"action"` // what the gate said of its step
	Reason     string   `json:"reason,omitempty"`
	Difference *float64 `json:"difference"` // that the gate measured, of the whole step
}

// NightRule is a line that a proposal adds, with its grounds.
type NightRule struct {
	Text       string   `json:"text"`
	Step       int      `json:"step"`
	Tasks      []string `json:"tasks"`         // whose failures the analysts read who asked for it, by the run's record; empty: not known
	Won        []string `json:"won,omitempty"` // of these, won on fresh answers of the confirmation
	Difference *float64 `json:"difference"`
}

// NightHeld is an edit that a person has to look at.
type NightHeld struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// NightSpent is what models were used for.
type NightSpent struct {
	Calls   int64    `json:"calls"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cached  int64    `json:"cached_tokens"`
	CostUSD *float64 `json:"cost_usd"` // null: a model has no price
}
