package train

import (
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
)

// describe fills in what training decided.
func describe(s *result.Summary, r *loop.Result, agent string) {
	if r == nil {
		return
	}
	s.Steps = max(len(r.History.Steps)-1, 0)
	s.Accepted, s.Rejected, s.Skipped, s.Lost = r.Accepted, r.Rejected, r.Skipped, r.Lost
	s.Best = result.Best{Step: r.BestStep, Selection: r.Selection.Score(), Reported: r.Reported}
	defer func() { s.Score = s.RunScore() }() // by all of the below
	s.Stop = r.History.Stop
	s.Effort = r.Effort
	s.Certificate, s.Noise, s.Drift = r.Certificate, r.History.Noise, r.History.Drift
	if r.History.Final == nil {
		return
	}
	final := r.History.Final
	if final.EndedEarly {
		s.EndedAfter = &s.Steps
	}
	if final.Loads != nil {
		s.Triggers = &result.TrainTriggers{Agent: agent, Seed: final.Loads["seed"], Best: final.Loads["best"]}
		if s.Certificate != nil {
			certificate := *s.Certificate
			certificate.Triggers, s.Certificate = s.Triggers, &certificate
		}
	}
	test := final.Test
	s.Test = result.Test{
		Seed: test["seed"].Score(), Best: test["best"].Score(), Final: test["final"].Score(), NoSkill: test["no_skill"].Score(),
		Openings: final.TestOpenings, Refused: final.TestRefused, ReadBefore: r.ReadBefore,
	}
	for arm, a := range test {
		byType(s, arm, a)
	}
}

// byType adds the scores of an arm by type of task.
func byType(s *result.Summary, arm string, a *result.Arm) {
	for name, t := range a.ByType {
		if s.ByType == nil {
			s.ByType = map[string]result.Types{}
		}
		if s.ByType[name] == nil {
			s.ByType[name] = result.Types{}
		}
		if measured := t.Score(); measured != nil {
			s.ByType[name][arm] = *measured
		}
	}
}
