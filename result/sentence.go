package result

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
)

// Sentence says the result of a run in one line: the test scores of the seed skill and of
// the best one, from 0 to 1, on how many tasks, and whether the difference is certified. A
// run without test scores names those of the tasks that judged, and says that they chose the
// skill. Scores are hard scores; soft ones, which are named, where those alone decide. It is
// "" if nothing was measured.
func (s *Summary) Sentence() string {
	text := s.sentence()
	if text == "" {
		return ""
	}
	for _, of := range []struct {
		name string
		*Score
	}{{"seed", s.Test.Seed}, {"best", s.Test.Best}, {"selection", s.Best.Selection}} {
		if of.Score == nil || of.name == "best" && s.Best.Step == 0 || of.name == "selection" && (s.Test.Seed != nil || s.Test.Best != nil) {
			continue
		}
		if words := of.Words(); words != "" {
			text += "; " + of.name + ": " + words
		}
	}
	return text
}

// sentence returns the text of Sentence without what was not answered.
func (s *Summary) sentence() string {
	seed, best := s.Test.Seed, s.testScore()
	same := s.Best.Step == 0
	if best == nil {
		return s.untestedSentence()
	}
	switch {
	case same:
		return fmt.Sprintf("no better skill was found; the seed skill: %s%s on %s", s.unit(), s.score(best), s.testTasks(best.N))
	case seed == nil:
		return fmt.Sprintf("%s%s on %s; the seed skill was not measured on them", s.unit(), s.score(best), s.testTasks(best.N))
	}
	text := fmt.Sprintf("%s%s -> %s on %s", s.unit(), s.score(seed), s.score(best), s.testTasks(best.N))
	if seed.N != best.N {
		text += fmt.Sprintf(" (the seed skill on %d)", seed.N)
	}
	if words := s.certificateWords(); words != "" {
		text += ", " + words
	}
	return text
}

// untestedSentence returns the sentence of a run that has no test score of its best skill.
func (s *Summary) untestedSentence() string {
	best := s.SelectionScore()
	if best.Score == nil {
		return ""
	}
	why := "there are no test scores"
	if s.Test.Refused {
		why = "the test split was opened before for other skills"
	} else if s.Status != Completed {
		why = "the test split is not opened yet"
	}
	return fmt.Sprintf("%s%s on %s that chose the skill, so expect less on new ones; %s", s.unit(), formatScore(*best.Score), best.Over(), why)
}

// unit names scores that are no hard ones.
func (s *Summary) unit() string {
	if m := s.metric(); m != string(score.Hard) {
		return m + " score "
	}
	return ""
}

// score returns a score as it is printed.
func (s *Summary) score(of *Score) string { return formatScore(s.value(of)) }

// formatScore returns a score with two decimals, and with more where those would make 0 or 1 of
// what is neither.
func formatScore(v float64) string {
	v = math.Round(v*1e9) / 1e9 // a mean of ones is not always 1
	for digits := 2; digits < 6; digits++ {
		if text := fmt.Sprintf("%.*f", digits, v); v == 0 || v == 1 || strings.Trim(text, "0.") != "" && !strings.HasPrefix(text, "1") {
			return text
		}
	}
	return fmt.Sprint(v)
}

// testTasks names the test tasks with what is known of their readings.
func (s *Summary) testTasks(n int) string {
	switch before := s.Test.ReadBefore; {
	case s.Test.Openings > 1:
		return wording.Plural(n, "test task", "test tasks")
	case before == nil || before.Times == 0 && before.Unknown != "":
		return wording.Plural(n, "test task", "test tasks")
	case before.Times == 0:
		text := wording.Plural(n, "task", "tasks")
		if c := s.Certificate; c != nil && c.N < c.Tasks {
			text += " in " + wording.Plural(c.N, "group", "groups")
		}
		return text + " never used before"
	default:
		return fmt.Sprintf("%s read %s before", wording.Plural(n, "test task", "test tasks"), wording.Plural(before.Times, "time", "times"))
	}
}

// certificateWords returns the certificate in a few words, "" if there is none.
func (s *Summary) certificateWords() string {
	c := s.Certificate
	switch {
	case c == nil:
		return ""
	case s.Test.Openings > 1:
		return fmt.Sprintf("not certified: the test split was opened %d times", s.Test.Openings)
	case c.Certified && c.AtLeast != nil && *c.AtLeast >= 0.005:
		return "certified: at least +" + formatScore(*c.AtLeast)
	case c.Certified:
		return "certified"
	case c.Difference == nil:
		return "not certified: no task was measured with both skills"
	case *c.Difference <= 0:
		return "not certified: it is not ahead"
	case c.Level == nil:
		return "not certified: it is not known how often these tasks were read before"
	}
	if c.Reading > 1 {
		return fmt.Sprintf("not certified at the %.3g %% level that is left to this reading", 100**c.Level)
	}
	return "not certified: it may be chance"
}
