package symptom

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// room is how much of a message is read.
const room = 64 << 10

var (
	ansi     = pattern.New(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?`)
	pytest   = pattern.New(`(?m)^E   `)
	frames   = pattern.New(`^(?:goroutine \d+ |stack backtrace:|.*Traceback(?: \(most recent call last\))?:$|Stack trace:|    at )|^\s+running tests:$|^\s*Diff:$`)
	excepted = pattern.New(`^(?:[|+\s-]*)((?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Iteration|Group|Failed)\w*(?::.*)?)$`)
	// noise says where it happened, not what happened.
	noise = pattern.New(`^\s*(?:` + strings.Join([]string{
		`at .*`, `❯ .*`, `.*[^\s]+ \+0x[0-9a-f]+`, `goroutine \d+ .*`, `created by .*`, `\d+: [\w<].*`, `>?\s*\d+\s*\|.*`, `-->.*`, `[|\s^~]+`, `[|+\s-]*[+-]{4,}[\s\d+-]*`, `> .*`, `\? .*`,
		`File ".*", line \d+.*`, `(?:=== |--- (?:FAIL|PASS|SKIP)|FAIL\b|PASS$|ok\s|exit status|coverage:).*`, `(?:---|\+\+\+) (?:Expected|Actual|expected|actual|a|b)\b.*`, `@@.*`,
		`Error Trace:.*`, `Test:\s.*`, `(?:code|failureType|generatedMessage|operator|diff|stack|showDiff): .*`, `note: (?:run|some|the|see|add|Some) .*`, `thread '.*' .*panicked at [^']*:\d+:\d+:`,
		`(?:During handling of|The above exception was|Use -v|Use -vv|Omitting \d|Hint:|use 'pytest|available fixtures|.*Full output truncated|Some details are|failures:|running \d+ test|test result:|error: test failed|Captured ).*`,
		`\+\s*where <.*`, `\S+:\d+:(?: in)?(?: \S+)?`, `_[ _]*`, `=+.*=+`, `[-+ ]*(?:[\[({]|[\])}],?|[^\pL\pN\[\](){}"']*)`,
		`caused by:.*`, `\[\+\d+ more line.*`, `_testmain.*`, `----.*----`,
	}, "|") + `)$`)
	prefix = pattern.New(`^\s*(?:[\w@./\\-]+\.\w+:\d+(?::\d+)?:\s*|\|\s+|Error:\s{2,}|Messages:\s*|\[?(?:Assertion)?Error \[ERR_\w+\]:\s*|cause: (?:Assertion)?(?:Error \[ERR_\w+\]: )?|thread '.*' panicked at ')`)
	suffix = pattern.New(`(?: \[recovered(?:, repanicked)?\]|', …| \(…\)|\] \{|\]? \{\s*$| // Object\.is equality| at …)$`)
	object = pattern.New(`<(?:bound )?(?:function|method|built-in \w+) ([\w.<>]+?)(?: of .*?)?(?: at 0x[0-9a-f]+)?>+| at 0x[0-9a-f]+|0x[0-9a-f]{8,}\??`)
	// paths are places of files: with a number of a line, of sources, or of folders of a machine.
	paths = pattern.New(`(?:file://)?(?:[A-Za-z]:)?[\w@.~+/\\-]*[\w-]\.(?:go|pyw?|[cm]?[jt]sx?|rs|java|kt|cs?|h|cc|cpp|hpp|swift|dart|rb|php|snap)\b(?:(?::|, line )\d+)*(?::\d+)?|\b[\w@.~+/\\-]+\.\w+:\d+(?::\d+)?\b|/(?:tmp|home|root|var|private|Users|usr|opt|work|mnt|build)/[\w@.~+/-]+`)
)

// statements returns the lines of a message that say what goes wrong.
func statements(message string) []string {
	message = ansi.ReplaceAllString(wording.Middle(message, room), "")
	message = strings.ReplaceAll(message, "\r\n", "\n")
	lines := strings.Split(message, "\n")
	if pytest.MatchString(message) {
		lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "E   ") })
		for i := range lines {
			lines[i] = lines[i][len("E   "):]
		}
	}
	var out []string
	for _, line := range dropFrames(lines) {
		if noise.MatchString(line) {
			continue
		}
		line = paths.ReplaceAllString(object.ReplaceAllString(prefix.ReplaceAllString(line, ""), "$1"), "…")
		line = strings.TrimSpace(suffix.ReplaceAllString(strings.TrimRight(line, " \t\r"), ""))
		if line != "" && !noise.MatchString(line) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	if len(out) > 1 && strings.Contains(letters(strings.Join(out[1:], "")), letters(out[0])) {
		out = out[1:] // an attribute that the text says as well
	}
	return out
}

// dropFrames leaves out stack frames: from where they begin to the exception that they end with.
func dropFrames(lines []string) (out []string) {
	in, indent := false, 0
	for _, line := range lines {
		depth := len(line) - len(strings.TrimLeft(line, " \t|+"))
		switch {
		case in && excepted.MatchString(line) && depth <= indent+2:
			in = false
			out = append(out, excepted.FindStringSubmatch(line)[1])
		case frames.MatchString(line):
			in, indent = true, depth
		case in && strings.TrimSpace(line) == "" && depth == 0 && len(out) > 0:
		case !in:
			out = append(out, line)
		}
	}
	return out
}

// squash returns a text without spaces.
func squash(text string) string { return strings.Join(strings.Fields(text), "") }

// letters returns the letters and digits of a text.
func letters(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "")
}
