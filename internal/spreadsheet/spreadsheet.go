// Package spreadsheet is a world in which a model writes programs in Python that change a workbook, as
// SpreadsheetBench has it.
//
// The folder of an episode holds input.xlsx, and input_2.xlsx and so on where a task has several cases. The
// program runs confined, in a folder of its own with a copy of one case. What it leaves as output.xlsx is
// copied back, as output.xlsx, output_2.xlsx and so on, and checks compare that afterwards. What a program
// leaves is not trusted.
//
// It knows nothing of right answers, scores and models.
package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/world"
)

// Mode is how the model works.
type Mode string

// The modes.
const (
	Multi  Mode = "multi"  // an error is answered until a program runs
	Single Mode = "single" // one program, which runs once
	React  Mode = "react"  // tools that write files and run Python
)

// Options say how programs run.
type Options struct {
	Mode   Mode // "" is Multi
	Python Interpreter
}

// World is a world.World. It may be used concurrently: no more programs run at a time than there are processors.
type World struct {
	Options
	slots chan struct{}
}

// New returns a world.
func New(o Options) (*World, error) {
	switch o.Mode {
	case "":
		o.Mode = Multi
	case Multi, Single, React:
	default:
		return nil, fmt.Errorf("env.mode: found %q, allowed in world spreadsheet: multi, single, react", o.Mode)
	}
	return &World{Options: o, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}, nil
}

// Pure reports that episodes leave files, which checks look at.
func (*World) Pure() bool { return false }

// Open begins an episode on the workbooks in the folder of s.
func (w *World) Open(ctx context.Context, s world.Setting) (world.Episode, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of task %s: %w", s.Task.ID, err)
	}
	b := bench{world: w, root: root}
	if b.cases, err = findCases(root); err == nil {
		b.input, err = disk.ReadIn(ctx, root, b.cases[0].Input, MaxWorkbook)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the workbooks of task %s: %w", s.Task.ID, err), root.Close())
	}
	if w.Mode != React {
		return &dialogue{bench: b}, nil
	}
	run, err := newFolder()
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	t := &tools{bench: b, folder: run}
	if err := run.put(nameInput, b.input); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// MaxWorkbook is the size of the largest workbook, in bytes, as checks read it.
const MaxWorkbook = 8 << 20

// The names of the files of the first case, and of the program.
const (
	nameInput   = "input.xlsx"
	nameOutput  = "output.xlsx"
	nameProgram = "solution.py"
)

// Case names a workbook to change, and what a program makes of it.
type Case struct{ Input, Output string }

// maxCases bounds the cases of a task.
const maxCases = 100

// CaseAt returns the case of a number, from 0.
func CaseAt(i int) Case {
	if i == 0 {
		return Case{nameInput, nameOutput}
	}
	return Case{fmt.Sprintf("input_%d.xlsx", i+1), fmt.Sprintf("output_%d.xlsx", i+1)}
}

// findCases lists the cases of a task.
func findCases(root *os.Root) (all []Case, err error) {
	for i := range maxCases {
		c := CaseAt(i)
		if _, err := root.Lstat(c.Input); err != nil {
			if i > 0 && errors.Is(err, os.ErrNotExist) {
				break
			}
			return nil, fmt.Errorf("%s: %w; a task of world spreadsheet has a field workspace, whose folder holds it", c.Input, err)
		}
		all = append(all, c)
	}
	return all, nil
}

var fenceForm = pattern.New("(?s)```[^\n]*\n(.*?)```")

// program returns the code of the first fenced block of a reply, else all of it.
func program(reply string) string {
	if m := fenceForm.FindStringSubmatch(reply); m != nil {
		return m[1]
	}
	return reply
}

// lastLine returns the last line of an error that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "it failed without a word"
	}
	return wording.Cut(text[strings.LastIndexByte(text, '\n')+1:], 300)
}
