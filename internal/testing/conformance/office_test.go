package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/convert"
	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
	"github.com/seed-f4525e22/skillopt/internal/workbook"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestOfficeQAListField(t *testing.T) {
	t.Parallel()
	run(t, "officeqa_list_field", func(in, out map[string]any) string {
		return diffRecorded(listOf(convert.ListField(in["value"])), nil, out)
	})
}

func TestOfficeQARow(t *testing.T) {
	t.Parallel()
	run(t, "officeqa_row", func(in, out map[string]any) string {
		row, _ := in["row"].(map[string]any)
		got, err := convert.OfficeQA(row, convert.Options{})
		split, _ := got.Fields["source_split"].(string)
		return diffRecorded(map[string]any{
			"id": got.ID, "uid": got.ID, "question": got.Fields["question"], "ground_truth": headOf(got.Gold), "answers": listOf(got.Gold),
			"category": got.Type, "task_type": got.Type, "split": split, "source_files": got.Fields["source_files"], "source_docs": got.Fields["source_docs"],
		}, err, out)
	})
}

// TestEvalOfficeQA holds the normal form officeqa of equals and f1.
func TestEvalOfficeQA(t *testing.T) {
	t.Parallel()
	suite := func(kind string) *check.Suite {
		s, err := check.Compile([]any{map[string]any{"type": kind, "normalize": "officeqa", "empty": "pass"}}, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	exact, words := suite("equals"), suite("f1")
	run(t, "eval_officeqa", func(in, out map[string]any) string {
		prediction, _ := in["prediction"].(string)
		gold, _ := in["gold"].(string)
		answer, err := (&check.Extractor{}).Answer(prediction)
		asked := task.Task{Gold: []string{gold}}
		return diffRecorded(map[string]any{
			"em": exact.Score(answer, asked).Soft, "f1": words.Score(answer, asked).Soft, "gold_answer": gold, "predicted_answer": answer,
		}, err, out)
	})
}

func TestSpreadsheetRange(t *testing.T) {
	t.Parallel()
	run(t, "spreadsheet_range", func(in, out map[string]any) string {
		area, _ := in["range"].(string)
		names, err := workbook.CellNames(area)
		return diffRecorded(listOf(names), err, out)
	})
}

// recordedCell is a value of a cell as it was recorded.
func recordedCell(t *testing.T, v any) workbook.Value {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return workbook.Value{}
	case bool:
		return workbook.NewBool(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return workbook.NewNumber(f)
	case string:
		return workbook.Value{Kind: workbook.Text, Text: v}
	case map[string]any:
		for name, text := range v {
			return recordedTime(t, name, text.(string))
		}
	}
	t.Fatalf("found %v", v)
	return workbook.Value{}
}

func recordedTime(t *testing.T, name, text string) workbook.Value {
	t.Helper()
	parse := func(layout string) time.Time {
		at, err := time.Parse(layout, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	switch name {
	case "$datetime":
		return workbook.Value{Kind: workbook.DateTime, At: parse("2006-01-02T15:04:05.999999")}
	case "$date":
		return workbook.Value{Kind: workbook.Date, At: parse(time.DateOnly)}
	}
	at := parse("15:04:05.999999")
	return workbook.Value{Kind: workbook.Clock, Micros: at.Sub(at.Truncate(24 * time.Hour)).Microseconds()}
}

// recordValue returns a value as the comparison of it was recorded.
func recordValue(v workbook.Value) any {
	v = v.Form()
	switch {
	case v.Kind == workbook.None:
		return nil
	case v.Kind == workbook.Number && math.IsNaN(v.Number):
		return map[string]any{"$nonfinite": "nan"}
	case v.Kind == workbook.Number && math.IsInf(v.Number, 0):
		return map[string]any{"$nonfinite": fmt.Sprint(map[bool]string{true: "inf", false: "-inf"}[v.Number > 0])}
	case v.Kind == workbook.Number:
		return json.Number(strconv.FormatFloat(v.Number, 'g', -1, 64))
	case v.Kind == workbook.Date:
		return map[string]any{"$date": v.At.Format(time.DateOnly)}
	}
	return v.Text
}

func TestEvalSpreadsheetCell(t *testing.T) {
	t.Parallel()
	run(t, "eval_spreadsheet_cell", func(in, out map[string]any) string {
		a, b := recordedCell(t, in["a"]), recordedCell(t, in["b"])
		return diffRecorded(map[string]any{"equal": workbook.Equal(a, b), "ta": recordValue(a), "tb": recordValue(b)}, nil, out)
	})
}

// recordedBook writes a workbook of recorded cells and opens it.
func recordedBook(t *testing.T, v any) *workbook.Book {
	t.Helper()
	var sheets []booktest.Sheet
	all, _ := v.(map[string]any)
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return strings.Compare(b, a) }) {
		cells := map[string]string{}
		for place, value := range all[name].(map[string]any) {
			cells[place] = booktest.Cell(place, value)
		}
		sheets = append(sheets, booktest.Sheet{Name: name, Cells: cells})
	}
	content := booktest.Write(t, sheets, nil)
	b, err := workbook.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEvalSpreadsheetBook compares workbooks that are written and read again. Messages are not held.
func TestEvalSpreadsheetBook(t *testing.T) {
	t.Parallel()
	run(t, "eval_spreadsheet_book", func(in, out map[string]any) string {
		position, _ := in["answer_position"].(string)
		difference, _, _, err := workbook.Compare(recordedBook(t, in["gold"]), recordedBook(t, in["pred"]), position)
		var fault *workbook.PositionError
		if err != nil && !errors.As(err, &fault) {
			return err.Error()
		}
		if ok, _ := out["ok"].(map[string]any); ok != nil {
			ok["message"] = ""
		}
		return diffRecorded(map[string]any{"ok": difference == nil, "message": ""}, err, out)
	})
}
