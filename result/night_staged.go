package result

import "time"

// NightOutcome is the result of a night for a target.
type NightOutcome string

// The outcomes. The first four have a proposal.
const (
	NightCertified       NightOutcome = "certified"        // better on tasks like these, by the level that was left
	NightSupported       NightOutcome = "supported"        // better on these tasks, by fresh answers
	NightSuggested       NightOutcome = "suggested"        // edits that nothing is known of
	NightRejected        NightOutcome = "rejected"         // edits were tried, and none was better
	NightNothingToLearn  NightOutcome = "nothing_to_learn" // the live document solves all, or no edit was proposed
	NightNoData          NightOutcome = "no_data"          // no session had a task
	NightTooFewTasks     NightOutcome = "too_few_tasks"    // fewer than anything can be learned from
	NightNotReplayable   NightOutcome = "not_replayable"   // there are tasks, and none can be carried out again
	NightJudgeUnusable   NightOutcome = "judge_unusable"   // the judge cannot distinguish answers that differ according to the sessions
	NightModelUnhealthy  NightOutcome = "model_unhealthy"  // a model gave nothing but failures
	NightBudget          NightOutcome = "budget"           // a ceiling of limits was reached
	NightWaitingForReply NightOutcome = "waiting"          // questions are written, and their answers are not there
	NightStopped         NightOutcome = "stopped"          // by the user; the same command continues it
	NightRefused         NightOutcome = "refused"          // the document, or what was to be written, cannot be used
)

// Staged reports whether there is a proposal.
func (o NightOutcome) Staged() bool {
	return o == NightCertified || o == NightSupported || o == NightSuggested
}

// NightProposal is what a night has staged, as it is in the night's folder. It says nothing of where a text would be
// written: an adoption finds the documents by their names.
type NightProposal struct {
	Format  int       `json:"format"`
	Night   string    `json:"night"`
	Project string    `json:"project"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"`
	// Exploratory: tasks behind it were not reviewed. Simulated: a model was a simulation.
	Exploratory bool        `json:"exploratory"`
	Simulated   bool        `json:"simulated"`
	Items       []NightItem `json:"items"`

	HMAC string `json:"hmac"` // over all of the above, by the user's key
}

// NightItem is a text for a document.
type NightItem struct {
	Target   string          `json:"target"`
	Outcome  NightOutcome    `json:"outcome"`
	Reason   string          `json:"reason"`
	File     string          `json:"file"`         // in the night's folder
	LiveSHA  string          `json:"live_sha"`     // of the live bytes that it was made from; "": there was no file
	SHA      string          `json:"proposed_sha"` // of the text
	Whole    bool            `json:"whole"`        // all of the document was trained, not the learned region alone
	Rules    []NightRule     `json:"rules"`
	Original string          `json:"original"` // the live bytes that it was made from, in the night's folder
	Files    []NightItemFile `json:"files,omitempty"`
}

// NightItemFile is a text for another file of a skill's folder.
type NightItemFile struct {
	Path     string `json:"path"`         // in the skill's folder, with slashes
	File     string `json:"file"`         // in the night's folder
	Original string `json:"original"`     // the live bytes that it was made from, in the night's folder
	LiveSHA  string `json:"live_sha"`     // of these; "": there was no file
	SHA      string `json:"proposed_sha"` // of the text
}

// NightDiagnostics are the results of each judged task of a night, in both arms. It is diagnostics.json.
type NightDiagnostics struct {
	Format int                `json:"format"`
	Night  string             `json:"night"`
	Tasks  []NightDiagnosed   `json:"tasks"`
	Errors map[string]string  `json:"last_call_error"` // by target; absent: none
	Raw    map[string]*string `json:"reflect_raw"`     // by target; null: the optimizer was not asked, or its reply is not known
}

// NightDiagnosed is one answer.
type NightDiagnosed struct {
	Target string   `json:"target"`
	Run    string   `json:"run"`
	Arm    string   `json:"arm"` // live, proposed
	ID     string   `json:"id"`
	Kind   string   `json:"kind"` // how its outcome is known: command, files, correction, rubric
	Status string   `json:"status"`
	Hard   *float64 `json:"hard"` // null: not measured
	Soft   *float64 `json:"soft"`
	Length int      `json:"length"` // bytes
	Head   string   `json:"head"`   // the first 200 characters
	Why    string   `json:"why"`
}
