// Package correction reports which turns of a session the user corrected, and which signs show it.
//
// What happened counts most: the user stopped the agent, or refused a tool; the next turn wrote
// the same files again. What the user said in the next turn only ranks, and counts by itself
// where nothing else is known. It is read by its kind, in English, German, French, Spanish and
// Chinese: what was done is taken back, blamed, not as it was asked for, wrong or not there. Praise,
// wishes, questions, reports of other work and the user's own slips are none, and after a question
// of the agent what is said is an answer.
//
// It knows nothing about stores, models or tasks. It is pure.
package correction

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Sign is something by which a correction is seen.
type Sign string

// The signs, the strongest first.
const (
	Stopped Sign = "stopped"     // the user stopped the agent or refused a tool in this turn
	Again   Sign = "files again" // the next turn wrote the same files, after words of rejection
	Said    Sign = "said"        // the user's next words reject what was done
)

// Mark is a turn that was corrected.
type Mark struct {
	Turn  int    `json:"turn"` // index
	Signs []Sign `json:"signs"`
	Words string `json:"words,omitempty"` // the beginning of what the user said next, as it is kept
}

// maxWords is how much of the user's words a mark shows, in bytes.
const maxWords = 300

// Marks returns the corrected turns, in order. A turn that failed was not corrected: there was
// no answer. What the user says after it concerns the turn before, if that had one.
func Marks(turns []transcript.Turn) []Mark {
	var out []Mark
	for i := range turns {
		if turns[i].Failed != "" {
			continue
		}
		if m, ok := mark(turns, i); ok {
			out = append(out, m)
		}
	}
	return out
}

func mark(turns []transcript.Turn, i int) (Mark, bool) {
	m := Mark{Turn: i}
	if idle(&turns[i]) {
		return m, false
	}
	if turns[i].Interrupted {
		m.Signs = append(m.Signs, Stopped)
	}
	if next := Next(turns, i); next < len(turns) {
		if Rejects(turns[i].Agent, turns[next].User) {
			if overlap(turns[i].Files, turns[next].Files) {
				m.Signs = append(m.Signs, Again)
			}
			m.Signs = append(m.Signs, Said)
		}
		if len(m.Signs) > 0 {
			m.Words = clipText(turns[next].User)
		}
	}
	return m, len(m.Signs) > 0
}

// Next returns the place of the turn in which the user says what concerns a turn: the one after it,
// but for mistyped commands.
func Next(turns []transcript.Turn, i int) int {
	for i++; i < len(turns) && idle(&turns[i]); {
		i++
	}
	return i
}

// idle reports whether a turn is a command of the agent's program that was stopped before anything was
// done, as a mistyped one is.
func idle(t *transcript.Turn) bool {
	return t.Interrupted && isCommand(t.User) && t.Agent == "" && len(t.Tools)+len(t.Files) == 0
}

func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

func clipText(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// maxLooked is how much of what a user says is looked at, in bytes: what is further down is as often
// quoted. Who says in more bytes than maxRemark what there is, describes something new.
const (
	maxLooked = 240
	maxRemark = 160
)

// Rejects reports whether what a user says rejects what the agent did, of which are its last words. After
// a question it is an answer, unless it says outright what is wrong.
func Rejects(agent, said string) bool {
	whole := len(said) <= maxRemark
	if len(said) > maxLooked {
		said = strings.ToValidUTF8(said[:maxLooked], "")
	}
	text := plain(said)
	switch {
	case strings.TrimSpace(text) == "", isCommand(said), !insists(text) && (own.in(text) || outside.in(text)):
		return false
	case asksBack(agent):
		return (insists(text) || loud.in(text)) && !wish.first(text)
	case praise.first(text):
		return turn.in(text) && (insists(text) || fault.in(text) || part.in(text))
	case deny.first(text), part.first(text) && !ahead.in(text):
		return true
	case strings.Contains(text, "?"):
		return !own.in(text) && !learn.in(text) && (insists(text) || ask.in(text) && (fault.in(text) || expect.in(text) || reason.in(text)))
	case wish.first(text):
		return insists(text) || contrast.in(text)
	}
	return insists(text) || fault.in(text) || expect.in(text) || seen.in(text) || agent != "" && whole && !praise.in(text) && !facts.in(text) && (behaves.in(text) || states.first(text))
}

// insists reports whether a text says outright that something is not as it was asked for.
func insists(text string) bool { return undo.in(text) || blame.in(text) || outright.in(text) }

// asksBack reports whether an agent's last sentence asks or proposes something, or says that it could not.
func asksBack(agent string) bool {
	text := strings.TrimRight(plain(agent[max(0, len(agent)-maxLooked):]), " .!")
	if i := strings.LastIndexAny(strings.TrimRight(text, " ?"), ".!?"); i >= 0 {
		text = text[i+1:]
	}
	return offers.in(text + " ")
}

// isCommand reports whether a text is a command of the agent's program, such as one that was mistyped.
func isCommand(text string) bool { return command.MatchString(text) }

var command = pattern.New(`^\s*/[\pL\d:_-]*(\s|$)`)
