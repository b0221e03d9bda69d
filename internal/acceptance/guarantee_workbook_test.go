package acceptance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/spreadsheet"
	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
	"github.com/seed-f4525e22/skillopt/model"
)

// What a target writes: a program that is right, one that fails, and one that leaves a formula.
const (
	workbookProgram = "```python\nimport openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\nsheet = book['Sheet1']\nsheet['B1'] = %s\nbook.save(OUTPUT_PATH)\n```"
	rightProgram    = "sheet['A1'].value * 3"
	wrongProgram    = "sheet['A1'].value + missing"
	formulaProgram  = "'=A1*3'"
)

// contentTypes says what the parts of a workbook with one sheet are.
const contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`

// A target changes workbooks by programs that a real Python runs, in each mode, and the checks look at what they leave. What
// is expected is in no message.
func TestWorkbooksAreChangedByPrograms(t *testing.T) {
	t.Parallel()
	say := func(expression string) string { return fmt.Sprintf(workbookProgram, expression) }
	code := strings.TrimSuffix(strings.TrimPrefix(say(rightProgram), "```python\n"), "\n```")
	tool := func(name string, args map[string]string) string {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return name + " " + string(text)
	}
	for _, c := range []struct {
		name, mode, recalc string
		replies            []string // "NAME {JSON}" is a call
		hard               float64
		reason             string
	}{
		{name: "single", mode: "single", replies: []string{say(rightProgram)}, hard: 1},
		{name: "single, wrong", mode: "single", replies: []string{say(wrongProgram)}, reason: "exec: NameError"},
		{name: "multi", mode: "multi", replies: []string{say(rightProgram)}, hard: 1},
		{name: "multi, mended on turn 2", mode: "multi", replies: []string{say(wrongProgram), say(rightProgram)}, hard: 1},
		{name: "multi, another value", mode: "multi", replies: []string{say("7")}, reason: "xlsx: output.xlsx: 0 of 1 cells agree"},
		{name: "react", mode: "react", replies: []string{
			tool("write_file", map[string]string{"path": "solution.py", "content": code}), tool("bash", map[string]string{"cmd": "python3 solution.py"}), "It is done.",
		}, hard: 1},
		{name: "a formula", mode: "multi", replies: []string{say(formulaProgram)}, reason: "xlsx: output.xlsx: 0 of 1 cells agree"},
		{name: "a formula, computed", mode: "multi", recalc: "missing", replies: []string{say(formulaProgram)}, hard: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needsPython(t)
			if c.recalc != "" {
				needsOffice(t)
			}
			var asked []string
			client := modelBy(func(req model.Request) model.Response {
				text, err := json.Marshal(req.Messages)
				if err != nil {
					t.Error(err)
				}
				asked = append(asked, string(text))
				reply := c.replies[min(len(asked), len(c.replies))-1]
				out := model.Response{Text: reply, Finish: model.FinishStop}
				if name, args, called := strings.Cut(reply, " {"); called && !strings.HasPrefix(reply, "`") {
					out.Text, out.Parts = "", []model.Part{{Call: &model.ToolCall{ID: fmt.Sprint(len(asked)), Name: name, Arguments: json.RawMessage("{" + args)}}}
				}
				return out
			})
			out := changedWorkbook(t, client, func(e *config.Env) {
				e.Mode = c.mode
				if c.recalc != "" {
					e.Recalc = c.recalc
				}
			})
			if out.Hard != c.hard || !strings.HasPrefix(out.FailReason, c.reason) || len(asked) != len(c.replies) {
				t.Errorf("hard %v after %d requests, %q", out.Hard, len(asked), out.FailReason)
			}
			if c.mode == "react" { // the last one shows what the target's own program has left
				asked = asked[:len(asked)-1]
			}
			for i, text := range asked {
				if strings.Contains(text, "270633") { // with or without its decimals
					t.Errorf("request %d holds what is expected: %s", i+1, text)
				}
			}
		})
	}
}

// scoredTask is what is looked at of an outcome.
type scoredTask struct {
	Hard       float64 `json:"hard"`
	FailReason string  `json:"fail_reason"`
}

// changedWorkbook carries out one task: three times the number in A1 goes into B1.
func changedWorkbook(t *testing.T, client model.Client, change func(*config.Env)) scoredTask {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "books", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "books", "a", "input.xlsx"), booktest.Write(t, []booktest.Sheet{{Name: "Sheet1", Cells: map[string]string{"A1": booktest.Cell("A1", 90211.25)}}}, map[string]string{"[Content_Types].xml": contentTypes}), 0o600); err != nil {
		t.Fatal(err)
	}
	tasks := `{"id": "a", "prompt": "Write three times A1 into B1.", "split": "test", "workspace": "books/a", "checks": [{"type": "xlsx", "path": "output.xlsx", "cells": {"Sheet1!B1": 270633.75}}]}`
	if err := os.WriteFile(filepath.Join(dir, "tasks.jsonl"), []byte(tasks), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{Dir: dir, Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	l.Config.Tasks.Path, l.Config.Env.World, l.Config.Env.Turns = filepath.Join(dir, "tasks.jsonl"), "spreadsheet", 4
	change(&l.Config.Env)
	run := filepath.Join(dir, "run")
	if _, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithLoaded(l), skillopt.WithSkill("# S\n"), skillopt.WithClient(model.Target, "t", client), skillopt.WithRunDir(run)); err != nil {
		t.Fatal(err)
	}
	var out struct{ Test []scoredTask }
	readJSON(t, filepath.Join(run, "outcomes.json"), &out)
	if len(out.Test) != 1 {
		t.Fatalf("%d outcomes", len(out.Test))
	}
	return out.Test[0]
}

func needsPython(t *testing.T) {
	t.Helper()
	_, err := spreadsheet.FindPython(t.Context(), "", os.LookupEnv)
	var missing *spreadsheet.PythonError
	if errors.As(err, &missing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

func needsOffice(t *testing.T) {
	t.Helper()
	_, err := spreadsheet.FindOffice(t.Context(), spreadsheet.RecalcMissing, os.LookupEnv)
	var missing *spreadsheet.OfficeError
	if errors.As(err, &missing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}
