package convert

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// DocVQA makes a task of a row of DocVQA: of the CSV of its published splits, or of parquet.
func DocVQA(r Row, o Options) (Task, error) {
	question, at := documentPath(raw(r, "question"))
	gold := goldOfDocVQA(first(r, "answers", "answer", "ground_truth"), o.Reference)
	t := Task{
		ID: text(r, "questionId", "id"), Gold: gold,
		Type:   orElse(trim(orElse(raw(r, "topic", "category"), strings.Join(texts(r["question_types"]), "|"))), "docvqa"),
		Fields: map[string]any{"question": question},
	}
	set(t.Fields, map[string]string{
		"questionId": text(r, "questionId"), "docId": text(r, "docId"), "source_split": text(r, "source_split", "data_split"),
		"ucsf_document_id": text(r, "ucsf_document_id"), "ucsf_document_page_no": text(r, "ucsf_document_page_no"),
	})
	name := ""
	if text(r, "docId") != "" {
		name = "q" + itemName(t.ID) + "_d" + itemName(text(r, "docId")) + ".png"
	}
	if image, ok := picture(r["image"], name); ok {
		t.Images = []Image{image}
	} else if p := trim(orElse(raw(r, "image_path"), at)); p != "" {
		image, _ := picture(p, "")
		t.Images = []Image{image}
	}
	return t, nil
}

// documentPath cuts the path of the page off a question.
func documentPath(question string) (rest, at string) {
	rest, at, _ = strings.Cut(question, "document_path:")
	return trim(rest), trim(at)
}

func goldOfDocVQA(v any, reference bool) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any, map[string]any:
		return GoldAnswers(v)
	}
	return DocVQAAnswers(pytext.Text(v), reference)
}

// GoldAnswers reads accepted answers of any shape, as the evaluation of DocVQA does: a list, an
// object that has one, text that is either as JSON or as a literal of Python, or a single
// value. There is always one, if only an empty one.
func GoldAnswers(v any) []string {
	if t, ok := v.(string); ok {
		t = trim(t)
		if t == "" || t[0] != '[' && t[0] != '{' {
			return []string{t}
		}
		parsed, ok := parsedText(t)
		if !ok || parsed == nil {
			return []string{t}
		}
		return GoldAnswers(parsed)
	}
	switch v := v.(type) {
	case nil:
		return []string{""}
	case map[string]any, pytext.Dict:
		for _, key := range []string{"answers", "ground_truth", "answer"} {
			if inner, ok := member(v, key); ok {
				return GoldAnswers(inner)
			}
		}
		return []string{pytext.Text(v)}
	case []any:
		return eachGold(v)
	case pytext.Tuple:
		return eachGold(v)
	case pytext.Set:
		return eachGold(v)
	}
	return []string{pytext.Text(v)}
}

func parsedText(t string) (any, bool) {
	var v any
	decoder := json.NewDecoder(strings.NewReader(t))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err == nil && strings.TrimSpace(t[decoder.InputOffset():]) == "" {
		return v, true
	}
	v, err := pytext.Literal(t)
	return v, err == nil
}

// member returns a value of an object.
func member(v any, key string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[key]
		return inner, ok
	case pytext.Dict:
		for i := len(v) - 1; i >= 0; i-- {
			if v[i].Key == key {
				return v[i].Value, true
			}
		}
	}
	return nil, false
}

func eachGold(list []any) (all []string) {
	for _, item := range list {
		all = append(all, oneGold(item)...)
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// oneGold reads an entry of a list. Text in an object may be a list in its turn.
func oneGold(item any) []string {
	for _, key := range []string{"text", "answer", "value"} {
		if inner, ok := member(item, key); ok {
			return GoldAnswers(inner)
		}
	}
	return []string{pytext.Text(item)}
}

// DocVQAAnswers reads a cell with answers: a list of Python, or text. In the reference any
// other literal of Python is read too and written again, so that 12.50 becomes 12.5 and 1,234 a
// tuple.
func DocVQAAnswers(cell string, reference bool) []string {
	cell = trim(cell)
	if cell == "" {
		return nil
	}
	v, err := pytext.Literal(cell)
	if err != nil {
		return []string{cell}
	}
	switch v := v.(type) {
	case []any:
		var all []string
		for _, item := range v {
			if t := trim(pytext.Text(item)); t != "" {
				all = append(all, t)
			}
		}
		return all
	case string:
		return []string{trim(v)}
	}
	if !reference {
		return []string{cell}
	}
	return []string{trim(pytext.Text(v))}
}
