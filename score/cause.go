package score

// Cause is why a task was failed, from a fixed list: it holds no text of a task, its gold or
// a reply. CheckFailed returns those that are not named here.
type Cause string

// The causes.
const (
	NoAnswer      Cause = "no answer found where the checks look"
	Space         Cause = "only white space differs"
	LetterCase    Cause = "only letter case differs"
	SpaceAndCase  Cause = "only white space and letter case differ"
	Punctuation   Cause = "only punctuation differs"
	NumberForm    Cause = "the same number, written differently"
	OtherUnit     Cause = "the unit differs"
	OtherNumber   Cause = "a number differs"
	LongerAnswer  Cause = "the expected text stands inside a longer answer"
	PartialAnswer Cause = "it is only a part of what is expected"
	OtherOrder    Cause = "the same words in another order"
	OtherAnswer   Cause = "another answer"

	LowScore        Cause = "the weighted score is below the threshold"
	CutReply        Cause = "the reply was cut at the output limit"
	Refused         Cause = "a request was refused"
	DeadlinePassed  Cause = "the deadline passed"
	AgentFailed     Cause = "the target failed at a limit of the task"
	SkillNotLoaded  Cause = "the skill was not loaded and should be"
	SkillLoaded     Cause = "the skill was loaded and should not be"
	ScoredElsewhere Cause = "scored without a check that says why"
)

// AnswerCauses returns the causes that say how an answer differs from an accepted one, the
// smallest difference first: of equal texts something else has decided.
func AnswerCauses() []Cause {
	return []Cause{
		ScoredElsewhere, Space, LetterCase, SpaceAndCase, Punctuation, NumberForm, OtherUnit, LongerAnswer, PartialAnswer, OtherOrder, OtherNumber, NoAnswer, OtherAnswer,
	}
}

// CheckFailed returns the cause of a failed check about which its type says most.
func CheckFailed(kind string) Cause { return Cause("check failed: " + kind) }
