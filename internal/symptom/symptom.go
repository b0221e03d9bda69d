// Package symptom words what an agent reads of a task: what goes wrong, from what failing tests
// report, and nothing of the fix or of the text of the tests. It is pure.
//
// It knows nothing about repositories, runs of tests and models: messages and texts are
// given, and a model's wording is judged, not asked for.
package symptom

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Failing is a test that fails before the fix.
type Failing struct {
	Name    string // as runner.Report has it
	Message string // as the runner reported it, with traceback, frames and paths
}

// Source is what is known of a task.
type Source struct {
	Failing       []Failing
	Subject, Body string   // of the commit; "" for a fault
	Diff          string   // lines of the fix, each with "+" or "-" before it; headers of files and hunks may be there
	TestText      string   // the text of hidden tests
	BaseText      string   // the texts that the fix touches, as they are before it, and names that are known there
	Undefined     []string // what tests need that is not there before the fix, from Undefined; a text may name it
	Path          string   // of a file that the fix changes: the language
}

// Bounds on what an agent reads.
const (
	maxTests   = 10
	maxLines   = 14 // of a test's message
	maxLine    = 400
	maxMessage = 2000 // of a commit
)

const asked = "Change the code of this repository so that it does what is described here. Tests that are not in this folder decide whether it does."

// Write returns the text of a task, and false where nothing is left that says what goes
// wrong ("no symptom").
func Write(s Source) (text string, ok bool) {
	k := know(s)
	var b strings.Builder
	b.WriteString(asked + "\n")
	if m := k.commit(); m != "" {
		b.WriteString("\nWhat is wanted:\n\n" + m + "\n")
		ok = true
	}
	var reports []string
	for _, f := range s.Failing {
		report, says := k.report(f)
		if says && !slices.Contains(reports, report) {
			reports = append(reports, report)
		}
	}
	if len(reports) > 0 {
		b.WriteString("\nWhat goes wrong now, as these tests report it:\n\n")
	}
	for i, r := range reports {
		if i == maxTests {
			fmt.Fprintf(&b, "- and %d more\n", len(reports)-i)
			break
		}
		b.WriteString(r)
	}
	return wording.Plain(b.String()), ok || len(reports) > 0
}

// report returns what one test says: its name and what is left of its message, and whether that says
// what goes wrong.
func (k *known) report(f Failing) (report string, says bool) {
	title := k.title(f.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "- %s\n", title)
	n := 0
	for _, line := range statements(f.Message) {
		if len(k.leaks(line)) > 0 || k.quotes(line) {
			continue
		}
		if n++; n > maxLines {
			b.WriteString("    ...\n")
			break
		}
		fmt.Fprintf(&b, "    %s\n", wording.Cut(line, maxLine))
		lacks := slices.ContainsFunc(FindUndefined(line), func(u string) bool { return k.needed[strings.ToLower(u)] })
		says = says || specific(line) > 0 && !lacks // that something is not there does not say what it is to do
	}
	return b.String(), says || n > 0 && specific(camel.ReplaceAllString(title, " $0")) > 1
}

var (
	file    = pattern.New(`^[^ ]*[./\\][^ ]*\.\w+$`)
	goTest  = pattern.New(`^\S*?\.((?:Test|Fuzz|Example|Benchmark)[^.]*(?:/.*)?)$`)
	generic = pattern.New(`(?i)^(?:assert\w*|\w*assertion(?:error)?|error|fail\w*|expect\w*|actual|received?|got|wants?|true|false|none|null|nil|undefined|values?|strict\w*|equal\w*|deep\w*|to|be|tobe|toequal|object|is|left|right|not|missing|exceptions?|the|expression|evaluated|falsy|did|throw\w*|raised?|function|panic\w*|should|tests?|and|cause|for|but|was|were|with|an?|of|in|it|has|have|that|condition|unexpected|result|output|match\w*|ok|no|yes|called|unwrap|on|note|as|at)$`)
)

// title returns the name of a test without file, package and what only the fix has.
func (k *known) title(name string) string {
	if m := goTest.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	for _, sep := range []string{" > ", "::"} {
		parts := strings.Split(name, sep)
		if len(parts) > 1 && (file.MatchString(parts[0]) || sep == "::" && len(parts) > 2) {
			parts = parts[1:]
		}
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "tests" || p == "test" })
		name = strings.Join(parts, sep)
	}
	name = wording.Cut(strings.Join(strings.Fields(paths.ReplaceAllString(name, "")), " "), maxLine)
	if name == "" || len(k.leaks(name)) > 0 {
		return "a test"
	}
	return name
}

// specific counts the words and numbers of a text that say something.
func specific(text string) (n int) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !generic.MatchString(w) {
			n++
		}
	}
	return n
}

var camel = pattern.New(`\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}+|\d+`)

var (
	trailer = pattern.New(`(?i)^\s*(?:[\w-]+-by:.*|change-id:.*|(?:closes?|fix(?:es)?|refs?|see|resolves?|pull request|issue|bug|link)\s*:?\s*(?:#|https?:).*)$`)
	number  = pattern.New(`(?i)\s*\(?(?:(?:closes|fixes|fix|resolves|refs|see) )?(?:gh-|[\w-]+/[\w-]+)?#\d+\)?`)
	// given is what says how something was fixed, not what is wrong.
	given = pattern.New(`(?i)[<>=!]=|&&|\|\||\+\+|[+\-*/|&]=|=>|\b(?:instead of|rather than|off[ -]by[ -]one|replac\w+|swap\w*|switch(?:ed)? (?:to|from)|chang\w+ .* (?:to|from)|mov(?:e|ed|ing) |renam\w+|refactor\w*|revert\w*|add(?:ed|s)? (?:a |the |an )?(?:missing )?(?:check|call|return|break|continue|if|guard|condition|cast|lock|null check|nil check))\b|\w\(\)? *(?:in|from|to|by|with) \w+\(|https?://`)
)

// commit returns the message of the commit, where it says what is wanted and does not give the fix away.
func (k *known) commit() string {
	subject := strings.TrimSpace(number.ReplaceAllString(k.source.Subject, ""))
	var body []string
	for line := range strings.Lines(k.source.Body) {
		if line = strings.TrimRight(line, " \r\n\t"); !trailer.MatchString(line) {
			body = append(body, number.ReplaceAllString(line, ""))
		}
	}
	whole := strings.TrimSpace(subject + "\n\n" + strings.TrimSpace(strings.Join(body, "\n")))
	for _, m := range []string{whole, subject} {
		if len(m) <= maxMessage && specific(m) > 2 && len(k.leaks(m)) == 0 && !given.MatchString(m) && paths.ReplaceAllString(m, "") == m {
			return m
		}
	}
	return ""
}
