package conformance

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/cases"

	"github.com/seed-f4525e22/skillopt/skill"
)

// regionDifferences are the departures of the functions on regions. As with edits,
// what a case ought to give is told by a plain model of the reference's rules, to
// which ours are added one by one.
var regionDifferences = map[string][]difference{
	"slow_region":     append(regionRules(regionOracle.slow), sleepRule()),
	"appendix_region": regionRules(regionOracle.appendix),
}

func regionRules(run func(o regionOracle, in map[string]any) map[string]any) []difference {
	ours := regionOracle{blank: true, inside: true, front: true, heading: true, marks: true}
	var all []difference
	for _, rule := range []struct {
		reason string
		oracle regionOracle
	}{
		{"blank lines collapse where something was taken out, not in the whole document", regionOracle{blank: true}},
		{"every marker is taken out, also one that comes about when another is", regionOracle{inside: true}},
		{"front matter stays as it is", regionOracle{front: true}},
		{"the title of the appendix is a heading in any case of letters", regionOracle{heading: true}},
		{"! and ? at its end make no other note", regionOracle{marks: true}},
		{"several of these together", ours},
	} {
		all = append(all, difference{
			reason: rule.reason,
			holds: func(in map[string]any) bool {
				return in["impl"] != "sleep" && !reflect.DeepEqual(run(rule.oracle, in), run(regionOracle{}, in))
			},
			want: func(in, _ map[string]any) map[string]any { return run(ours, in) },
		})
	}
	return all
}

// sleepRule is the departure from the functions of Sleep, which take a lone start marker out
// with all that follows it.
func sleepRule() difference {
	return difference{
		reason: "what stands behind a lone start marker stays",
		holds: func(in map[string]any) bool {
			return ofSleep(in) && !reflect.DeepEqual(sleepSlow(in, true), sleepSlow(in, false))
		},
		want: func(in, _ map[string]any) map[string]any { return sleepSlow(in, false) },
	}
}

// sleepSlow takes the region out and puts it in by the rules of Sleep; without drops a lone
// start marker takes nothing along, as ours.
func sleepSlow(in map[string]any, drops bool) map[string]any {
	text, content := in["skill"].(string), oracleTrim(in["content"].(string))
	cut := text
	if last := strings.LastIndex(cut, skill.SlowStart); drops && last >= 0 && !strings.Contains(cut[last:], skill.SlowEnd) {
		cut = cut[:last]
	}
	stripped := oracleTrimEnd(regionOracle{}.strip(cut, skill.SlowStart, skill.SlowEnd, false))
	replaced := stripped
	if content != "" {
		replaced = regionOracle{}.atEnd(stripped, skill.SlowStart+"\n"+content+"\n"+skill.SlowEnd)
	}
	return recordedFields(map[string]any{
		"has": strings.Contains(text, skill.SlowStart) && strings.Contains(text, skill.SlowEnd), "strip": stripped, "replace": replaced,
		"extract": oracleInner(text, skill.SlowStart, skill.SlowEnd),
	})
}

// regionOracle takes regions out and puts them in by the rules of SkillOpt, and
// those of ours that are switched on.
type regionOracle struct{ blank, inside, front, heading, marks bool }

func oracleTrim(s string) string    { return strings.TrimFunc(s, oracleSpaces) }
func oracleTrimEnd(s string) string { return strings.TrimRightFunc(s, oracleSpaces) }

func (o regionOracle) head(text string) int {
	return editOracle{protect: true, front: o.front}.head(text)
}

// cut takes text[from:to] out.
func (o regionOracle) cut(text string, from, to int) string {
	a, b := text[:from], text[to:]
	left, right := strings.TrimRight(a, "\n"), strings.TrimLeft(b, "\n")
	if breaks := len(a) - len(left) + len(b) - len(right); o.blank && breaks > 2 {
		return left + "\n\n" + right
	}
	return a + b
}

// strip takes regions and lone markers out: of the lone start markers the reference
// finds one. With last a region begins at the last start marker before its end.
func (o regionOracle) strip(text, start, end string, last bool) string {
	head := o.head(text)
	text = o.cut(text, head, head) // ours: nor more than one blank line before the body
	for strings.Contains(text[head:], start) {
		from := head + strings.Index(text[head:], start)
		to := strings.Index(text[from:], end)
		if to < 0 {
			text = o.cut(text, from, from+len(start))
			break
		}
		to += from
		if last {
			from = strings.LastIndex(text[:to], start)
		}
		text = o.cut(text, from, to+len(end))
	}
	for at := head; at < len(text); {
		i := strings.Index(text[at:], end)
		if i < 0 {
			break
		}
		at += i
		text = o.cut(text, at, at+len(end))
	}
	for !o.blank && strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	if o.inside && (strings.Contains(text[head:], start) || strings.Contains(text[head:], end)) {
		return o.strip(text, start, end, last)
	}
	head = o.head(text)
	return text[:head] + oracleTrimEnd(text[head:])
}

// atEnd adds a block as the last paragraph.
func (o regionOracle) atEnd(text, block string) string {
	head := o.head(text)
	body := oracleTrimEnd(text[head:])
	if body == "" && head > 0 && strings.HasSuffix(text[:head], "\n") {
		return text[:head] + "\n" + block + "\n"
	}
	return text[:head] + body + "\n\n" + block + "\n"
}

func oracleInner(text, start, end string) string {
	from, to := strings.Index(text, start), strings.Index(text, end)
	if from < 0 || to < from+len(start) {
		return ""
	}
	return oracleTrim(text[from+len(start) : to])
}

func (o regionOracle) slow(in map[string]any) map[string]any {
	text, content := in["skill"].(string), in["content"].(string)
	has := strings.Contains(text, skill.SlowStart) && strings.Contains(text, skill.SlowEnd)
	inject, stripped := text, o.strip(text, skill.SlowStart, skill.SlowEnd, false)
	if !has {
		inject = o.atEnd(text, skill.SlowStart+"\n"+skill.SlowEnd)
	}
	return recordedFields(map[string]any{
		"has": has, "inject": inject, "strip": stripped,
		"extract": oracleInner(text, skill.SlowStart, skill.SlowEnd),
		"replace": o.atEnd(stripped, skill.SlowStart+"\n"+oracleTrim(content)+"\n"+skill.SlowEnd),
	})
}

const oracleTitle = "Execution Notes Appendix"

func (o regionOracle) appendix(in map[string]any) map[string]any {
	text, notes := in["skill"].(string), textList(in["notes"])
	has := strings.Contains(text, skill.AppendixStart) && strings.Contains(text, skill.AppendixEnd)
	inject, stripped := text, o.strip(text, skill.AppendixStart, skill.AppendixEnd, true)
	if !has {
		inject = o.atEnd(text, appendixOf(nil))
	}
	extracted := o.notes(oracleInner(text, skill.AppendixStart, skill.AppendixEnd))
	keys := make([]string, 0)
	for _, n := range notes {
		keys = append(keys, o.key(n))
	}
	return recordedFields(map[string]any{
		"has": has, "inject": inject, "strip": stripped,
		"extract":   anyList(extracted),
		"append":    o.atEnd(stripped, appendixOf(o.dedupe(append(extracted, notes...)))),
		"dedupe":    anyList(o.dedupe(notes)),
		"canonical": anyList(keys),
	})
}

func appendixOf(notes []string) string {
	var b strings.Builder
	b.WriteString(skill.AppendixStart + "\n## " + oracleTitle + "\n")
	for _, n := range notes {
		b.WriteString("- " + n + "\n")
	}
	return b.String() + skill.AppendixEnd
}

func recordedFields(of map[string]any) map[string]any {
	for name := range of {
		of[name] = map[string]any{"ok": of[name]}
	}
	return of
}

var (
	oracleLines   = regexp.MustCompile(`[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}]`)
	oracleHeading = regexp.MustCompile(`^#{1,6}\s*(?i:` + oracleTitle + `)$`)
)

func (o regionOracle) notes(inner string) (notes []string) {
	for _, line := range oracleLines.Split(inner, -1) {
		line = oracleTrim(line)
		isTitle := oracleTrim(strings.TrimLeft(line, "#")) == oracleTitle
		if o.heading {
			isTitle = oracleHeading.MatchString(line)
		}
		if isTitle {
			continue
		}
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "*") {
			line = oracleTrim(line[1:])
		}
		if line != "" {
			notes = append(notes, line)
		}
	}
	return notes
}

func collapsed(s string) string { return strings.Join(strings.FieldsFunc(s, oracleSpaces), " ") }

func (o regionOracle) key(note string) string {
	punctuation := " .;:,_-"
	if o.marks {
		punctuation += "!?"
	}
	return cases.Fold().String(strings.TrimRight(collapsed(note), punctuation))
}

func (o regionOracle) dedupe(notes []string) (kept []string) {
	seen := map[string]bool{"": true}
	for _, n := range notes {
		if key := o.key(n); !seen[key] {
			seen[key] = true
			kept = append(kept, collapsed(n))
		}
	}
	return kept
}

// TestRegionOracle holds the plain model of the reference's rules against what was
// recorded.
func TestRegionOracle(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(regionOracle, map[string]any) map[string]any{
		"slow_region": regionOracle.slow, "appendix_region": regionOracle.appendix,
	} {
		for _, c := range load(t, name) {
			want := run(regionOracle{}, c.in)
			if ofSleep(c.in) {
				want = sleepSlow(c.in, true)
			}
			if diff := cmp.Diff(c.out, want); diff != "" {
				t.Errorf("%s line %d: %s", name, c.line, diff)
			}
		}
	}
}
