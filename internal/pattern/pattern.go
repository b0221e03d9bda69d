// Package pattern has regular expressions that are compiled when they are first used, so
// that a program which uses few of them starts at once.
//
// It knows nothing about what is looked for.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of text, in the syntax of regexp. One that is broken panics when
// it is first used.
func New(text string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// Regexp returns the compiled pattern.
func (p Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString is that of regexp.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindStringSubmatch returns what the method of regexp.Regexp returns.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns what the method of regexp.Regexp returns.
func (p Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// FindAllStringSubmatch returns what the method of regexp.Regexp returns.
func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindString returns what the method of regexp.Regexp returns.
func (p Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex returns what the method of regexp.Regexp returns.
func (p Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// ReplaceAllString returns what the method of regexp.Regexp returns.
func (p Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}
