package workbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// read is what openpyxl has read of a workbook.
type read struct {
	File   string                               `json:"file"`
	Names  []string                             `json:"names"`
	Sheets map[string]map[string]map[string]any `json:"sheets"`
	Error  string                               `json:"error"`
}

// shown is a value as it is recorded of openpyxl.
func shown(v Value) map[string]any {
	switch v.Kind {
	case Bool:
		return map[string]any{"bool": v.Number != 0}
	case Number:
		return map[string]any{"number": strconv.FormatFloat(v.Number, 'g', -1, 64)}
	case DateTime:
		layout := "2006-01-02T15:04:05"
		if v.At.Nanosecond() != 0 {
			layout += ".000000"
		}
		return map[string]any{"datetime": v.At.Format(layout)}
	case Date:
		return map[string]any{"date": v.At.Format(time.DateOnly)}
	case Clock:
		return map[string]any{"time": float64(v.Micros)}
	case Span:
		return map[string]any{"span": float64(v.Micros)}
	}
	return map[string]any{"text": v.Text}
}

// TestCellsAreThoseOfOpenpyxl reads workbooks of generate.py, which openpyxl 3.1.5 has written and read.
// SKILLOPT_WORKBOOKS names a folder of more.
func TestCellsAreThoseOfOpenpyxl(t *testing.T) {
	t.Parallel()
	folder := "testdata"
	if other := os.Getenv("SKILLOPT_WORKBOOKS"); other != "" {
		folder = other
	}
	list, err := os.ReadFile(filepath.Join(folder, "cells.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	books, cells := 0, 0
	for line := range strings.Lines(string(list)) {
		var want read
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(folder, want.File))
		if err != nil {
			t.Fatal(err)
		}
		if diff := diffRead(t, content, want, &cells); diff != "" {
			t.Errorf("%s: -openpyxl +ours\n%s", want.File, diff)
		}
		books++
	}
	if books < 20 || cells < 500 {
		t.Errorf("only %d workbooks with %d cells", books, cells)
	}
	t.Logf("%d workbooks, %d cells", books, cells)
}

func diffRead(t *testing.T, content []byte, want read, cells *int) string {
	t.Helper()
	b, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return fmt.Sprint(err)
	}
	if diff := cmp.Diff(want.Names, b.Sheets()); diff != "" {
		return diff
	}
	for name, of := range want.Sheets {
		got := map[string]map[string]any{}
		all, err := b.Cells(name)
		if err != nil {
			return fmt.Sprint(err)
		}
		for at, v := range all {
			got[at.String()] = shown(v)
		}
		for _, v := range of {
			if n, ok := v["number"].(string); ok {
				f, _ := strconv.ParseFloat(n, 64)
				v["number"] = strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
		*cells += len(got)
		if diff := cmp.Diff(of, got); diff != "" {
			return name + ": " + diff
		}
	}
	return ""
}
