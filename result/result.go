// Package result holds the results of commands and what files of a run say, as data:
// docs/format.md in Go. The JSON of a value is what the command prints with --json and
// what the file holds.
//
// What was not measured, or is not known, is nil and null in JSON, never 0. Scores and
// differences of scores are shares from 0 to 1. Fields are added over time; none is
// renamed, removed or given another meaning.
//
// The package knows the shape of results. It knows nothing of how they come about: no
// models, tasks or files.
package result

// Kind is the kind of command that a run belongs to.
type Kind string

const (
	Train        Kind = "train"
	Evaluate     Kind = "eval"
	Compare      Kind = "compare"
	Ablate       Kind = "ablate"
	Prune        Kind = "prune"
	MeasureNoise Kind = "noise"
	DraftTasks   Kind = "draft"
	MineTasks    Kind = "mine"
	Reflect      Kind = "reflect"
	ServeModel   Kind = "gateway"

	// SleepNight is no run: a list shows a night of `skillopt sleep run` next to the runs that it is made of.
	SleepNight Kind = "night"
)

// HasTasks reports whether a run of the kind carries out tasks.
func (k Kind) HasTasks() bool {
	switch k {
	case DraftTasks, MineTasks, Reflect, ServeModel:
		return false
	}
	return true
}

// Status is how far a run has got.
type Status string

const (
	Running    Status = "running" // or killed: a killed run writes nothing
	Completed  Status = "completed"
	Stopped    Status = "stopped" // by the user; the same command continues it
	OverBudget Status = "budget"  // a ceiling was reached; once it is raised, the same command continues it
	Waiting    Status = "waiting" // questions wait for their answers
	Failed     Status = "failed"
	Undecided  Status = "undecided" // a comparison: more passes continue it
)
