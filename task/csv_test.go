package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tables as spreadsheets of several countries and systems write them hold the same tasks.
func TestTablesOfSpreadsheets(t *testing.T) {
	t.Parallel()
	const want = `[1 "Which, and why?" [a] 2 "two" [b]]`
	for name, text := range map[string]string{
		"plain":                 "id,prompt,gold\n1,\"Which, and why?\",a\n2,two,b\n",
		"empty rows":            "id,prompt,gold\n,,\n1,\"Which, and why?\",a\n , ,\n2,two,b\n,,\n,,\n",
		"shorter empty rows":    "id,prompt,gold\n1,\"Which, and why?\",a\n,\n2,two,b\n",
		"Excel in Germany":      "\ufeffid;prompt;gold\r\n1;Which, and why?;a\r\n;;\r\n2;two;b\r\n",
		"a comma in the header": "id;prompt;gold;notes, if any\n1;Which, and why?;a;\n2;two;b;\n",
		"Excel for Mac":         "id,prompt,gold\r1,\"Which, and why?\",a\r2,two,b\r",
		"Mac, semicolons":       "sep=;\rid;prompt;gold\r1;Which, and why?;a\r2;two;b",
		"tabs":                  "id\tprompt\tgold\n1\tWhich, and why?\ta\n2\ttwo\tb\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, msg := readTable(t, t.TempDir(), "t.csv", text, nil)
			if msg != "" {
				t.Fatal(msg)
			}
			var got []string
			for _, task := range set.Tasks() {
				got = append(got, fmt.Sprintf("%s %q %v", task.ID, task.Prompt, task.Gold))
			}
			if diff := cmp.Diff(want, fmt.Sprint(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is no row says where and what to do.
func TestRowProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"prompt,gold\n,\na\n":             `t.csv:3: the row has 1 cells, the header has 2`,
		"prompt,gold\nsay \"hi\" now,b\n": `t.csv:2: column 5: a quotation mark in a cell without any around it: put the cell in double quotes, and each such mark in it twice`,
		"prompt,gold\n,only the answer\n": `t.csv:2: task "`,
		"prompt,gold\r,\ra,b,c\r":         `t.csv:3: the row has 3 cells`,
		"p;q;r, s\n1;2;3\n":               `there are "p", "q", "r, s"`,
		"prompt,gold\na,b\n\"c\nd\",e\nf": `t.csv:5: the row has 1 cells`,
	} {
		if _, msg := readTable(t, t.TempDir(), "t.csv", text, nil); !strings.Contains(msg, want) {
			t.Errorf("%q: got  %s\nwant %s", text, msg, want)
		}
	}
}
