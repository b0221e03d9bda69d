package night

import (
	"errors"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/result"
)

// The outcomes.
const (
	Certified       = result.NightCertified
	Supported       = result.NightSupported
	Suggested       = result.NightSuggested
	Rejected        = result.NightRejected
	NothingToLearn  = result.NightNothingToLearn
	NoData          = result.NightNoData
	TooFewTasks     = result.NightTooFewTasks
	NotReplayable   = result.NightNotReplayable
	JudgeUnusable   = result.NightJudgeUnusable
	ModelUnhealthy  = result.NightModelUnhealthy
	Budget          = result.NightBudget
	WaitingForReply = result.NightWaitingForReply
	Stopped         = result.NightStopped
	Refused         = result.NightRefused
)

// ends says whether no other target can be trained either.
func ends(o Outcome) bool {
	return o == Budget || o == WaitingForReply || o == Stopped || o == ModelUnhealthy
}

// errorOutcome returns the outcome of a part of the night that failed; "" if the error is one of the
// program or the machine, which ends the night.
func errorOutcome(err error) Outcome {
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
