// Package ask answers questions about a run: how far it is, what a task was answered,
// which tasks fail, what was called and paid for, who wrote a line of the skill. An answer is
// the document that the command of the same name prints with --json; the server answers with
// the same one.
//
// What looks like a secret is masked in every answer. It only reads, but for the ledger of
// test sets, in which a look at answers to test tasks is noted. It knows nothing of terminals
// or of HTTP.
package ask

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// An Error says that a question is none that can be asked, or that the run has nothing that
// it is about.
type Error struct {
	Field   string // what of the question is wrong, such as step; "": all of it
	Message string
	Missing bool // the run has not what was asked for
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// ErrorKind says whose business the error is.
func (*Error) ErrorKind() string { return string(fault.BadInput) }

func wrong(field, format string, args ...any) error {
	return &Error{Field: field, Message: fmt.Sprintf(format, args...)}
}

func missingErrorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Missing: true}
}

// Shareable returns an answer in which what has the shape of a key is masked, since answers are
// pasted into tickets and chats. What only has the name of a secret may be what a task is about.
// Paths and the skill itself stay as they are.
func Shareable[T any](v T) T { return redact.Strings(redact.Keys, v, "Dir", "RunDir", "Text") }

// leastHelp is the length from which the end of a message can be help, in bytes.
const leastHelp = 8

// CutHelp cuts a message before what helps, "" if it says nothing of that.
func CutHelp(text string) (message, help string) {
	for _, mark := range []string{"\n", "; "} {
		if i := strings.LastIndex(text, mark); i > 0 && len(text)-i-len(mark) >= leastHelp && !strings.HasPrefix(text[i+len(mark):], " ") {
			return text[:i], text[i+len(mark):]
		}
	}
	return text, ""
}
