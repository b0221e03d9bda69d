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
	ours := editOracle{
		lineEnds: true, regions: true, duplicates: true, lists: true,
		nothing: true, lines: true, plain: true, markers: true, front: true,
	}
	rules := []struct {
		reason string
		oracle editOracle
		named  bool
	}{
		{"content takes the line ending of the document", editOracle{lineEnds: true}, false},
		{"an edit that reaches into a region or breaks one is refused", editOracle{regions: true}, false},
		{"the same edit is applied once", editOracle{duplicates: true}, false},
		{"a list is no text: an error, not its notation in Python", editOracle{lists: true}, false},
		{"an edit that is empty or changes nothing is skipped", editOracle{nothing: true}, true},
		{"insert_after goes after the line that its target ends, not after the next one", editOracle{lines: true}, false},
		{"what steers or hides is left out of content, and \\v, U+2028 and the like become line breaks", editOracle{plain: true}, false},
		{"a marker that comes about when another is taken out of content goes too", editOracle{markers: true}, false},
		{"front matter stays as it is", editOracle{front: true}, false},
		{"several of these together", ours, false},
	}
	ours.protect = reference.protect
	var all []difference
	for _, rule := range rules {
		oracle := rule.oracle
		oracle.protect = reference.protect
		all = append(all, difference{
			reason: rule.reason, named: rule.named,
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
	nothing, lines, plain                bool
	markers, front                       bool // only with protect
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
		case o.nothing && strings.HasPrefix(status, "applied") && (next == text || e.Content == "" && (e.Op == "append" || e.Op == "insert_after")):
			next, status = text, "skipped_no_change"
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
	e := editRow{Op: get("op"), Target: get("target"), Content: get("content")}
	if o.plain {
		e.Content = skill.Plain(e.Content)
	}
	e.Content = strings.TrimFunc(e.Content, oracleSpaces)
	if !o.protect {
		return e, ok
	}
	if o.markers {
		e.Content = skill.StripMarkers(e.Content)
	}
	for _, m := range oracleMarkers {
		e.Content = strings.ReplaceAll(e.Content, m, "")
	}
	return e, ok
}

func (o editOracle) step(text string, e editRow, eol string) (string, string) {
	content := e.Content
	at, target := o.find(text, e.Target), e.Target
	if o.lineEnds {
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", eol)
		if at < 0 {
			target = strings.ReplaceAll(strings.ReplaceAll(target, "\r\n", "\n"), "\n", eol)
			at = o.find(text, target)
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
		to, from := len(text), at+len(target)
		if o.lines {
			from-- // a line end of its own counts
		}
		if i := strings.Index(text[from:], "\n"); i >= 0 {
			to = from + i + 1
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

// head is the length of the front matter, where it counts.
func (o editOracle) head(text string) int {
	if !o.front || !o.protect {
		return 0
	}
	doc, _ := skill.Parse(text)
	return len(doc.Head)
}

// find looks for a target in the body before the front matter.
func (o editOracle) find(text, target string) int {
	head := o.head(text)
	if i := strings.Index(text[head:], target); i >= 0 {
		return head + i
	}
	return strings.Index(text, target)
}

func (o editOracle) append(text, content, eol, last, before string) (string, string) {
	at, head := -1, o.head(text)
	for _, m := range []string{skill.SlowStart, skill.AppendixStart} {
		if i := strings.Index(text[head:], m); o.protect && i >= 0 && (at < 0 || head+i < at) {
			at = head + i
		}
	}
	paragraph := func(upTo int) string {
		body := strings.TrimRightFunc(text[head:upTo], oracleSpaces)
		if body == "" && head > 0 && strings.HasSuffix(text[:head], "\n") {
			return text[:head] + eol + content
		}
		return text[:head] + body + eol + eol + content
	}
	if at < 0 {
		return paragraph(len(text)) + eol, last
	}
	return paragraph(at) + eol + eol + text[at:], before
}

// spans are the protected ranges: the reference knows the first of each kind.
func (o editOracle) spans(text string) (found [][2]int) {
	head := o.head(text)
	if head > 0 {
		found = append(found, [2]int{0, head})
	}
	for i := 0; o.protect && i < len(oracleMarkers); i += 2 {
		for from := head; from < len(text); {
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
		region := text[r[0]:r[1]]
		if r[0] == 0 && r[1] == o.head(text) {
			region = strings.TrimRight(region, "\r\n") // the last one may be missing at the end of a file
		}
		found = append(found, region)
	}
	return found
}

func runes200(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200])
	}
	return s
}
