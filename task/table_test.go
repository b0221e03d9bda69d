package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

// readTable loads a table under a name.
func readTable(t interface{ Fatal(...any) }, dir, name, text string, columns map[string]string) (task.Set, string) {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := task.Load(path, task.Rules{Columns: columns})
	if err != nil {
		return set, strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	}
	return set, ""
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, text string
		columns    map[string]string
		want       task.Task
		tables     string // separator, and of each column name, fields and whether it is used
	}{
		"all fields": {
			"t.csv", "No.;Kind;Question;Answers;Notes;Rules;Part;Seen;Doc\n7;sum;1+1?;\"[\"\"2\"\",\"\"two\"\"]\";why;\"[\"\"equals\"\"]\";val;false;d1\n",
			map[string]string{"id": "No.", "type": "Kind", "prompt": "question", "gold": "Answers", "hidden": "Notes", "checks": "Rules", "split": "Part", "reviewed": "seen", "document": "Doc"},
			task.Task{ID: "7", Type: "sum", Prompt: "1+1?", Gold: []string{"2", "two"}, Hidden: "why", Checks: []byte(`["equals"]`), Split: task.Selection, Unreviewed: true, Data: map[string]any{"document": "d1"}},
			"; No.=id+ Kind=type+ Question=prompt+ Answers=gold+ Notes=hidden+ Rules=checks+ Part=split+ Seen=reviewed+ Doc=document-",
		},
		"a column of the field's own name is not read": {
			"t.csv", "id,prompt,question,answer,expected\na,no,yes,no,yes\n",
			map[string]string{"prompt": "question", "gold": "expected"},
			task.Task{ID: "a", Prompt: "yes", Gold: []string{"yes"}},
			", id=id+ prompt=- question=prompt+ answer=- expected=gold+",
		},
		"one column as two fields": {
			"t.csv", "q,gold\na,b\n",
			map[string]string{"id": "q", "prompt": "q"},
			task.Task{ID: "a", Prompt: "a", Gold: []string{"b"}},
			", q=id/prompt+ gold=gold+",
		},
		"case, white space and a line break in a name": {
			"t.csv", "\ufeffID,\"The\n  Question\",Right_Answer\na,b,c\n",
			map[string]string{"id": "id", "prompt": "the question", "gold": "right answer"},
			task.Task{ID: "a", Prompt: "b", Gold: []string{"c"}},
			", ID=id+ The\n  Question=prompt+ Right_Answer=gold+",
		},
		"the exact name before others": {
			"t.csv", "id,Q,q,gold\na,b,c,d\n",
			map[string]string{"prompt": "q"},
			task.Task{ID: "a", Prompt: "c", Gold: []string{"d"}, Data: map[string]any{"Q": "b"}},
			", id=id+ Q=Q- q=prompt+ gold=gold+",
		},
		"commas in a quoted name": {
			"t.csv", "id;\"asked, in words\";gold\na;\"b\nc\";d\n",
			map[string]string{"prompt": "asked, in words"},
			task.Task{ID: "a", Prompt: "b\nc", Gold: []string{"d"}},
			"; id=id+ asked, in words=prompt+ gold=gold+",
		},
		"tabs, and a comma in a name": {
			"t.tsv", "id\tasked, in words\tgold\na\tb\tc\n",
			map[string]string{"prompt": "asked, in words"},
			task.Task{ID: "a", Prompt: "b", Gold: []string{"c"}},
			"\t id=id+ asked, in words=prompt+ gold=gold+",
		},
		"the line above a header that Excel reads": {
			"t.csv", "sep=;\r\nid;prompt;gold\r\na;b;c\r\n", nil,
			task.Task{ID: "a", Prompt: "b", Gold: []string{"c"}},
			"; id=id+ prompt=prompt+ gold=gold+",
		},
		"empty columns without a name": {
			"t.csv", "id,prompt,,gold, \na,b,,c, \n", nil,
			task.Task{ID: "a", Prompt: "b", Gold: []string{"c"}},
			", id=id+ prompt=prompt+ =- gold=gold+ =-",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, msg := readTable(t, t.TempDir(), tc.file, tc.text, tc.columns)
			if msg != "" {
				t.Fatal(msg)
			}
			got := set.Tasks()[0]
			got.Origin, got.RawGold = "", nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.tables, told(set.Tables())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func told(tables []task.Table) string {
	text := tables[0].Separator
	for _, c := range tables[0].Columns {
		text += fmt.Sprintf(" %s=%s%s", c.Name, strings.Join(c.Fields, "/"), map[bool]string{true: "+", false: "-"}[c.Used])
	}
	return text
}

func TestColumnProblems(t *testing.T) {
	t.Parallel()
	wide := "prompt"
	for i := range 1000 {
		wide += fmt.Sprintf(",c%d", i)
	}
	for name, tc := range map[string]struct {
		file, text string
		columns    map[string]string
		want       string
	}{
		"nothing required": {
			"t.csv", "\n\nQuestion,Input,Correct Answer,Label\na,b,c,d\n", nil,
			`t.csv:3: no column for prompt and gold of the tasks; there are "Question", "Input", "Correct Answer", "Label"; say which is which, such as tasks.columns: {prompt: Question, gold: Correct Answer}; or give`,
		},
		"nothing like it":  {"t.csv", "a,gold\nb,c\n", nil, `tasks.columns: {prompt: NAME OF A COLUMN}`},
		"a name to quote":  {"t.csv", "\"Question: 1\",gold\nb,c\n", nil, `tasks.columns: {prompt: "Question: 1"}`},
		"many columns":     {"t.csv", wide + "\n", nil, `"c18" and 981 more; say which is which`},
		"an unknown name":  {"t.csv", "Question,gold\na,b\n", map[string]string{"prompt": "Qestion"}, `t.csv:1: tasks.columns.prompt is "Qestion", and the header has no such column; there are "Question", "gold"; did you mean "Question"?`},
		"two that fit":     {"t.csv", "Q A,q_a,gold\na,b,c\n", map[string]string{"prompt": "q-a"}, `which could be column 1, "Q A", or column 2, "q_a"`},
		"two of one field": {"t.csv", "p,a,b\na,b,c\n", map[string]string{"prompt": "p", "gold": "a", "answer": "b"}, "tasks.columns names gold, answer, answers, which mean the same: keep one"},
		"twice":            {"t.csv", "prompt,gold, gold\na,b,c\n", nil, `t.csv:1: the header names column 3 like column 2, "gold": rename one of them`},
		"no names":         {"t.csv", ",,\na,b,c\n", nil, "t.csv:1: the header names no column"},
		"text without one": {"t.csv", ",prompt,gold\n,a,\"b\n\"\n0,c,d\n", nil, `t.csv:4: column 1 has no name in the header and holds "0" here`},
		"an open quote":    {"t.csv", "prompt,gold\na,\"b\nc,d\n", nil, "t.csv:2: the row that begins here: "},
		"no table":         {"t.jsonl", "{}", map[string]string{"prompt": "q"}, "t.jsonl: tasks.columns is for tables (.csv and .tsv)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, msg := readTable(t, t.TempDir(), tc.file, tc.text, tc.columns); !strings.Contains(msg, tc.want) {
				t.Errorf("got  %s\nwant %s", msg, tc.want)
			}
		})
	}
}

func TestColumnsThatWouldMeanSomething(t *testing.T) {
	t.Parallel()
	set, msg := readTable(t, t.TempDir(), "t.csv", "prompt,gold,Split,ID\na,b,c,d\n", nil)
	if msg != "" {
		t.Fatal(msg)
	}
	for _, want := range []string{`the column "ID" is read by nothing; as the field id it is with tasks.columns: {id: ID}`, `tasks.columns: {split: Split}`} {
		if !slices.ContainsFunc(set.Warnings(), func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no %q in %q", want, set.Warnings())
		}
	}
}

// A table whose columns are mapped holds the tasks that it would hold if its columns had the
// names of the fields.
func TestMappedColumnsAreRenamedOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		fields := []string{"id", "prompt", "gold", "type", "hidden", "document"}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z][a-z]{3}( [a-z]{2,5})?`), len(fields), len(fields), strings.ToLower).Draw(t, "names")
		cells := rapid.SliceOfN(rapid.StringMatching(`[a-z\n,;" ]{1,8}[a-z]`), len(fields), len(fields)).Draw(t, "cells")
		sep := rapid.SampledFrom([]string{",", ";", "\t"}).Draw(t, "separator")
		columns := map[string]string{}
		for i, f := range fields {
			columns[f] = strings.ToUpper(names[i])
			cells[i] = `"` + strings.ReplaceAll(cells[i], `"`, `""`) + `"`
		}
		row := "\n" + strings.Join(cells, sep) + "\n"
		mapped, msg := readTable(t, dir, "t.csv", strings.Join(names, sep)+row, columns)
		named, msg2 := readTable(t, dir, "t.csv", strings.Join(fields, sep)+row, nil)
		if msg != msg2 {
			t.Fatalf("%q, %q", msg, msg2)
		}
		if diff := cmp.Diff(named.Tasks(), mapped.Tasks()); diff != "" {
			t.Error(diff)
		}
	})
}

// Whatever a table holds, it is read or refused with its name.
func FuzzTable(f *testing.F) {
	f.Add("Question,gold\na,b\n", "Question")
	f.Add("sep=;\r\nid;\"a\n;b\";gold\r\na;b;c\r\n", "a ;b")
	f.Add("\ufeff,prompt,\n,a,\n", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		set, msg := readTable(t, t.TempDir(), "t.csv", text, map[string]string{"prompt": name})
		if msg == "" && (len(set.Tasks()) == 0 && set.Triggers().Len() == 0 || len(set.Tables()) != 1) {
			t.Errorf("%d tasks of %d tables", len(set.Tasks()), len(set.Tables()))
		}
		if msg != "" && !strings.Contains(msg, "t.csv") && !strings.Contains(msg, "split") {
			t.Errorf("no file in %q", msg)
		}
	})
}
