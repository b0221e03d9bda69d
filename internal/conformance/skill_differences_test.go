package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/skill"
)

// skillDifferences are the departures of skill.Apply from the references. What
// a case ought to give is told by the oracle below: a plain model of the
// reference's rules, to which ours are added one by one.
var skillDifferences = map[string][]difference{
	"edits_skillopt": editDifferences(editOracle{protect: true}),
	"edits_skillrl":  editDifferences(editOracle{}),
}

func editDifferences(reference editOracle) []difference {
	ours := reference
	ours.lineEnds, ours.regions, ours.duplicates, ours.lists = true, true, true, true
	var all []difference
	for _, rule := range []struct {
		reason string
		oracle editOracle
	}{
		{"content takes the line ending of the document", editOracle{lineEnds: true}},
		{"an edit that reaches into a region or breaks one is refused", editOracle{regions: true}},
		{"the same edit is applied once", editOracle{duplicates: true}},
		{"a list is no text: an error, not its notation in Python", editOracle{lists: true}},
	} {
		oracle := rule.oracle
		oracle.protect = reference.protect
		all = append(all, difference{
			reason: rule.reason,
			holds: func(in map[string]any) bool {
				return !reflect.DeepEqual(oracle.run(in), reference.run(in))
			},
			want: func(in, _ map[string]any) map[string]any {
				return map[string]any{"want": ours.run(in)}
			},
		})
	}
	return all
}

// editOracle applies edits by the rules of SkillOpt (protect) or skillrl, and
// those of ours that are switched on.
type editOracle struct {
	protect                              bool
	lineEnds, regions, duplicates, lists bool
}

var (
	oracleMarkers = []string{skill.SlowStart, skill.SlowEnd, skill.AppendixStart, skill.AppendixEnd}
	oracleSpaces  = func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\x1c\x1d\x1e\x1f", r) }
)

func (o editOracle) run(in map[string]any) editResult {
	text := in["skill"].(string)
	eol := "\n"
	if o.lineEnds && strings.Count(text, "\r\n")*2 > strings.Count(text, "\n") {
		eol = "\r\n"
	}
	rows := make([]editRow, 0)
	applied := map[editRow]bool{}
	for _, raw := range in["edits"].([]any) {
		e, ok := o.decode(raw)
		if !ok {
			rows = append(rows, editRow{Status: "error"})
			continue
		}
		next, status := o.step(text, e, eol)
		same := editRow{Op: e.Op, Target: e.Target, Content: e.Content}
		switch {
		case o.duplicates && applied[same]:
			next, status = text, "skipped_duplicate"
		case o.regions && o.protect && !reflect.DeepEqual(o.protected(text), o.protected(next)):
			next, status = text, "skipped_protected_region"
		case strings.HasPrefix(status, "applied"):
			applied[same] = true
		}
		text = next
		e.Status, e.Target, e.Content = status, runes200(e.Target), runes200(e.Content)
		rows = append(rows, e)
	}
	return editResult{text, rows}
}

func (o editOracle) decode(raw any) (editRow, bool) {
	fields, ok := raw.(map[string]any)
	if !ok {
		return editRow{}, false
	}
	get := func(name string) string {
		switch v := fields[name].(type) {
		case string:
			return v
		case nil:
			_, present := fields[name]
			ok = ok && (!present || !o.protect)
		case json.Number:
			ok = ok && !o.protect
			return v.String()
		default:
			ok = ok && !o.protect && !o.lists
			if list, isList := v.([]any); isList && len(list) == 1 { // ["a"] is the only one that occurs
				return fmt.Sprintf("['%v']", list[0])
			}
		}
		return ""
	}
	e := editRow{Op: get("op"), Target: get("target"), Content: strings.TrimFunc(get("content"), oracleSpaces)}
	if o.protect {
		for _, m := range oracleMarkers {
			e.Content = strings.ReplaceAll(e.Content, m, "")
		}
	}
	return e, ok
}

func (o editOracle) step(text string, e editRow, eol string) (string, string) {
	content := e.Content
	at, target := strings.Index(text, e.Target), e.Target
	if o.lineEnds {
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", eol)
		if at < 0 {
			target = strings.ReplaceAll(strings.ReplaceAll(target, "\r\n", "\n"), "\n", eol)
			at = strings.Index(text, target)
		}
	}
	found := at >= 0 && e.Target != ""
	for _, r := range o.spans(text) {
		touches := e.Op == "replace" || e.Op == "delete" || e.Op == "insert_after"
		if found && (r[0] <= at && at < r[1] || o.regions && touches && at < r[1] && at+len(target) > r[0]) {
			return text, "skipped_protected_region"
		}
	}
	switch {
	case e.Op == "append":
		return o.append(text, content, eol, "applied_append", "applied_append_before_protected_region")
	case e.Op == "insert_after" && !found:
		return o.append(text, content, eol, "applied_insert_after_fallback_append", "applied_insert_after_fallback_before_protected_region")
	case e.Op == "insert_after":
		to := len(text)
		if i := strings.Index(text[at+len(target)-1:], "\n"); i >= 0 {
			to = at + len(target) + i
		}
		return text[:to] + eol + content + eol + text[to:], "applied_insert_after"
	case e.Op != "replace" && e.Op != "delete":
		return text, "skipped_unknown_op"
	case e.Target == "":
		return text, "skipped_" + e.Op + "_missing_target"
	case !found:
		return text, "skipped_" + e.Op + "_target_not_found"
	case e.Op == "delete":
		content = ""
	}
	return text[:at] + content + text[at+len(target):], "applied_" + e.Op
}

func (o editOracle) append(text, content, eol, last, before string) (string, string) {
	at := -1
	for _, m := range []string{skill.SlowStart, skill.AppendixStart} {
		if i := strings.Index(text, m); o.protect && i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return strings.TrimRightFunc(text, oracleSpaces) + eol + eol + content + eol, last
	}
	return strings.TrimRightFunc(text[:at], oracleSpaces) + eol + eol + content + eol + eol + text[at:], before
}

// spans are the protected ranges: the reference knows the first of each kind.
func (o editOracle) spans(text string) (found [][2]int) {
	for i := 0; o.protect && i < len(oracleMarkers); i += 2 {
		for from := 0; from < len(text); {
			start := strings.Index(text[from:], oracleMarkers[i])
			end := strings.Index(text[from:], oracleMarkers[i+1])
			if o.regions && start >= 0 {
				end = strings.Index(text[from+start:], oracleMarkers[i+1])
				end += start * min(1, 1+end) // stays -1
			}
			if start < 0 || end < 0 {
				break
			}
			end += from + len(oracleMarkers[i+1])
			found = append(found, [2]int{from + start, end})
			if !o.regions {
				break
			}
			from = end
		}
	}
	return found
}

func (o editOracle) protected(text string) (found []string) {
	for _, r := range o.spans(text) {
		found = append(found, text[r[0]:r[1]])
	}
	return found
}

func runes200(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200])
	}
	return s
}
