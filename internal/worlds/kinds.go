package worlds

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// kind is a kind of task: what is asked for, and the rules about the answer.
type kind struct {
	noun  string
	form  form
	rules []ruleDef
}

// ruleDef is a rule as it is written into the world file.
type ruleDef struct {
	id        string
	word      string // with the noun it states the rule
	say       []string
	transform string // YAML
}

// form is what the values of a kind look like.
type form struct {
	value  func(r *rand.Rand) string
	answer string                      // expression of the plain answer over the captured text
	rules  func(noun string) []ruleDef // MaxDepth of them, the one that needs a plain answer first
}

// forms returns the kinds of values, in the order in which kinds take them.
func forms() []form {
	return []form{
		{amount, "fixed(value, 2)", amountRules},
		{list, "value", listRules},
		{code, "value", codeRules},
		{date, "value", dateRules},
		{weight, "cat(value, ' kg')", weightRules},
	}
}

// nouns returns what can be asked for; number i has form i % len(forms()). None
// begins with another one.
func nouns() []string {
	return strings.Fields(`
		fare cargo badge renewal payload
		toll menu licence inspection ballast
		deposit roster locker expiry freight
		rebate palette voucher audit luggage
		surcharge fleet permit handover harvest
		levy crew ticket delivery shipment
		premium syllabus serial opening timber
		royalty itinerary passport maturity gravel`)
}

// plainNouns returns what tasks ask for that no rule concerns. All hold codes.
func plainNouns() []string { return []string{"shelf", "gate", "owner", "region"} }

// newKinds returns the kinds of a world. The rules are dealt out so that kinds of
// every depth from 1 to p.Depth occur.
func newKinds(p Params) []kind {
	all := forms()
	var kinds []kind
	left := p.Rules
	for i, noun := range nouns() {
		if left == 0 {
			break
		}
		f := all[i%len(all)]
		rest := len(nouns()) - i - 1
		n := min(left, max(1+i%p.Depth, left-rest*p.Depth)) // the rest must have room for what is left
		kinds = append(kinds, kind{noun: noun, form: f, rules: f.rules(noun)[:n]})
		left -= n
	}
	if p.Plain > 0 {
		for _, noun := range plainNouns() {
			kinds = append(kinds, kind{noun: noun, form: form{value: code, answer: "value"}})
		}
	}
	return kinds
}

func amount(r *rand.Rand) string { return fmt.Sprintf("%d.%02d", 10+r.IntN(900), 5*(1+r.IntN(9))) }

func weight(r *rand.Rand) string { return fmt.Sprintf("%d.%02d", 1+r.IntN(90), 5*(1+r.IntN(19))) }

func code(r *rand.Rand) string {
	const letters = "abcdefghkmnprstw"
	return fmt.Sprintf("%c%c-%d", letters[r.IntN(len(letters))], letters[r.IntN(len(letters))], 1000+r.IntN(9000))
}

func date(r *rand.Rand) string {
	return time.Date(2025, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC).Format("2 January 2006")
}

// list returns three words that are not in alphabetical order.
func list(r *rand.Rand) string {
	words := strings.Fields("amber birch cedar denim ebony flint grain hazel ivory jade")
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[:3]
	if words[0] < words[1] && words[1] < words[2] {
		words[0], words[2] = words[2], words[0]
	}
	return strings.Join(words, ", ")
}

func amountRules(noun string) []ruleDef {
	return []ruleDef{
		newRuleDef(noun, "round", "round the number to whole units", "round it half up, without decimals", "{kind: round, digits: 0}"),
		newRuleDef(noun, "eur", "put EUR and a space before the number", "let the answer begin with EUR", "{kind: prefix, text: 'EUR '}"),
		newRuleDef(noun, "gross", "write gross behind the number", "add the word gross at the end", "{kind: suffix, text: ' gross'}"),
	}
}

func listRules(noun string) []ruleDef {
	return []ruleDef{
		newRuleDef(noun, "alphabetic", "put the entries in alphabetical order", "keep alphabetic order", "{kind: sort, by: text}"),
		newRuleDef(noun, "semicolon", "separate the entries with semicolons", "write a semicolon between entries, no comma", "{kind: separator, text: '; '}"),
		newRuleDef(noun, "bracket", "close the list with a bracket", "let a closing bracket follow the last entry", "{kind: suffix, text: ' ]'}"),
	}
}

func codeRules(noun string) []ruleDef {
	return []ruleDef{
		newRuleDef(noun, "capital", "write capital letters only", "use capitals for all letters", "{kind: upper}"),
		newRuleDef(noun, "hash", "put a hash sign in front", "let the answer begin with a hash", "{kind: prefix, text: '#'}"),
		newRuleDef(noun, "office", "name the office HQ behind it", "add the office at the end, as /HQ", "{kind: suffix, text: /HQ}"),
	}
}

func dateRules(noun string) []ruleDef {
	return []ruleDef{
		newRuleDef(noun, "yyyy", "write the day as YYYY-MM-DD", "the form is YYYY-MM-DD", "{kind: date, from: [2 January 2006], to: '2006-01-02'}"),
		newRuleDef(noun, "noon", "add noon as the time", "write 12:00, which is noon, at the end", "{kind: suffix, text: ' 12:00'}"),
		newRuleDef(noun, "zone", "name the time zone UTC first", "let the zone UTC stand in front", "{kind: prefix, text: 'UTC '}"),
	}
}

func weightRules(noun string) []ruleDef {
	return []ruleDef{
		newRuleDef(noun, "gram", "convert it to whole grams", "state it in grams, with g behind the number", "{kind: scale, factor: 1000, from: [kg], to: g}"),
		newRuleDef(noun, "net", "write net in front", "let the answer begin with net", "{kind: prefix, text: 'net '}"),
		newRuleDef(noun, "dry", "write dry behind the unit", "add the word dry at the end", "{kind: suffix, text: ' dry'}"),
	}
}

// newRuleDef makes a rule of what two sentences about a noun have in common.
func newRuleDef(noun, word, one, other, transform string) ruleDef {
	return ruleDef{
		id: noun + "-" + word, word: word, transform: transform,
		say: []string{fmt.Sprintf("Asked for the %s, %s.", noun, one), fmt.Sprintf("The %s: %s.", noun, other)},
	}
}

// card writes a document with a value of the kind and some that no one asks for,
// and the question.
func card(r *rand.Rand, k kind) string {
	lines := []string{fmt.Sprintf("- %s: %s", k.noun, k.form.value(r))}
	for _, other := range []string{"remark", "clerk", "copies"} {
		if r.IntN(2) == 0 {
			lines = append(lines, fmt.Sprintf("- %s: %s", other, code(r)))
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return fmt.Sprintf("Card %d of the file room:\n%s\n\nQuestion: What is the %s?\n\nPut the answer, and nothing else, between <answer> and </answer>.",
		10000+r.IntN(90000), strings.Join(lines, "\n"), k.noun)
}
