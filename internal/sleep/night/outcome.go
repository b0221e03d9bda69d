package night

import (
	"errors"

	"github.com/seed-f4525e22/skillopt"
)

// Outcome is what a night came to for a target.
type Outcome string

// The outcomes. The first four have a proposal.
const (
	Certified       Outcome = "certified"        // better on tasks like these, by the level that was left
	Supported       Outcome = "supported"        // better on these tasks, by fresh answers
	Suggested       Outcome = "suggested"        // edits that nothing is known of
	Rejected        Outcome = "rejected"         // edits were tried, and none was better
	NothingToLearn  Outcome = "nothing_to_learn" // the live document solves all, or no edit was proposed
	NoData          Outcome = "no_data"          // no session had a task
	TooFewTasks     Outcome = "too_few_tasks"    // fewer than anything can be learned from
	NotReplayable   Outcome = "not_replayable"   // there are tasks, and none can be carried out again
	JudgeUnusable   Outcome = "judge_unusable"   // the judge cannot tell the answers apart that the sessions tell apart
	ModelUnhealthy  Outcome = "model_unhealthy"  // a model gave nothing but failures
	Budget          Outcome = "budget"           // a ceiling of limits was reached
	WaitingForReply Outcome = "waiting"          // questions are written, and their answers are not there
	Stopped         Outcome = "stopped"          // by the user; the same command goes on
	Refused         Outcome = "refused"          // the document, or what was to be written, cannot be used
)

// Staged reports whether there is a proposal.
func (o Outcome) Staged() bool { return o == Certified || o == Supported || o == Suggested }

// ends says whether no other target can be trained either.
func (o Outcome) ends() bool {
	return o == Budget || o == WaitingForReply || o == Stopped || o == ModelUnhealthy
}

// outcomeOf is the outcome of a part of the night that failed; "" if the error is one of the program or
// the machine, which ends the night.
func outcomeOf(err error) Outcome {
	var e *skillopt.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Kind {
	case skillopt.OverBudget:
		return Budget
	case skillopt.Waiting:
		return WaitingForReply
	case skillopt.Stopped:
		return Stopped
	case skillopt.Unmeasurable:
		return ModelUnhealthy
	case skillopt.BadInput:
		return Refused
	}
	return ""
}
