package rollout

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// findCause returns why a task was failed, "" if it was not, or was not measured. Where no check
// has scored the answer, it is compared with the gold answers.
func findCause(o *trajectory.Outcome, gold []string) score.Cause {
	limit, _, _ := strings.Cut(o.FailReason, ":")
	switch unanswered := o.Unanswered(); {
	case !o.Status.Measured() || o.Hard >= 1:
		return ""
	case unanswered == score.Deadline:
		return score.DeadlinePassed
	case unanswered != "":
		return score.Refused
	case o.Status == score.AgentError && limit == "length":
		return score.CutReply
	case o.Status == score.AgentError:
		return score.AgentFailed
	case o.Load == trajectory.Loaded:
		return score.SkillLoaded
	case o.Load == trajectory.NotLoaded:
		return score.SkillNotLoaded
	case o.Cause != "":
		return o.Cause
	case strings.TrimSpace(o.Answer) == "" || len(gold) == 0: // no one says what the answer was, or is to be
		return score.ScoredElsewhere
	}
	return check.Difference(o.Answer, gold)
}
