package skill

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Severity says how grave a Finding is.
type Severity string

// The severities of findings.
const (
	LintError   Severity = "error"   // the skill breaks the standard, or names what is not there
	LintWarning Severity = "warning" // it works, but not everywhere, or not as meant
)

// Rule names what a Finding is about.
type Rule string

// The rules of Lint.
const (
	RuleFrontMatter Rule = "front_matter" // fields, their types and lengths
	RuleName        Rule = "name"
	RuleDescription Rule = "description"
	RuleLength      Rule = "length" // of what is always loaded
	RuleLink        Rule = "link"   // to a file that is not there
	RuleScript      Rule = "script" // that cannot be started by its name
	RuleSecret      Rule = "secret"
	RuleRegion      Rule = "region" // markers of a learned region that cannot be determined
)

// Finding is something odd about a skill.
type Finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // 1-based; 0: the file as a whole
	Severity Severity `json:"severity"`
	Rule     Rule     `json:"rule"`
	Message  string   `json:"message"` // what is wrong, and what is allowed; it holds no secret
}

// Bounds of the Agent Skills standard, agentskills.io/specification, in code points, and
// the length of a SKILL.md that it advises.
const (
	maxName          = 64
	maxCompatibility = 500
	advisedLines     = 500
)

// Lint checks a skill against the Agent Skills standard, and for what will fail when an
// agent uses it: links to files that are not there, scripts that cannot be started,
// secrets. folder is the name of the skill's directory, "" if it is not known. The
// findings are in the order of files and lines.
func Lint(s Skill, folder string) []Finding {
	l := &linter{skill: s}
	l.frontMatter(folder)
	l.region()
	for _, name := range s.Files() {
		text, _ := s.File(name)
		if !isText(text) {
			continue
		}
		if strings.EqualFold(path.Ext(name), ".md") {
			l.links(name, text)
		}
		l.secrets(name, text)
		l.script(name, text)
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order(a.File), order(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return l.found
}

// LintDocument does what Lint does for a Markdown document under another name than SKILL.md, such
// as CLAUDE.md or AGENTS.md. Such a document is by itself: the standard says nothing of its front
// matter, and what it links to lies elsewhere. name is what findings call it.
func LintDocument(text, name string) []Finding {
	l := &linter{skill: New(text)}
	l.region()
	l.secrets(Main, text)
	for i := range l.found {
		l.found[i].File = name
	}
	return l.found
}

// region checks the markers of the learned region.
func (l *linter) region() {
	var bad *RegionError
	if _, err := learnedIn(l.skill.main); errors.As(err, &bad) {
		l.add(Main, bad.Line, LintError, RuleRegion, "%s", bad.Reason)
	}
}

// order puts SKILL.md first.
func order(file string) int {
	if file == Main {
		return 0
	}
	return 1
}

type linter struct {
	skill Skill
	found []Finding
}

func (l *linter) add(file string, line int, severity Severity, rule Rule, format string, args ...any) {
	l.found = append(l.found, Finding{File: file, Line: line, Severity: severity, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// frontMatter checks the fields of SKILL.md.
func (l *linter) frontMatter(folder string) {
	text := l.skill.Text()
	if n := strings.Count(text, lf); n > advisedLines {
		l.add(Main, 0, LintWarning, RuleLength, "%d lines are loaded whenever the skill is used: move what few tasks need into references; the standard advises at most %d", n, advisedLines)
	}
	doc, err := Parse(text)
	var bad *FrontMatterError
	switch {
	case errors.As(err, &bad):
		l.add(Main, bad.Line, LintError, RuleFrontMatter, "%s", strings.TrimPrefix(bad.Error(), fmt.Sprintf("line %d: ", bad.Line)))
		return
	case doc.Head == "":
		l.add(Main, 1, LintError, RuleFrontMatter, "there is no front matter: begin with a line ---, name: and description:, and a line ---")
		return
	}
	inner := frontMatterYAML(doc.Head)
	fields := map[string]any{}
	if _, err := yamlx.Decode([]byte(inner), &fields); err != nil {
		return // Parse has reported it
	}
	at := func(key string) int { return 1 + keyLine(inner, key) }
	l.name(doc.Name, folder, at("name"))
	l.length(RuleDescription, "description", doc.Description, MaxDescription, at("description"), true)
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(knownFields, key) {
			unknown = append(unknown, key)
			continue
		}
		l.field(key, fields[key], at(key))
	}
	if len(unknown) > 0 {
		l.add(Main, at(unknown[0]), LintWarning, RuleFrontMatter, "%s", tellUnknown(unknown))
	}
}

// knownFields are those of the standard.
var knownFields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

// tellUnknown returns what is said of all fields that the standard does not have.
func tellUnknown(keys []string) string {
	const most = 8
	var names []string
	hint := "the standard has " + strings.Join(knownFields, ", ")
	for _, key := range keys[:min(most, len(keys))] {
		names = append(names, fmt.Sprintf("%q", cut(key, maxName)))
		if near, ok := wording.Suggest(key, knownFields); ok && len(keys) == 1 {
			hint = "did you mean " + near + "?"
		} else if ok {
			names[len(names)-1] += fmt.Sprintf(" (did you mean %s?)", near)
		}
	}
	if len(keys) == 1 {
		return names[0] + " is no field of the standard, and not every agent knows it: " + hint
	}
	if more := len(keys) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ") + " are no fields of the standard, and not every agent knows them: " + hint
}

// field checks a field other than name and description.
func (l *linter) field(key string, value any, line int) {
	text, isText := yamlText(value)
	switch key {
	case "name", "description":
	case "license", "allowed-tools":
		if !isText {
			l.add(Main, line, LintWarning, RuleFrontMatter, "%s is %s, want text", key, describe(value))
		}
	case "compatibility":
		if !isText {
			l.add(Main, line, LintWarning, RuleFrontMatter, "%s is %s, want text", key, describe(value))
			return
		}
		l.length(RuleFrontMatter, key, text, maxCompatibility, line, false)
	case "metadata":
		if _, ok := value.(map[string]any); !ok {
			l.add(Main, line, LintWarning, RuleFrontMatter, "%s is %s, want a mapping of names to texts", key, describe(value))
		}
	}
}

// nameForm is what a name may be: words of lower-case letters and digits, joined by single
// hyphens.
var nameForm = pattern.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (l *linter) name(name, folder string, line int) {
	switch {
	case name == "":
		l.add(Main, line, LintError, RuleName, "there is no name: want 1 to %d lower-case letters, digits and single hyphens", maxName)
	case !nameForm.MatchString(name) || len(name) > maxName:
		l.add(Main, line, LintError, RuleName, "name %q: want 1 to %d lower-case letters, digits and single hyphens, none of these at an end", cut(name, maxName+1), maxName)
	case folder != "" && folder != name:
		l.add(Main, line, LintWarning, RuleName, "name %q is not that of its folder, %q: agents that go by the folder find no such skill", name, folder)
	}
}

// length checks how long a text is.
func (l *linter) length(rule Rule, key, text string, most, line int, required bool) {
	switch n := utf8.RuneCountInString(text); {
	case required && strings.TrimSpace(text) == "":
		l.add(Main, line, LintError, rule, "there is no %s: say in 1 to %d characters what the skill does and when to use it", key, most)
	case n > most:
		l.add(Main, line, LintError, rule, "%s has %d characters, at most %d are allowed", key, n, most)
	}
}

// secrets looks for keys, and for what looks like one behind the name of a secret.
func (l *linter) secrets(name, text string) {
	for _, f := range redact.Find(splitKeeping(text)) {
		if f.Shape {
			l.add(name, f.Line+1, LintError, RuleSecret, "there is what looks like a secret: take it out, every agent and every model that gets the skill reads it")
			continue
		}
		l.add(name, f.Line+1, LintWarning, RuleSecret, "there is what looks like a secret: if it is one take it out, every agent and every model that gets the skill reads it")
	}
}

func splitKeeping(text string) []string { return strings.Split(text, lf) }

// interpreted are the endings of scripts; a program without one is a script too.
var interpreted = pattern.New(`(?i)\.(sh|bash|zsh|py|js|mjs|rb|pl|php|lua)$`)

// script checks that what lies in scripts can be started by its name.
func (l *linter) script(name, text string) {
	ext := path.Ext(name)
	if !strings.HasPrefix(name, scripts) || ext != "" && !interpreted.MatchString(name) || ext == "" && !strings.HasPrefix(text, "#!") && !l.skill.Executable(name) {
		return
	}
	switch shebang := strings.HasPrefix(text, "#!"); {
	case !shebang && !l.skill.Executable(name): // its interpreter runs it
	case !shebang:
		l.add(name, 1, LintWarning, RuleScript, "it may be executed but has no line #!, such as #!/usr/bin/env python3, which names its interpreter")
	case !l.skill.Executable(name):
		l.add(name, 0, LintWarning, RuleScript, "it has a line #! but may not be executed: chmod +x %s", name)
	}
}
