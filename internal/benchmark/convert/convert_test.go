package convert

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
)

func row(t *testing.T, text string) Row {
	t.Helper()
	var r Row
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func choices(pairs ...string) []any {
	var list []any
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"label": pairs[i], "text": pairs[i+1]})
	}
	return list
}

func TestConverters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, row string
		o         Options
		want      Task
	}{
		{
			"docvqa", `{"questionId": "49153", "question": "What is the date?", "docId": 14465, "question_types": ["handwritten", "form"], "image": {"path": "a.png"}, "answers": ["12.50", "x"], "data_split": "val"}`,
			Options{},
			Task{
				ID: "49153", Type: "handwritten|form", Gold: []string{"12.50", "x"}, Images: []Image{{Name: "q49153_d14465.png", Path: "a.png"}},
				Fields: map[string]any{"question": "What is the date?", "questionId": "49153", "docId": "14465", "source_split": "val"},
			},
		},
		{
			"docvqa", `{"id": 7, "question": "what? document_path: d/p.png", "answer": "['ITC', 'itc']", "topic": "form"}`,
			Options{},
			Task{ID: "7", Type: "form", Gold: []string{"ITC", "itc"}, Images: []Image{{Name: "p.png", Path: "d/p.png"}}, Fields: map[string]any{"question": "what?"}},
		},
		{
			"livemath", `{"month": "202602", "no": 22, "theorem": "T", "sketch": "S", "theorem_type": ["existence", "bound"], "mcq": {"question": "Q", "choices": ["x", "y"], "correct_choice": "B."}}`,
			Options{},
			Task{
				ID: "202602:22", Type: "existence", Gold: []string{"B"}, Hidden: "Theorem:\nT\n\nProof sketch:\nS",
				Fields: map[string]any{"question": "Q", "choices": choices("A", "x", "B", "y"), "choices_text": "A. x\nB. y", "month": "202602", "theorem_type": []any{"existence", "bound"}},
			},
		},
		{
			"searchqa", `{"key": "ab", "question": "q", "context": "[DOC] one [DOC] two two", "answers": ["a", "b"]}`,
			Options{MaxContext: 12},
			Task{ID: "ab", Type: "qa", Gold: []string{"a", "b"}, Fields: map[string]any{"question": "q", "context": "[DOC] one "}},
		},
		{
			"babyvision", `{"taskId": 3, "type": "Visual", "subtype": "Count", "question": "How many?", "options": ["1", "2"], "ansType": "choice", "choiceAns": 1, "image": "3.jpg", "coT": "look"}`,
			Options{},
			Task{
				ID: "3", Type: "Count", Gold: []string{"B"}, Hidden: "look", Images: []Image{{Name: "3.jpg", Path: "3.jpg"}},
				Fields: map[string]any{"question": "How many?", "kind": "Visual", "answer_type": "choice", "choices": choices("A", "1", "B", "2"), "choices_text": "A. 1\nB. 2"},
			},
		},
		{
			"babyvision", `{"question": "Which?", "ansType": "blank", "blankAns": ["2", "3"], "img": "i.png"}`,
			Options{Index: 4},
			Task{ID: "5", Type: "unknown", Gold: []string{"2 | 3"}, Images: []Image{{Name: "i.png", Path: "i.png"}}, Fields: map[string]any{"question": "Which?", "kind": "unknown", "answer_type": "blank"}},
		},
		{
			"mathverse", `{"problem_index": "5", "sample_index": "21", "problem_version": "Text Lite", "question": "Find x.\nChoices:\nA:30°\nB:45°", "question_type": "multi-choice", "answer": "b)", "image": "images/5.png", "metadata": {"subject": "Plane Geometry", "subfield": "Angle"}}`,
			Options{Version: "Text Lite"},
			Task{
				ID: "5", Type: "Angle", Gold: []string{"B"}, Images: []Image{{Name: "5.png", Path: "images/5.png"}},
				Fields: map[string]any{
					"question": "Find x.\nChoices:\nA:30°\nB:45°", "stem": "Find x.", "question_type": "multi-choice", "choices": choices("A", "30°", "B", "45°"), "choices_text": "A. 30°\nB. 45°",
					"problem_version": "Text Lite", "problem_index": "5", "subject": "Plane Geometry",
				},
			},
		},
		{
			"mmrb", `{"question": "Is {image#1} like  {image#3}?", "answer": "B", "image_paths": ["a.jpg", "b.jpg"], "options": ["(A) yes", "(B) no."], "source": "s", "subtask": "odd one", "index": 2, "reasoning_steps": [[{"reasoning step": "look", "reasoning type": "see", "rationale": "it is there"}]]}`,
			Options{},
			Task{
				ID: "s:odd one:2", Type: "odd one", Gold: []string{"B"}, Hidden: "Reasoning path 1:\n1. [see] look (it is there)", Images: []Image{{Name: "a.jpg", Path: "a.jpg"}, {Name: "b.jpg", Path: "b.jpg"}},
				Fields: map[string]any{
					"question": "Is {image#1} like [Image #3]?\n[Additional Image #2] {image#2}", "source": "s", "choices": choices("A", "yes", "B", "no"), "choices_text": "A. yes\nB. no",
				},
			},
		},
		{
			"sealqa", `{"question": "Who?", "answer": "Ann", "topic": "Sports", "urls": ["http://a", "http://b"], "canary": "secret", "freshness": "never"}`,
			Options{Index: 1},
			Task{ID: "sealqa:0002", Type: "Sports", Gold: []string{"Ann"}, Fields: map[string]any{"question": "Who?", "urls": "http://a\nhttp://b", "search_results": "", "freshness": "never", "question_types": ""}},
		},
	}
	for _, tt := range tests {
		convert, ok := Named(tt.name)
		if !ok {
			t.Fatalf("no converter %s", tt.name)
		}
		got, err := convert(row(t, tt.row), tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestLeftOut: rows that the benchmarks leave out are told from faults.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, row string
		skipped   bool
	}{
		{"livemath", `{"question": "Q", "choices": ["x"]}`, true},
		{"livemath", `{"question": "Q", "choices": ["1","2","3","4","5","6","7","8"], "correct_choice": "A"}`, false},
		{"babyvision", `{"question": "Q", "blankAns": "x"}`, true},
		{"babyvision", `{"question": "Q", "options": ["x"], "choiceAns": "E", "image": "a"}`, true},
		{"mathverse", `{"problem_version": "Vision Only", "question": "Q", "answer": "1", "image": "a"}`, true},
		{"mathverse", `{"question": "Q", "answer": "1"}`, true},
		{"mmrb", `{"question": "Q", "answer": "1", "image_paths": []}`, true},
		{"searchqa", `{"key": "k", "question": "q", "context": "c"}`, false},
		{"searchqa", `{}`, false},
		{"sealqa", `{"question": "q"}`, false},
	} {
		convert, _ := Named(tt.name)
		_, err := convert(row(t, tt.row), Options{Version: "Text Lite"})
		var skipped *SkipError
		if err == nil || errors.As(err, &skipped) != tt.skipped {
			t.Errorf("%s of %s: %v", tt.name, tt.row, err)
		}
	}
}

// TestEveryConverterHasAName and takes rows of nothing and of nonsense without breaking.
func TestEveryConverterHasAName(t *testing.T) {
	t.Parallel()
	if len(Names()) != len(converters()) {
		t.Errorf("names %v, converters %d", Names(), len(converters()))
	}
	for _, name := range Names() {
		convert, ok := Named(name)
		if !ok {
			t.Errorf("%s has no converter", name)
			continue
		}
		for _, v := range []any{nil, json.Number("5"), "x", []any{nil, []any{}}, map[string]any{"label": nil}, true, []byte("p")} {
			r := Row{}
			for _, key := range strings.Fields("id key question query context answers answer ground_truth choices options choiceAns blankAns image image_path image_paths mcq correct_choice theorem_type no month metadata reasoning_steps index urls question_type ansType docId question_types") {
				r[key] = v
			}
			_, _ = convert(r, Options{Seed: "42"})
		}
	}
}

func TestContextsAreCutAtDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		context          string
		limit            int
		ours, references string
	}{
		{"short", 10, "short", "short"},
		{"[DOC]aaa[DOC]bbb[DOC]ccc", 17, "[DOC]aaa[DOC]bbb", "aaa[DOC]bbb"},
		{"x[DOC]aaaaaaaaaa", 8, "x", "x"},
		{strings.Repeat("é", 40), 30, strings.Repeat("é", 15) + cutMark, strings.Repeat("é", 30) + cutMark},
	}
	for _, tt := range tests {
		if got := CutContext(tt.context, tt.limit); got != tt.ours {
			t.Errorf("%q to %d: got %q, want %q", tt.context, tt.limit, got, tt.ours)
		}
		if got := ReferenceCut(tt.context, tt.limit); got != tt.references {
			t.Errorf("%q to %d as the reference: got %q, want %q", tt.context, tt.limit, got, tt.references)
		}
	}
}

func TestAnswersAreNotRewritten(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string][2]string{
		"12.50": {"12.50", "12.5"}, "1,234": {"1,234", "(1, 234)"}, "007": {"007", "007"}, "['a', 1]": {"a|1", "a|1"}, "0x10": {"0x10", "16"}, "'q'": {"q", "q"}, "": {"", ""},
	} {
		ours, references := strings.Join(DocVQAAnswers(cell, false), "|"), strings.Join(DocVQAAnswers(cell, true), "|")
		if ours != want[0] || references != want[1] {
			t.Errorf("%q: got %q and %q, want %q", cell, ours, references, want)
		}
	}
}

func TestSplitChoices(t *testing.T) {
	t.Parallel()
	tests := []struct{ question, stem, choices string }{
		{"Find x. Choices: A:1 B: 2  C) 3", "Find x.", "A. 1\nB. 2\nC. 3"},
		{"Choice: A. x", "Choice: A. x", "A. x"},
		{"No list", "No list", ""},
		{"Whatever éChoices: A: 1", "Whatever éChoices: A: 1", ""},
	}
	for _, tt := range tests {
		stem, list := SplitChoices(tt.question)
		if got := mcq.Lines(list); stem != tt.stem || got != tt.choices {
			t.Errorf("%q: got %q and %q", tt.question, stem, got)
		}
	}
}
