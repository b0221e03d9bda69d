package skill

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// What names a file in Markdown: the target of a link or an image, that of a link by
// reference, and a path in one of the standard's folders between backticks.
var (
	inlineLink    = pattern.New(`\]\(\s*(<[^<>\n]*>|[^\s()<>]+)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`)
	referenceLink = pattern.New(`^ {0,3}\[[^\]]+\]:\s*(<[^<>]*>|\S+)`)
	codePath      = pattern.New("`((?:scripts|references|assets)/[\\w./-]*\\w)`")
	codeSpan      = pattern.New("`[^`]*`")
	exampleLine   = pattern.New(`(?i)\be\.g\.|\bexamples?\b|\bsuch as\b|\bfor instance\b|\blike\b|\bcould\b|\bwould\b|\bi\.e\.|\bimagine\b|\bsuppose\b`)
	examplePath   = pattern.New(`(?i)^(?:path/to|path|url|link|file(?:name)?|\.\.\.)(?:$|[/.])|\b(?:your|my|example|sample|foo|bar|baz|xxx)[_.-]|\b(?:foo|bar|example|filename|skill-name)\b|[{}*$]|\.\.\.|[A-Z]{2,}_[A-Z]{2,}|YYYY|NNN`)
	scheme        = pattern.New(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

// links checks that what a Markdown file names is there. What is in fenced code is an
// example.
func (l *linter) links(name, text string) {
	fence := ""
	for i, line := range splitKeeping(text) {
		line = strings.TrimRight(line, "\r")
		if mark := fenceMark(line); fence == "" && mark != "" {
			fence = mark
			continue
		} else if fence != "" {
			if strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		spans, links := targets(line)
		for _, target := range spans {
			if !exampleLine.MatchString(line) {
				l.link(name, i+1, target, LintWarning)
			}
		}
		for _, target := range links {
			l.link(name, i+1, target, LintError)
		}
	}
}

// fenceMark returns the run of backticks or tildes that a line begins with, "" for fewer than
// three.
func fenceMark(line string) string {
	text := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, c)); n >= 3 {
			return text[:n]
		}
	}
	return ""
}

// targets returns what a line names: paths between backticks, which may be examples, and links.
func targets(line string) (spans, out []string) {
	for _, m := range codePath.FindAllStringSubmatch(line, -1) {
		spans = append(spans, m[1])
	}
	line = codeSpan.ReplaceAllString(line, "")
	for _, m := range inlineLink.FindAllStringSubmatch(line, -1) {
		out = append(out, m[1])
	}
	if m := referenceLink.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[0], "[^") {
		out = append(out, m[1])
	}
	return spans, out
}

// link checks one target of a file. How grave it is that it is missing depends on what names it.
func (l *linter) link(file string, line int, target string, missing Severity) {
	target = strings.Trim(target, "<>")
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	if target == "" || scheme.MatchString(target) || strings.HasPrefix(target, "/") || examplePath.MatchString(target) {
		return
	}
	beside, fromRoot := path.Join(path.Dir(file), target), path.Clean(target)
	switch {
	case inEvals(beside), inEvals(fromRoot): // they are no part of what is loaded
	case l.hasPath(beside), l.hasPath(fromRoot): // agents get paths from the skill's folder
	case strings.HasPrefix(beside, "../") && strings.HasPrefix(fromRoot, ".."):
		l.add(file, line, LintWarning, RuleLink, "%q leads out of the skill's folder, of which alone agents get the files", cut(target, maxPath))
	default:
		l.add(file, line, missing, RuleLink, "%q is not in the skill", cut(target, maxPath))
	}
}

// inEvals reports whether a path is in the folder of what a skill is tried with.
func inEvals(name string) bool { return name == evals || strings.HasPrefix(name, evals+"/") }

// hasPath reports whether a path is a file of the skill, or a folder with files.
func (l *linter) hasPath(name string) bool {
	return name == "." || slices.ContainsFunc(l.skill.Files(), func(f string) bool {
		return f == name || strings.HasPrefix(f, name+"/")
	})
}
