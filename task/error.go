package task

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Problem is one thing that is wrong with a set of tasks.
type Problem struct {
	Origin string `json:"origin,omitempty"` // file, or file:line
	ID     string `json:"id,omitempty"`     // the task, "" when it is about a file or the whole set
	Msg    string `json:"msg"`

	sameKind string // what problems of one kind have in common; "" = Msg
}

// kind returns what problems that are printed once for all share.
func (p Problem) kind() string { return cmp.Or(p.sameKind, p.Msg) }

func (p Problem) String() string {
	var b strings.Builder
	if p.Origin != "" {
		b.WriteString(p.Origin + ": ")
	}
	if p.ID != "" {
		fmt.Fprintf(&b, "task %q: ", p.ID)
	}
	return b.String() + p.Msg
}

// Error reports everything that is wrong with a set of tasks: the input is bad,
// and trying again without fixing it is no use.
type Error struct {
	Path     string // what was loaded, "" for tasks that were not read from a file
	Problems []Problem
}

// maxPrinted bounds the lines of a message: a wrong column name breaks every
// row of a file, and one screen of it says as much as all.
const maxPrinted = 50

// maxSameKind is how often one problem is printed for different tasks.
const maxSameKind = 3

func (e *Error) Error() string {
	sameKind := map[string]int{}
	for _, p := range e.Problems {
		sameKind[p.kind()]++
	}
	var lines []string
	printed := map[string]int{}
	left := len(e.Problems)
	for _, p := range e.Problems {
		if len(lines) == maxPrinted {
			lines = append(lines, fmt.Sprintf("and %s", wording.Plural(left, "more problem", "more problems")))
			break
		}
		more := sameKind[p.kind()] - maxSameKind
		switch printed[p.kind()]++; {
		case more <= 0 || printed[p.kind()] < maxSameKind:
			lines = append(lines, p.String())
			left--
		case printed[p.kind()] == maxSameKind:
			lines = append(lines, fmt.Sprintf("%s (and the same in %d more)", p, more))
			left -= 1 + more
		}
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong until all of it is known.
type problems struct {
	path string
	list []Problem
}

func (ps *problems) add(origin, id, format string, args ...any) {
	ps.list = append(ps.list, Problem{Origin: origin, ID: id, Msg: fmt.Sprintf(format, args...)})
}

func (ps *problems) about(t Task, format string, args ...any) {
	ps.add(t.Origin, t.ID, format, args...)
}

// err returns an *Error, or nil when nothing is wrong.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	return &Error{Path: ps.path, Problems: ps.list}
}
