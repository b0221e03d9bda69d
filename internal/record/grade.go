package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// maxBeginning is how much of a question or reason a grid has, in characters.
const maxBeginning = 200

// graded is what a grid takes of an outcome. The scores mean nothing unless it was measured.
type graded struct {
	id, kind, reason string
	hard, soft       float64
	measured, failed bool // failed: the agent did, within the limits of the task
	why              bool // it says why it failed, or was not measured
}

// questions are the beginnings of what was asked, by task. Of sheets that differ the first
// counts, whichever is read first.
type questions struct {
	sync.Mutex

	of map[rowKey]asked
}

type asked struct {
	sheet int
	text  string
}

// wants reports whether a sheet has to say what a task was.
func (q *questions) wants(key rowKey, sheet int) bool {
	q.Lock()
	defer q.Unlock()
	was, known := q.of[key]
	return !known || sheet < was.sheet
}

func (q *questions) put(key rowKey, sheet int, text string) {
	if text == "" {
		return
	}
	q.Lock()
	defer q.Unlock()
	if was, known := q.of[key]; !known || sheet < was.sheet {
		q.of[key] = asked{sheet, strings.Clone(text)}
	}
}

// grader reads the outcomes of a file without what was said: of each its scores, and what a
// grid shows of the task.
type grader struct {
	scanner

	questions *questions
	at        int // number of the first sheet
	sheets    []Sheet
	reasons   []bool // sheets whose reasons are shown

	sheet int // that is read
}

// grade reads the outcomes of one file, of which sheets are.
func grade(r *Run, sheets []Sheet, into [][]graded, g *grader) error {
	file := sheets[0].file
	if !r.has(file) {
		return fmt.Errorf("read run: %s is gone: the run was deleted, moved or changed while it was read: %w", file, fs.ErrNotExist)
	}
	err := g.through(r, file, func() (err error) {
		if sheets[0].name == "" {
			if into[0], err = g.list(); err != nil {
				return err
			}
			return g.end()
		}
		return g.lists(func(name string) (err error) {
			if g.sheet = slices.IndexFunc(sheets, func(s Sheet) bool { return s.name == name }); g.sheet < 0 {
				return g.skip()
			}
			into[g.sheet], err = g.list()
			return err
		})
	})
	if !errors.Is(err, errOdd) {
		return err
	}
	for i, s := range sheets { // the decoder of the whole file knows what to make of it
		all, err := r.Outcomes(s)
		if err != nil {
			return err
		}
		g.sheet, into[i] = i, nil
		for _, o := range all {
			if o.ID != "" { // null instead of an outcome is none
				into[i] = append(into[i], g.of(o))
			}
		}
	}
	return nil
}

// of returns what a grid takes of an outcome.
func (g *grader) of(o trajectory.Outcome) graded {
	out := graded{id: o.ID, kind: o.Type, hard: o.Hard, soft: o.Soft, measured: o.Status.Measured(), failed: o.Status == score.AgentError, why: o.FailReason != ""}
	if s := g.sheets[g.sheet]; s.Split != "test" {
		if g.reasons[g.sheet] {
			out.reason = shortenText(o.FailReason)
		}
		if key := (rowKey{s.Split, o.ID}); g.questions.wants(key, g.at+g.sheet) {
			g.questions.put(key, g.at+g.sheet, shortenText(o.Question))
		}
	}
	return out
}

// shortenText returns as much of a text as a grid has.
func shortenText(text string) string {
	if len(text) <= maxBeginning || utf8.RuneCountInString(text) <= maxBeginning {
		return text
	}
	n := 0
	for i := range text {
		if n == maxBeginning-1 {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// list reads a list of outcomes, or a list of such lists.
func (g *grader) list() (out []graded, err error) {
	if g.next() == 'n' {
		return nil, g.null()
	}
	if g.next() != '[' {
		return nil, errOdd
	}
	var kind byte // of its members
	err = g.members(']', func() error {
		switch b := g.next(); {
		case b == 'n':
			return g.null()
		case b != '{' && b != '[' || kind != 0 && b != kind:
			return errOdd
		default:
			kind = b
		}
		if kind == '{' {
			return g.outcome(&out)
		}
		return g.members(']', func() error {
			if g.next() == 'n' {
				return g.null()
			}
			return g.outcome(&out)
		})
	})
	return out, err
}

// Keys that a grid needs. A decoder takes others that differ in case alone for them.
var gradeKeys = []string{"id", "type", "status", "hard", "soft", "fail_reason", "question"}

// outcome reads one. A file that has two of a key, or a key in other letters, is odd.
func (g *grader) outcome(to *[]graded) error {
	if g.next() != '{' {
		return errOdd
	}
	var o graded
	var seen [7]bool
	err := g.members('}', func() error {
		text, err := g.text()
		if err != nil {
			return err
		}
		key, err := findGradeKey(text)
		if err != nil || !g.take(':') {
			return errOdd
		}
		if key < 0 {
			return g.skip()
		}
		if seen[key] || key > 0 && !seen[0] {
			return errOdd
		}
		seen[key] = true
		return g.field(key, &o)
	})
	if err == nil && (!seen[0] || !seen[2]) {
		err = errOdd
	}
	if o.id != "" {
		*to = append(*to, o)
	}
	return err
}

// findGradeKey returns the number of an encoded key, -1 of one that is not needed.
func findGradeKey(text []byte) (int, error) {
	for i, key := range gradeKeys {
		switch {
		case string(text) == key:
			return i, nil
		case len(text) == len(key) && bytes.EqualFold(text, []byte(key)):
			return 0, errOdd
		}
	}
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) || bytes.ContainsRune(text, 'ſ') { // which folds to s
		return 0, errOdd
	}
	return -1, nil
}

// field reads the value of a key.
func (g *grader) field(key int, o *graded) (err error) {
	sheet := g.sheets[g.sheet]
	switch gradeKeys[key] {
	case "id":
		o.id, err = g.string()
	case "type":
		o.kind, err = g.string()
	case "status":
		var status string
		status, err = g.string()
		o.measured, o.failed = score.Status(status).Measured(), score.Status(status) == score.AgentError
	case "hard":
		o.hard, err = g.number()
	case "soft":
		o.soft, err = g.number()
	case "fail_reason":
		var text []byte
		if text, err = g.text(); err != nil {
			return err
		}
		if o.why = len(text) > 0; sheet.Split == "test" || !g.reasons[g.sheet] {
			return nil
		}
		o.reason, err = decodeString(text)
		o.reason = strings.Clone(shortenText(o.reason))
	case "question":
		key := rowKey{sheet.Split, o.id}
		if sheet.Split == "test" || !g.questions.wants(key, g.at+g.sheet) {
			return g.skip()
		}
		var text string
		if text, err = g.string(); err == nil {
			g.questions.put(key, g.at+g.sheet, shortenText(text))
		}
	}
	return err
}

func (g *grader) string() (string, error) {
	text, err := g.text()
	if err != nil {
		return "", err
	}
	return decodeString(text)
}

// number returns the next value; null is 0, as of what was not measured.
func (g *grader) number() (float64, error) {
	raw, err := g.value()
	if err != nil || string(raw) == "null" {
		return 0, err
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, errOdd
	}
	return n, nil
}
