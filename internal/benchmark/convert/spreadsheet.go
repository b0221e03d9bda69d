package convert

import "strings"

// Books are the workbooks of a task: where their folder is, and which cells are compared.
type Books struct {
	Dir      string // from the file with the row
	Position string // such as "Sheet1!A1:B9, C3"
	Sheet    string // of parts of Position that name none; "" is the first
}

// Spreadsheet makes a task of a row of SpreadsheetBench.
func Spreadsheet(r Row, _ Options) (Task, error) {
	kind := text(r, "instruction_type")
	t := Task{
		ID: text(r, "id"), Type: spreadsheetType(kind),
		Fields: map[string]any{"instruction": text(r, "instruction")},
		Books:  &Books{Dir: text(r, "spreadsheet_path"), Position: text(r, "answer_position"), Sheet: text(r, "answer_sheet")},
	}
	for _, name := range []string{"id", "instruction", "answer_position"} {
		if text(r, name) == "" {
			return t, newMissingError(name)
		}
	}
	if t.Books.Dir == "" {
		t.Books.Dir = "spreadsheet/" + t.ID
	}
	where := t.Books.Position
	if t.Books.Sheet != "" && !strings.Contains(where, "!") {
		where = t.Books.Sheet + "!" + where
	}
	set(t.Fields, map[string]string{"instruction_type": kind, "answer_position": where})
	return t, nil
}

// spreadsheetType returns the type of a task from how the benchmark names its kind of change.
func spreadsheetType(kind string) string {
	switch kind = strings.ToLower(kind); {
	case strings.Contains(kind, "cell"):
		return "cell_level"
	case strings.Contains(kind, "sheet"):
		return "sheet_level"
	}
	return "other"
}
