package cli

import (
	"fmt"
	"io"
	"strings"
)

// This file colours what is easier to read in colours: diffs.

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

func (a *app) checkColor() error {
	switch a.color {
	case colorAuto, colorAlways, colorNever:
		return nil
	}
	return usagef("--color %s: allowed: %s, %s, %s", a.color, colorAuto, colorAlways, colorNever)
}

// colors reports whether standard output is coloured.
func (a *app) colors() bool { return a.color == colorAlways || a.color != colorNever && a.Color }

// Sequences that begin and end a colour.
const (
	bold     = "\x1b[1m"
	red      = "\x1b[31m"
	green    = "\x1b[32m"
	cyan     = "\x1b[36m"
	endColor = "\x1b[0m"
)

// writeDiff prints a unified diff. What the skills say cannot steer a terminal, in colours
// or without.
func (a *app) writeDiff(diff string) error {
	if !a.colors() {
		_, err := fmt.Fprint(a.Out, diff)
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(diff) {
		text, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		text = printable(text)
		if c := lineColor(line); c != "" {
			text = c + text + endColor
		}
		b.WriteString(text + end)
	}
	_, err := io.WriteString(rawWriter(a.Out), b.String())
	return err
}

// lineColor returns the colour of a line of a unified diff, "" if it has none.
func lineColor(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	}
	return ""
}
