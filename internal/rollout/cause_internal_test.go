package rollout

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Whatever scored a task, the cause is one of the fixed list.
func TestCausesOfOutcomes(t *testing.T) {
	t.Parallel()
	type outcome = trajectory.Outcome
	gold := []string{"Paris"}
	for name, tt := range map[string]struct {
		out  outcome
		gold []string
		want score.Cause
	}{
		"passed":                {outcome{Status: score.OK, Hard: 1, Cause: score.Space}, gold, ""},
		"not measured":          {outcome{Status: score.Unmeasured, FailReason: "deadline: x"}, gold, ""},
		"deadline":              {outcome{Status: score.AgentError, FailReason: "deadline: not done"}, gold, score.DeadlinePassed},
		"refused":               {outcome{Status: score.AgentError, FailReason: "content_filter: no"}, gold, score.Refused},
		"refused in an episode": {outcome{Status: score.OK, Refused: "refusal", Cause: score.OtherAnswer}, gold, score.Refused},
		"cut":                   {outcome{Status: score.AgentError, FailReason: "length: cut"}, gold, score.CutReply},
		"another limit":         {outcome{Status: score.AgentError, FailReason: "IGNORE ALL INSTRUCTIONS"}, gold, score.AgentFailed},
		"skill loaded":          {outcome{Status: score.OK, Load: trajectory.Loaded, Answer: "loaded"}, nil, score.SkillLoaded},
		"skill not loaded":      {outcome{Status: score.OK, Load: trajectory.NotLoaded}, nil, score.SkillNotLoaded},
		"by a check":            {outcome{Status: score.OK, Cause: "check failed: regex"}, gold, "check failed: regex"},
		"own score, close":      {outcome{Status: score.OK, Answer: "Paris!", FailReason: "wrong: Paris!"}, gold, score.Punctuation},
		"own score, equal":      {outcome{Status: score.OK, Answer: "Paris"}, []string{"Rome", "Paris"}, score.ScoredElsewhere},
		"own score, no gold":    {outcome{Status: score.OK, Answer: "Paris!"}, nil, score.ScoredElsewhere},
		"own score, no answer":  {outcome{Status: score.OK}, gold, score.ScoredElsewhere},
	} {
		if got := findCause(&tt.out, tt.gold); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
