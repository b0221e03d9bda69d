package textgame

import (
	"errors"
	"fmt"
	"strings"
)

// Error says what is wrong with a game, and where.
type Error struct {
	Game string // name of its file
	Part string // which text in the file: pddl_domain, pddl_problem, grammar; "" the file itself
	Line int    // in this text, from 1; 0 = unknown
	Msg  string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("game " + e.Game)
	if e.Part != "" {
		b.WriteString(", " + e.Part)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	return b.String() + ": " + e.Msg
}

// ErrorKind reports to package fault that the input is wrong.
func (*Error) ErrorKind() string { return "bad_input" }

func newError(line int, format string, args ...any) error {
	return &Error{Line: line, Msg: fmt.Sprintf(format, args...)}
}

// locate returns an error with the game, and the text in it, that it is about.
func locate(err error, game, part string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	at := *e
	at.Game = game
	if at.Part == "" {
		at.Part = part
	}
	return &at
}
