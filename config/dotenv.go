package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/joho/godotenv"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// readDotenv reads variables from a file that may be absent. What the parser says
// of a bad line quotes the rest of the file, and with it the keys. A guard lets through what its
// host trusts.
func (l *loader) readDotenv(ctx context.Context, path string) error {
	data, err := disk.Read(ctx, path, MaxFile)
	if ctx.Err() != nil {
		return fmt.Errorf("read .env: %w", context.Cause(ctx))
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && l.opts.Guard.Trust(hashData(data)) != nil {
		return nil
	}
	if err != nil {
		return problemAt(l.show(path), "", disk.Reason(err), "a readable file with lines of NAME=value")
	}
	text := string(data)
	if n := longestVariables(text); n > maxExpanded {
		return problemAt(l.show(path), "", "variables that expand to more than "+disk.Size(maxExpanded), "lines of NAME=value")
	}
	if l.dotenv, err = godotenv.Unmarshal(text); err != nil {
		return problemAt(fmt.Sprintf("%s:%d", l.show(path), brokenLine(text)), "", "a line that cannot be read", "lines of NAME=value")
	}
	return nil
}

// maxExpanded bounds what variables represent all together, in bytes: one that names
// another twice is twice as long, and so on.
const maxExpanded = 16 << 20

var (
	assignment = pattern.New(`^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_.]+)[ \t]*[=:]`)
	reference  = pattern.New(`\$\{?([A-Za-z0-9_]+)`)
)

// longestVariables returns how long the values of a .env file are at most when they
// are written out, up to little more than maxExpanded.
func longestVariables(text string) int {
	sizes := map[string]int{}
	name, total := "", 0
	for line := range strings.Lines(text) {
		if m := assignment.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		n := len(line)
		for _, m := range reference.FindAllStringSubmatch(line, -1) {
			n += sizes[m[1]]
		}
		sizes[name] += n // of several lines, or given twice
		if total += n; total > maxExpanded {
			return total
		}
	}
	return total
}

// brokenLine returns the line after the longest beginning that can be read. In a long
// file it looks for one by halves, since each look reads the beginning again: an
// earlier line that only opens a value of several lines may be named then.
func brokenLine(text string) int {
	const long = 200
	lines := strings.SplitAfter(text, "\n")
	reads := func(n int) bool {
		_, err := godotenv.Unmarshal(strings.Join(lines[:n], ""))
		return err == nil
	}
	if len(lines) > long {
		return max(1, sort.Search(len(lines), func(n int) bool { return !reads(n) }))
	}
	for n := len(lines) - 1; n > 0; n-- {
		if reads(n) {
			return n + 1
		}
	}
	return 1
}
