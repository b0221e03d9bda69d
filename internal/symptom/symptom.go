// Package symptom words what an agent reads of a task: what goes wrong, from what failing tests
// report, and nothing of the fix or of the text of the tests. It is pure.
//
// It knows nothing about repositories, runs of tests and models: messages and texts are
// handed in, and a model's wording is judged, not asked for.
package symptom

import "encoding/json"

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

// Write returns the text of a task, and false where nothing is left that says what goes
// wrong ("no symptom").
func Write(s Source) (text string, ok bool) { return "", false }

// Leaks returns what a text names of the fix or the hidden tests: identifiers and lines that the
// base does not have. What s.Undefined lists is none. They are sorted.
func Leaks(text string, s Source) []string { return nil }

// Undefined returns the identifiers that a compiler, a collector or a runner says are
// missing, or are called otherwise than they are declared: Go, Python, JavaScript, TypeScript, Rust.
func Undefined(output string) []string { return nil }

// Names reports whether a text names each identifier. With none it is false: what does not
// build for a reason that Undefined does not know cannot be put right from the text.
func Names(text string, undefined []string) bool { return false }

// Request returns what a model is asked that words a report of a user who met the bug, and the schema of its
// reply, which Read reads.
func Request(s Source) (system, user string, schema json.RawMessage) { return "", "", nil }

// Read returns the text of a task out of a model's reply. It fails for one that is no
// report, or that Leaks refuses: the error says what.
func Read(reply string, s Source) (string, error) { return "", nil }

// Prompts returns a digest of the texts that Request is made of: part of the key of a call.
func Prompts() string { return "" }
