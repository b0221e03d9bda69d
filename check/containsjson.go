package check

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// maxJSONWork is how many bytes are read in one answer in search of JSON, where every
// brace may begin some: what lies behind is not found.
const maxJSONWork = 4 << 20

// buildContainsJSON compiles contains-json: an object or a list of JSON is somewhere
// in the answer, of the schema if there is one.
func buildContainsJSON(s *spec, n *node) {
	raw, given := s.get("schema")
	n.holds = "contains JSON"
	if !given {
		n.judge = func(answer string, _ []string) verdict {
			for range jsonValues(answer) {
				return verdict{score: 1, pass: true}
			}
			return verdict{reason: "contains no JSON object or list" + got(answer)}
		}
		return
	}
	schema, err := resolveSchema(raw)
	if err != nil {
		s.fail("schema", "%v", err)
		return
	}
	n.holds = "contains JSON of the schema"
	n.judge = func(answer string, _ []string) verdict {
		why := "contains no JSON object or list" + got(answer)
		for v := range jsonValues(answer) {
			err := schema.Validate(plainNumbers(v))
			if err == nil {
				return verdict{score: 1, pass: true}
			}
			why = fmt.Sprintf("no JSON in it fits the schema: %s", excerpt(oneLine(err.Error()), 400))
		}
		return verdict{reason: why}
	}
}

// maxFound is how many values are looked at in one answer.
const maxFound = 10_000

// jsonValues finds the objects and lists of JSON in a text, from the left. One that lies
// in another is a part of that.
func jsonValues(text string) iter.Seq[any] {
	return func(yield func(any) bool) {
		work, found := maxJSONWork, 0
		for at := 0; at < len(text) && work > 0; {
			next := strings.IndexAny(text[at:], "{[")
			if next < 0 {
				return
			}
			at += next
			end, looked := valueEnd(text[at:])
			work -= looked + 64 // so that the shortest ones are bounded too
			if end == 0 {
				at++
				continue
			}
			v, err := decodeJSON(text[at : at+end])
			if err != nil {
				at++
				continue
			}
			at += end
			if found++; !yield(v) || found == maxFound {
				return
			}
		}
	}
}

// valueEnd returns where a list or an object ends that a text begins with, 0 if it does not,
// and how much of the text was looked at. Brackets within quotes are none.
func valueEnd(text string) (end, looked int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > 1000 {
				return 0, i
			}
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, i
			}
		}
	}
	return 0, len(text)
}

// maxLoose is the longest object that looseObjects reads, in bytes.
const maxLoose = 100_000

// looseObjects finds what promptfoo takes for JSON objects: braces that are balanced, or
// that are never closed and closed here, whose content can be read as YAML with // before
// comments.
func looseObjects(text string) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		ends := braceEnds(text)
		work, found := maxJSONWork, 0
		for i := 0; i < len(text) && work > 0; i++ {
			if text[i] != '{' || i+1 == len(text) {
				continue
			}
			end := min(len(text), i+maxLoose)
			missing := 0
			if ends[i] > 0 && ends[i] <= end {
				end = ends[i]
			} else {
				missing = depthAt(text[i:end])
			}
			work -= 8 * (end - i + 64) // reading YAML takes longer
			object, ok := looseObject(text[i:end] + strings.Repeat("}", max(0, missing)))
			if !ok {
				continue
			}
			if found++; !yield(object) || found == maxFound {
				return
			}
			i = end - 1
		}
	}
}

// braceEnds returns for each brace where the one that closes it ends, 0 if none does.
func braceEnds(text string) map[int]int {
	ends := map[int]int{}
	var open []int
	for i := range len(text) {
		switch {
		case text[i] == '{':
			open = append(open, i)
		case text[i] == '}' && len(open) > 0:
			ends[open[len(open)-1]] = i + 1
			open = open[:len(open)-1]
		}
	}
	return ends
}

// depthAt returns how many braces are open at the end of a text.
func depthAt(text string) int { return strings.Count(text, "{") - strings.Count(text, "}") }

func looseObject(text string) (map[string]any, bool) {
	if v, err := decodeJSON(text); err == nil {
		object, ok := v.(map[string]any)
		return object, ok
	}
	var v any
	if _, err := yamlx.Decode([]byte(slashComments(text)), &v); err != nil {
		return nil, false
	}
	object, ok := textKeys(v).(map[string]any)
	return object, ok
}

// textKeys makes every key of a mapping text, as JavaScript does.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = textKeys(v[key])
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			name, ok := jsText(key)
			if !ok {
				name = fmt.Sprint(key)
			}
			out[name] = textKeys(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	}
	return v
}

// slashComments writes the comments of JavaScript as those of YAML: // outside of quotes,
// and not that of an address.
func slashComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if at := commentIn(line); at >= 0 {
			lines[i] = line[:at] + "#" + strings.TrimLeft(line[at:], "/")
		}
	}
	return strings.Join(lines, "\n")
}

// commentIn returns where // begins a comment, -1 if nowhere.
func commentIn(line string) int {
	quoted := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted != 0:
			if c == quoted && (i == 0 || line[i-1] != '\\') {
				quoted = 0
			}
		case c == '"', c == '\'' && (i == 0 || !isASCIILetter(line[i-1])):
			quoted = c
		case c == '/' && i+1 < len(line) && line[i+1] == '/':
			word := line[strings.LastIndexAny(line[:i], " \t")+1 : i+2]
			if !strings.Contains(word, "://") {
				return i
			}
			i++
		}
	}
	return -1
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// buildLevenshtein compiles levenshtein: the answer is at most max edits from a value,
// or at least a share of ratio is the same. The score is the share that is the same.
func buildLevenshtein(s *spec, n *node) {
	form := findNormalizer(s.choice("normalize", slices.DeleteFunc(normalizers("trim"), func(name string) bool { return name == "number" })...))
	most := s.count("max")
	ratio := s.number("ratio", -1, 0, 1)
	if (most >= 0) == (ratio >= 0) {
		s.fail("max", "either max, how many edits are allowed, or ratio, which share of the longer text is to be the same, is needed")
	}
	fixed := s.operands(true)
	for _, text := range fixed {
		if len(text) > maxCompared {
			s.fail("value", "is longer than %d bytes, which is the most that is compared", maxCompared)
		}
	}
	n.gold = fixed == nil
	set := newOperandSet(fixed, form)
	limit := fmt.Sprintf("%d edits at most", most)
	if ratio >= 0 {
		limit = fmt.Sprintf("a share of %v", ratio)
	}
	n.holds = "is as near as " + limit + " to " + set.describe()
	n.judge = func(answer string, gold []string) verdict {
		texts, forms := set.of(gold)
		best := verdict{score: -1, reason: "there is nothing to compare with"}
		body := []rune(form(answer))
		for i := range forms {
			if v := nearness(body, []rune(forms[i]), most, ratio); v.score > best.score || v.pass && !best.pass {
				if !v.pass {
					v.reason = fmt.Sprintf("%s to %s, %s is needed%s", v.reason, quote(texts[i]), limit, got(answer))
				}
				best = v
			}
		}
		best.score = max(0, best.score)
		return best
	}
}

// maxCompared is how long texts are that are compared character by character, in bytes.
const maxCompared = 20_000

// nearness holds two texts against each other.
func nearness(a, b []rune, most int, ratio float64) verdict {
	longer := max(len(a), len(b))
	if longer == 0 {
		return verdict{score: 1, pass: true}
	}
	if len(a) > 2*maxCompared {
		return verdict{reason: "is far too long to be near"}
	}
	d, _ := editDistance(a, b, longer)
	share := 1 - float64(d)/float64(longer)
	if most >= 0 && d <= most || most < 0 && share >= ratio {
		return verdict{score: share, pass: true}
	}
	return verdict{score: share, reason: fmt.Sprintf("is %d edits away, a share of %.2f, from what is nearest", d, share)}
}

// editDistance returns how many characters have to be put in, taken out or changed to make
// one text of the other, if the limit does not rule it out by their lengths.
func editDistance(a, b []rune, limit int) (edits int, within bool) {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1, false
	}
	edits = similar.Levenshtein(a, b)
	return edits, edits <= limit
}
