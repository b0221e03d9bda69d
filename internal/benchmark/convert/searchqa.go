package convert

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// usualContext is how many characters of a context the reference shows.
	usualContext = 6000
	document     = "[DOC]"
	cutMark      = "\n...[truncated]"
)

// SearchQA makes a task of a row of SearchQA.
func SearchQA(r Row, o Options) (Task, error) {
	t := Task{ID: text(r, "key", "id"), Type: "qa", Gold: texts(r["answers"])}
	for _, name := range []string{"question", "context"} {
		if text(r, name) == "" {
			return t, newMissingError(name)
		}
	}
	if t.ID == "" {
		return t, newMissingError("key")
	}
	if len(t.Gold) == 0 {
		return t, newMissingError("answers")
	}
	limit := o.MaxContext
	if limit == 0 {
		limit = usualContext
	}
	cut := CutContext
	if o.Reference {
		cut = ReferenceCut
	}
	t.Fields = map[string]any{"question": text(r, "question"), "context": cut(raw(r, "context"), limit)}
	return t, nil
}

// ReferenceCut shortens a context to whole documents of at most limit characters together, as
// the reference does: the mark of the first document is lost where nothing is before it,
// and a first document that is too long is cut and more than limit with the note behind it.
func ReferenceCut(context string, limit int) string {
	if utf8.RuneCountInString(context) <= limit {
		return context
	}
	kept, size := "", 0
	for _, doc := range strings.Split(context, document) {
		length := utf8.RuneCountInString(doc)
		if kept != "" {
			doc, length = document+doc, length+len(document)
		}
		if size+length > limit {
			break
		}
		kept, size = kept+doc, size+length
	}
	if kept == "" {
		return firstRunes(context, limit) + cutMark
	}
	return kept
}

// CutContext shortens a context to whole documents of at most limit characters together, each
// with its mark. A first document that is too long ends with a note, within the limit.
func CutContext(context string, limit int) string {
	if utf8.RuneCountInString(context) <= limit {
		return context
	}
	var kept strings.Builder
	size := 0
	for i, doc := range strings.Split(context, document) {
		if i > 0 {
			doc = document + doc
		}
		length := utf8.RuneCountInString(doc)
		if size+length > limit {
			break
		}
		kept.WriteString(doc)
		size += length
	}
	if strings.TrimSpace(kept.String()) == "" {
		return firstRunes(context, max(0, limit-len(cutMark))) + firstRunes(cutMark, limit)
	}
	return kept.String()
}

// firstRunes returns the first n characters of s, or for a negative n all but the last -n,
// as a slice of Python does.
func firstRunes(s string, n int) string {
	runes := []rune(s)
	if n < 0 {
		n = max(0, len(runes)+n)
	}
	return string(runes[:min(n, len(runes))])
}

// Sealqa makes a task of a row of SealQA. The canary of a row is not taken over: it would
// appear in what a run records.
func Sealqa(r Row, o Options) (Task, error) {
	t := Task{ID: text(r, "question_id", "id"), Type: orElse(text(r, "topic"), "sealqa"), Gold: texts(first(r, "answer", "ground_truth"))}
	if t.ID == "" {
		t.ID = fmt.Sprintf("sealqa:%04d", o.Index+1)
	}
	if text(r, "question") == "" {
		return t, newMissingError("question")
	}
	if len(t.Gold) == 0 {
		return t, newMissingError("answer", "ground_truth")
	}
	t.Fields = map[string]any{"question": text(r, "question")}
	for _, name := range []string{"urls", "search_results", "freshness", "question_types"} {
		// All tasks have all fields, so that a template may name them.
		t.Fields[name] = strings.Join(texts(first(r, name)), "\n")
	}
	return t, nil
}
