package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/cli"
)

// TestCommandsParse holds each command of the program that a page shows against the commands
// and flags that there are. README.md's are run as well (cmd/skillopt), and so are those of
// scripts; here none is.
func TestCommandsParse(t *testing.T) {
	t.Parallel()
	line, inline := regexp.MustCompile(`(?m)^(?:\$ )?(?:\./)?skillopt ([^#\n]+)`), regexp.MustCompile("`skillopt ([^`\n]+)`")
	n := 0
	for page, text := range pages(t) {
		if page == "reference.md" || strings.HasPrefix(page, "../lab/") {
			continue
		}
		all := inline.FindAllStringSubmatch(text, -1)
		for _, block := range append(blocks(text, "sh"), blocks(text, "console")...) {
			all = append(all, line.FindAllStringSubmatch(block, -1)...)
		}
		for _, m := range all {
			args, ok := splitWords(m[1])
			if !ok || strings.Contains(m[1], "...") {
				continue
			}
			n++
			root := cli.Root()
			root.InitDefaultHelpCmd()
			root.InitDefaultCompletionCmd()
			c, rest, err := root.Find(args)
			if err != nil {
				t.Errorf("%s: skillopt %s: %v", page, m[1], err)
				continue
			}
			if !c.Runnable() && c.Name() != "completion" || c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && c.Name() != "completion" {
				t.Errorf("%s: skillopt %s: there is no such command", page, m[1])
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%s: skillopt %s: %v", page, m[1], err)
			}
		}
	}
	if n < 100 {
		t.Errorf("found only %d commands", n)
	}
}

// splitWords splits a command as a shell does, up to what ends or redirects it. ok is false if
// a quotation has no end.
func splitWords(line string) (words []string, ok bool) {
	var word strings.Builder
	quote, open := rune(0), false
	flush := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '|' || r == '>' || r == '&' || r == ';':
			flush()
			return words, true
		case r == ' ':
			flush()
		default:
			word.WriteRune(r)
			open = true
		}
	}
	flush()
	return words, quote == 0
}
