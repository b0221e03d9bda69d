package disk

import (
	"errors"
	"path"
	"strings"
)

// This file matches paths with patterns in which * means any part of a name, ? for
// one character, [a-z] for one of some, and ** for any number of names, none too.

// Match reports whether a pattern covers a path, the whole of it. The work is bounded by
// the product of their lengths. A pattern that is not Valid covers nothing by its broken
// names.
func Match(pattern, name string) bool {
	names := strings.Split(name, "/")
	row := make([]bool, len(names)+1) // whether the pattern so far covers the first j names
	row[0] = true
	for part := range strings.SplitSeq(pattern, "/") {
		next := make([]bool, len(row))
		next[0] = row[0] && part == "**"
		for j, name := range names {
			if part == "**" {
				next[j+1] = row[j+1] || next[j]
			} else if row[j] {
				ok, err := path.Match(part, name)
				next[j+1] = ok && err == nil
			}
		}
		row = next
	}
	return row[len(names)]
}

// ErrName says that a pattern has a name that no path has.
var ErrName = errors.New("there is an empty name, . or .. in it")

// ValidPattern says what is wrong with a pattern, if anything.
func ValidPattern(pattern string) error {
	if strings.Contains(pattern, `\`) {
		return errors.New("write / between folders")
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" || part == "." || part == ".." {
			return ErrName
		}
		if _, err := path.Match(part, ""); err != nil {
			return errors.New("the brackets are not closed")
		}
	}
	return nil
}

// FixedPart returns the folder in which all that a pattern covers is, as far as the pattern
// shows it, "" for the root; and whether the pattern is a path without any sign.
func FixedPart(pattern string) (dir string, plain bool) {
	at := strings.IndexAny(pattern, `*?[`)
	if at < 0 {
		return strings.TrimSuffix(path.Dir("/" + pattern)[1:], "/"), true
	}
	if slash := strings.LastIndexByte(pattern[:at], '/'); slash > 0 {
		return pattern[:slash], false
	}
	return "", false
}
