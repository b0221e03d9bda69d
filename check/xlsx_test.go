package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestXLSX(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := booktest.Write(t, []booktest.Sheet{
		{Name: "Summary", Cells: map[string]string{"A1": booktest.Cell("A1", "Total"), "B7": booktest.Cell("B7", 42.504), "C1": booktest.Cell("C1", true), "A2": `<c r="A2" s="1"><v>0.0625</v></c>`}},
		{Name: "More", Cells: map[string]string{"A1": booktest.Cell("A1", "7")}},
	}, map[string]string{"xl/styles.xml": `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="46"/></cellXfs></styleSheet>`})
	for name, content := range map[string][]byte{"out.xlsx": book, "text.xlsx": []byte("no workbook")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path, cells, reason string
		score               float64
	}{
		{"out.xlsx", `{"A1": "Total", "Summary!B7": 42.5, "C1": true, "Summary!D9": null, "More!A1": 7}`, "", 1},
		{"out.xlsx", `{"A1": "Total", "B7": 42.6}`, "1 of 2 cells agree; B7 is 42.504, 42.6 is expected", .5},
		{"out.xlsx", `{"A2": {"seconds": 5400}, "A1": {"seconds": 1}}`, "1 of 2 cells agree; A1 is 'Total', 1s is expected", .5},
		{"out.xlsx", `{"Gone!A1": 1}`, `the workbook has no sheet "Gone"`, 0},
		{"text.xlsx", `{"A1": 1}`, "no xlsx workbook", 0},
		{"none.xlsx", `{"A1": 1}`, "none.xlsx is not there", 0},
	} {
		for _, fixed := range []bool{false, true} {
			spec, asked := map[string]any{"type": "xlsx", "path": tt.path}, task.Task{Gold: []string{tt.cells, `{"Z9": "another answer"}`}}
			if fixed {
				cells, err := decodeJSON(tt.cells)
				if err != nil {
					t.Fatal(err)
				}
				spec["cells"], asked = cells, task.Task{}
			}
			s, err := Compile([]any{spec}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Assess(t.Context(), Evidence{Dir: dir}, asked, Means{})
			if err != nil || got.Soft != tt.score || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%s %s: %v, %v %q, want %v %q", tt.path, tt.cells, err, got.Soft, got.Reason, tt.score, tt.reason)
			}
		}
	}
}

func TestXLSXThatIsNoCheck(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string]string{`{}`: "0 cells are named", `{"1A": 1}`: "allowed: a cell such as B7", `{"A1": [1]}`: "allowed: a number, a text", `[1]`: "0 cells are named"} {
		v, err := decodeJSON(cells)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compile([]any{map[string]any{"type": "xlsx", "path": "x", "cells": v}}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", cells, err, want)
		}
	}
	s, err := Compile([]any{map[string]any{"type": "xlsx", "path": "x"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(task.Task{Gold: []string{"42"}}); err == nil || !strings.Contains(err.Error(), "is no JSON object of cells") {
		t.Errorf("gold that names no cells: %v", err)
	}
}
