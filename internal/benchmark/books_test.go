package benchmark_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
)

// sheet returns a workbook with one sheet.
func sheet(t *testing.T, cells map[string]any) string {
	t.Helper()
	s := booktest.Sheet{Name: "Sum", Cells: map[string]string{}}
	for at, v := range cells {
		s.Cells[at] = booktest.Cell(at, v)
	}
	return string(booktest.Write(t, []booktest.Sheet{s}, nil))
}

func TestPrepareBooks(t *testing.T) {
	t.Parallel()
	row := func(id, more string) string {
		return fmt.Sprintf(`{"id": %s, "instruction": "Add up.", "instruction_type": "Cell-Level Manipulation", "spreadsheet_path": "spreadsheet/%s", %s}`, id, strings.Trim(id, `"`), more)
	}
	list := "[" + strings.Join([]string{
		row("7", `"answer_position": "A1:B1"`), row(`"8-1"`, `"answer_position": "B2", "answer_sheet": "Sum"`), row(`"9"`, `"answer_position": "'Sum'!A:A"`),
		row(`"bad"`, `"answer_position": "nowhere"`), row(`"none"`, `"answer_position": "A1"`), `{"id": "out", "instruction": "Add up.", "answer_position": "A1", "spreadsheet_path": "../.."}`,
		row(`"sheet"`, `"answer_position": "Other!A1"`), row(`"broken"`, `"answer_position": "A1"`),
	}, ",") + "]"
	one := func(v any) string { return sheet(t, map[string]any{"A1": v, "B1": "gold", "B2": true}) }
	const at = "set/spreadsheet/"
	data := map[string]string{
		"set/dataset.json":      list,
		at + "7/1_7_input.xlsx": one(1), at + "7/1_7_answer.xlsx": one(5.126), at + "7/2_7_input.xlsx": one(2), at + "7/2_7_answer.xlsx": one("x"), at + "7/3_7_input.xlsx": one(3),
		at + "8-1/1_8-1_init.xlsx": one(1), at + "8-1/1_8-1_golden.xlsx": one(1),
		at + "9/initial.xlsx": one(1), at + "9/golden.xlsx": one(nil),
		at + "bad/initial.xlsx": one(1), at + "bad/golden.xlsx": one(1),
		at + "none/initial.xlsx":  one(1),
		at + "sheet/initial.xlsx": one(1), at + "sheet/golden.xlsx": one(1),
		at + "broken/initial.xlsx": one(1), at + "broken/golden.xlsx": "no workbook",
	}
	own := map[string]string{
		"benchmark.yaml": about + "task: {convert: spreadsheetbench, rows: \"**/dataset.json\"}\nsplits: {ids: ids}\n",
		"ids/train.txt":  "7\n8-1\nbad\nnone\n", "ids/test.txt": "9\nout\nsheet\nbroken\n",
	}
	dir, report, err := prepared(t, own, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"train": 2, "test": 1}, report.Tasks); diff != "" {
		t.Error(diff)
	}
	var why []string
	for text := range report.LeftOut {
		why = append(why, text)
	}
	for _, want := range []string{"task bad: set/spreadsheet/bad/golden.xlsx: the place of the answer", "task none: set/spreadsheet/none holds no workbook", `task out: there is no folder "../.."`, `no sheet "Other"`, "broken/golden.xlsx: no xlsx workbook"} {
		if !strings.Contains(strings.Join(why, "\n"), want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "tasks", "train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var first map[string]any
	if err := json.NewDecoder(strings.NewReader(string(text))).Decode(&first); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "7", "type": "cell_level", "instruction_type": "Cell-Level Manipulation", "answer_position": "A1:B1", "workspace": "books/7",
		"hidden": "Sum!A1 | 5.13\nSum!B1 | gold\noutput_2.xlsx, Sum!A1 | x\noutput_2.xlsx, Sum!B1 | gold",
		"prompt": "## Instruction\nAdd up.\n\n## Kind of change\nCell-Level Manipulation\n\n## Cells that are looked at\nA1:B1",
		"checks": []any{
			map[string]any{"type": "xlsx", "path": "output.xlsx", "cells": map[string]any{"Sum!A1": 5.13, "Sum!B1": "gold"}},
			map[string]any{"type": "xlsx", "path": "output_2.xlsx", "cells": map[string]any{"Sum!A1": "x", "Sum!B1": "gold"}},
		},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	found, err := filepath.Glob(filepath.Join(dir, "books", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range found {
		found[i], _ = filepath.Rel(dir, path)
	}
	if diff := cmp.Diff([]string{"books/7/input.xlsx", "books/7/input_2.xlsx", "books/8-1/input.xlsx", "books/9/input.xlsx"}, found); diff != "" {
		t.Error(diff)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "books", "7", "input_2.xlsx")); string(got) != one(2) {
		t.Error("the workbook to change is another one")
	}
}
