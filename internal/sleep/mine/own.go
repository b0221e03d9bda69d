package mine

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// UserWords are the words that users typed themselves in some sessions, and the instructions
// that are in what they pasted or were answered. The zero value has neither.
type UserWords struct {
	text   string          // in lower case, on one line
	words  map[string]bool // of it
	stems  map[string]bool // of it
	orders [][]string      // words of instructions of others
	theirs map[string]bool // stems of these
}

// NewUserWords returns the words of the users of sessions.
func NewUserWords(sessions ...transcript.Transcript) UserWords {
	u := UserWords{words: map[string]bool{}}
	var own strings.Builder
	for i := range sessions {
		for _, t := range sessions[i].Turns {
			mine, others := splitMessage(t.User)
			own.WriteString(mine + "\n")
			u.orders = append(u.orders, ordersIn(others, order())...)
			u.orders = append(u.orders, ordersIn(t.Agent, standingOrder())...)
		}
	}
	u.text = flat(own.String())
	for _, w := range draft.Words(u.text) {
		u.words[w] = true
	}
	u.stems, u.theirs = set(stems(u.text)...), map[string]bool{}
	for _, o := range u.orders {
		for _, w := range o {
			u.theirs[stem(w)] = true
		}
	}
	return u
}

func flat(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
}

// ownText returns the part of a message that its user typed.
func ownText(message string) string {
	mine, _ := splitMessage(message)
	return mine
}

// maxOwn is how much of a message is taken for typed, in bytes: no one types more at once.
const maxOwn = 2000

// What begins a line of pasted text, and what announces that some follows.
var (
	fenceLine   = newPattern("^\\s{0,3}(```+|~~~+)")
	quotedLine  = newPattern(`^\s{0,3}(>|\$ |@@ |\+\+\+ |--- |\d{4}-\d\d-\d\d[T ]\d\d:|\[\d\d:|Traceback |at \w)|^(\t| {4,})\S`)
	restIsPaste = newPattern(`^\s{0,3}(#{1,6} \S|---+\s*$|===+\s*$|<!?[a-zA-Z])`)
	openTag     = newPattern(`^\s*<([A-Za-z][\w-]*)[^>]*>`)
	// reports are words after which somebody else is quoted to the end of a sentence or line.
	reports = newPattern(`(?i)\b((file|readme|page|site|doc(s|ument(ation)?)?|log|output|issue|ticket|comment|e-?mail|mail|letter|message|answer|reply|agent|assistant|tool|script|note|it|he|she|they|which|that)\s+(says?|said|reads?|states?|stated|tells?|told|contains?|wrote|writes|claims?|asks?)\b:?|(content|contents|text|output|log|quote)s?\s*:)[^\n]*`)
	// inlineQuote is a quotation of three words or more, or of something that is no word.
	inlineQuote = newPattern("\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(^|\\s)'[^'\n]+\\s[^'\n]+\\s[^'\n]+'")
)

// splitMessage divides a message into what its user typed, and what is quoted, fenced or pasted. What
// is in doubt is not typed.
func splitMessage(message string) (own, others string) {
	var mine, rest strings.Builder
	fence, tag, pasted, listed := "", "", false, 0
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			rest.WriteString(line + "\n")
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case tag != "":
			rest.WriteString(line + "\n")
			if strings.Contains(line, "</"+tag) {
				tag = ""
			}
		case fenceLine().MatchString(line):
			fence = trimmed[:3]
			rest.WriteString(line + "\n")
		case listed > 0 && mine.Len()+len(line) <= maxOwn:
			mine.WriteString(line + "\n")
			listed--
		case pasted || mine.Len()+len(line) > maxOwn:
			rest.WriteString(line + "\n")
		case openTag().MatchString(line):
			if name := openTag().FindStringSubmatch(line)[1]; !strings.Contains(line, "</"+name) {
				tag = name
			}
			rest.WriteString(line + "\n")
		case restIsPaste().MatchString(line):
			pasted = true
			rest.WriteString(line + "\n")
		case quotedLine().MatchString(line):
			rest.WriteString(line + "\n")
		default:
			typed, quoted := splitQuotes(line)
			mine.WriteString(typed + "\n")
			rest.WriteString(quoted)
			if strings.HasSuffix(trimmed, ":") && !fencedNext(lines[i+1:]) {
				pasted = true
				if !announces().MatchString(line) {
					listed = typedList(lines[i+1:])
				}
			}
		}
	}
	return strings.TrimSpace(mine.String()), strings.TrimSpace(rest.String())
}

var (
	listItem = newPattern(`^\s{0,3}([-*+•]|\d{1,2}[.)])\s+\S`)
	// announces are words by which what follows is somebody else's.
	announces = newPattern(`(?i)\b(files?|readme|pages?|sites?|docs?|document\w*|logs?|output|issues?|tickets?|comments?|e-?mails?|letters?|messages?|handbook|notes?|guide\w*|manual|wiki|spec\w*|says?|said|reads?|states?|wrote|writes|this|here|below|following|contents?|text|quote\w*|paste\w*|from|by)\b`)
)

// maxItem is how long an item of a list is that somebody types, in bytes.
const maxItem = 200

// typedList returns how many lines follow that are a list as users type it.
func typedList(lines []string) int {
	n := 0
	for _, line := range lines {
		if !listItem().MatchString(line) || len(line) > maxItem || len(findings(line)) > 0 {
			break
		}
		n++
	}
	return n
}

// fencedNext reports whether the next line that is not blank begins a fence or a quotation, which
// says by itself where it ends.
func fencedNext(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return fenceLine().MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), ">")
		}
	}
	return false
}

// splitQuotes takes quotations out of a line.
func splitQuotes(line string) (typed, quoted string) {
	var out strings.Builder
	take := func(text string) string {
		out.WriteString(text + "\n")
		return " "
	}
	line = inlineQuote().ReplaceAllStringFunc(line, func(q string) string {
		if len(strings.Fields(q)) < 3 && len(findings(q)) == 0 {
			return q
		}
		return take(q)
	})
	line = reports().ReplaceAllStringFunc(line, func(q string) string {
		// What is reported of the answer itself is the user's own: "it says 5, it should say 6".
		if len(findings(q)) == 0 && len(ordersIn(q, order())) == 0 {
			return q
		}
		return take(q)
	})
	return line, out.String()
}

// Words by which a sentence asks for something: in pasted text, and in what an agent answered.
var (
	order         = newPattern(`(?i)\b(always|never|from now on|must|ignore|disregard|do not|don't|make sure|be sure|remember to|you should|you are now|in every|(to|in|with) (each|every)|each time|whenever|append|prepend|(begin|end|start) (each|every|all|with)|ab jetzt|immer|niemals|toujours|jamais|d[ée]sormais|siempre|nunca|a partir de ahora)\b`)
	standingOrder = newPattern(`(?i)\b(always|never|from now on|ignore (all|any|previous|prior)|disregard|you are now|in every|in all future|(to|in|with) (each|every) (answer|reply|response|summary|message|output|session|conversation)|ab jetzt|immer|niemals|toujours|siempre)\b`)
	sentenceEnd   = newPattern(`[.!?]+(\s|$)|\n+`)
)

// Bounds on the instructions of others that are remembered: how many of one text, more than
// harvested texts can hold, and of how many words, longer ones being several that overlap.
const (
	maxOrders  = 4000
	maxOrder   = 50
	maxOverlap = 10
)

// ordersIn returns the words of the sentences of a text that ask for something.
func ordersIn(text string, asks *regexp.Regexp) [][]string {
	var out [][]string
	for _, sentence := range sentenceEnd().Split(truncateText(text, 64<<10), -1) {
		if len(out) < maxOrders && asks.MatchString(sentence) {
			for words := draft.Words(sentence); len(words) > 0; words = words[min(len(words), maxOrder):] {
				out = append(out, words[:min(len(words), maxOrder+maxOverlap)])
			}
		}
	}
	return out
}
