package record

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/score"
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

// put notes what a task was, as a sheet says it.
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
	questions *questions
	at        int // number of the first sheet
	sheets    []Sheet
	reasons   []bool // sheets whose reasons are shown
}

// grade reads the outcomes of one file, of which sheets are.
func grade(r *Run, sheets []Sheet, into [][]graded, g *grader) error {
	file := sheets[0].file
	if !r.has(file) {
		return fmt.Errorf("read run: %s is gone: the run was deleted, moved or changed while it was read: %w", file, fs.ErrNotExist)
	}
	var lists map[string]gjson.Result
	var err error
	if sheets[0].name == "" {
		lists = map[string]gjson.Result{}
		lists[""], err = r.outcomesIn(file)
	} else {
		lists, err = listsIn(r, file)
	}
	if err != nil {
		return err
	}
	for i, s := range sheets {
		eachOutcome(lists[s.name], func(v gjson.Result) {
			if o := g.of(v, i); o.id != "" {
				into[i] = append(into[i], o)
			}
		})
	}
	return nil
}

// of is what a grid takes of an outcome on a sheet. Nothing of it keeps the whole file in memory.
func (g *grader) of(v gjson.Result, sheet int) (o graded) {
	var reason, question string
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "id":
			o.id = strings.Clone(value.Str)
		case "type":
			o.kind = strings.Clone(value.Str)
		case "status":
			status := score.Status(value.Str)
			o.measured, o.failed = status.Measured(), status == score.AgentError
		case "hard":
			o.hard = value.Float()
		case "soft":
			o.soft = value.Float()
		case "fail_reason":
			reason = value.Str
		case "question":
			question = value.Str
		}
		return true
	})
	o.why = reason != ""
	if s := g.sheets[sheet]; s.Split != "test" && o.id != "" {
		if g.reasons[sheet] {
			o.reason = strings.Clone(beginning(reason))
		}
		g.questions.put(rowKey{s.Split, o.id}, g.at+sheet, beginning(question))
	}
	return o
}

// beginning is as much of a text as a grid has.
func beginning(text string) string {
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
