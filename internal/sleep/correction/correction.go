// Package correction reports which turns of a session the user corrected, and according to what it is seen.
//
// What happened counts most: the user stopped the agent, or refused a tool; the next turn wrote
// the same files again. What the user said in the next turn only ranks, and counts by itself
// where nothing else is known: words of rejection at its beginning, in some languages. Words of
// praise alone never make a correction undone.
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
	if turns[i].Interrupted {
		m.Signs = append(m.Signs, Stopped)
	}
	if next := i + 1; next < len(turns) {
		if Rejects(turns[next].User) {
			if overlap(turns[i].Files, turns[next].Files) {
				m.Signs = append(m.Signs, Again)
			}
			m.Signs = append(m.Signs, Said)
		}
		if len(m.Signs) > 0 {
			m.Words = beginning(turns[next].User)
		}
	}
	return m, len(m.Signs) > 0
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

func beginning(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// rejecting are words of rejection as they begin a message, or a sentence of its beginning.
var rejecting = pattern.New(`(?i)(^|[.!?\n]\s*)\W*(` + strings.Join([]string{
	`no[,.!:;]`, `no$`, `nope\b`, `wrong\b`, `incorrect\b`, `(that|this|it)('s| is| was)? ((still|also|just|again|completely|totally|plain|now) )*(not|wrong|incorrect|broken)\b`,
	`not (what|like|quite|right|correct|that|this)\b`, `(it|that|this|they) (still|does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't)\b`,
	`still (not|wrong|broken|fail\w*|the same)`, `you (forgot|missed|should (not|have)|were (not|supposed)|did not|didn't|broke|ignored|must not)`,
	`i (said|asked|told you|meant|wanted)\b`, `(please )?(revert|undo)\b`, `(please )?do(n't| not) `, `why did you\b`, `stop\b`, `as i said`, `again[,:]`, `actually[, ]`,
	`nein\b`, `falsch\b`, `das (ist|war|stimmt) (nicht|falsch)`, `immer noch\b`, `non[,. !]`, `faux\b`, `c'est (faux|pas)`, `no es\b`, `incorrecto\b`, `errado\b`, `não[,. !]`,
	`sbagliato\b`, `нет[,. !]`, `неправильно`, `не так`, `违`, `不对`, `不是`, `错`, `違う`, `違います`, `ちがう`, `아니`, `틀렸`,
}, "|") + `)`)

// Rejects reports whether a message begins by rejecting what was done. Only its first 200 bytes
// are looked at: what is further down is as often quoted.
func Rejects(text string) bool {
	if len(text) > 200 {
		text = text[:200]
	}
	text = strings.ReplaceAll(text, "\u2019", "'") // as phones and word processors write it
	return rejecting.MatchString(text)
}
