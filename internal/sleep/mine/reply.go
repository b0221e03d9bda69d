package mine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds on a proposal, apart from those of drafts.
const (
	maxProposals = 30 // of one reply
	maxAsked     = 10 // turns
	maxInput     = 16 << 10
	maxRubric    = 2 << 10
	maxQuote     = 2 << 10
)

// replySchema describes a reply for servers with structured output. Every property is required
// there: an empty one represents none.
func replySchema() *model.Schema {
	var types []string
	for _, t := range draft.CheckTypes() {
		types = append(types, strconv.Quote(t), strconv.Quote("not-"+t))
	}
	return &model.Schema{Name: "mined_tasks", JSON: json.RawMessage(`{"type":"object","properties":{"tasks":{"type":"array","items":{` +
		`"type":"object","properties":{"asked":{"type":"array","items":{"type":"integer"}},"corrected":{"type":["integer","null"]},"accepted":{"type":"integer"},` +
		`"prompt":{"type":"string"},"input":{"type":"string"},"gold":{"type":"array","items":{"type":"string"}},` +
		`"checks":{"type":"array","items":{"type":"object","properties":{` +
		`"type":{"type":"string","enum":[` + strings.Join(types, ",") + `]},"values":{"type":"array","items":{"type":"string"}},` +
		`"normalize":{"type":"string","enum":["","none","trim","casefold","text","number"]},` +
		`"abs":{"type":["number","null"]},"min":{"type":["integer","null"]},"max":{"type":["integer","null"]},"feedback":{"type":"string"}},` +
		`"required":["type","values","normalize","abs","min","max","feedback"],"additionalProperties":false}},` +
		`"rubric":{"type":"string"},"quote":{"type":"string"}},` +
		`"required":["asked","corrected","accepted","prompt","input","gold","checks","rubric","quote"],"additionalProperties":false}}},` +
		`"required":["tasks"],"additionalProperties":false}`)}
}

// proposal is a task as a reply has it: read, and not believed.
type proposal struct {
	asked     []int // turns, in order
	corrected int   // -1: none
	accepted  int
	prompt    string
	input     string
	gold      []string         // nil: none
	checks    []map[string]any // nil: none
	rubric    string
	quote     string

	why draft.Reason // why it is no task; err says more
	err error
}

// readReply reads what a call brought. The error says why the reply is of no use; what is wrong
// with a single task is noted in its proposal. Every text is cleaned first.
func readReply(text string, clean transcript.Cleaner) ([]proposal, error) {
	reply, err := objectWith(text, "tasks")
	if err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	list, ok := reply["tasks"].([]any)
	if !ok {
		return nil, errors.New(`mine: the field "tasks", a list, is missing`)
	}
	if len(list) > maxProposals {
		return nil, fmt.Errorf(`mine: the list "tasks" has %d entries, at most %d are read`, len(list), maxProposals)
	}
	out := make([]proposal, len(list))
	for i, v := range list {
		out[i].why, out[i].err = out[i].read(cleanValue(v, clean))
	}
	return out, nil
}

// maxStarts is how many places of a reply are tried as the beginning of its object.
const maxStarts = 64

// objectWith returns the one object of a reply that has a key: prose before and behind it may
// hold brackets and objects of other kinds.
func objectWith(text, key string) (map[string]any, error) {
	first, err := jsonx.UniqueObject(text)
	if err == nil && first[key] != nil {
		return first, nil
	}
	var found map[string]any
	tries := 0
	for from := 0; tries < maxStarts; tries++ {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			break
		}
		from += i
		end := findObjectEnd(text, from)
		if end < 0 {
			from++
			continue
		}
		object, err := jsonx.UniqueObject(text[from:end])
		if err != nil || object[key] == nil {
			from++
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("there are two objects with %q to choose from", key)
		}
		found, from = object, end
	}
	switch {
	case found != nil:
		return found, nil
	case err != nil:
		return nil, err
	}
	return first, nil
}

// findObjectEnd returns where the object ends that begins at from, -1 if it does not end.
func findObjectEnd(text string, from int) int {
	depth, inText := 0, false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// cleanValue takes secrets out of the texts of a value.
func cleanValue(v any, clean transcript.Cleaner) any {
	switch v := v.(type) {
	case string:
		return clean.Text(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = cleanValue(one, clean)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[clean.Text(key)] = cleanValue(one, clean)
		}
		return out
	}
	return v
}

func (p *proposal) read(v any) (draft.Reason, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return draft.NotWhole, errors.New("it is no object")
	}
	p.prompt = excerpt(asString(m["prompt"]), 200) // for what is reported of a task that falls
	if err := p.readTurns(m); err != nil {
		return draft.NotWhole, err
	}
	var err error
	if p.prompt, err = draft.ReadPrompt(m["prompt"]); err != nil {
		return draft.NotWhole, err
	}
	if p.gold, err = readGold(m["gold"]); err != nil {
		return draft.NotWhole, err
	}
	for _, text := range []struct {
		dst  *string
		name string
		most int
	}{{&p.input, "input", maxInput}, {&p.rubric, "rubric", maxRubric}, {&p.quote, "quote", maxQuote}} {
		s, _ := m[text.name].(string) // a number or null is none
		if *text.dst = strings.TrimSpace(wording.Plain(s)); len(*text.dst) > text.most {
			return draft.NotWhole, fmt.Errorf("its %s has %d bytes, at most %d are allowed", text.name, len(*text.dst), text.most)
		}
	}
	if p.checks, err = readChecks(m["checks"]); err != nil {
		return draft.BadChecks, err
	}
	return "", nil
}

func asString(v any) string {
	s, _ := v.(string)
	return s
}

func (p *proposal) readTurns(m map[string]any) error {
	list, ok := m["asked"].([]any)
	if !ok {
		list = []any{m["asked"]}
	}
	if len(list) > maxAsked {
		return fmt.Errorf("it was asked in %d turns, at most %d are read", len(list), maxAsked)
	}
	for _, v := range list {
		n, ok := whole(v)
		if !ok {
			return errors.New("it does not say in which turns it was asked")
		}
		if !slices.Contains(p.asked, n) {
			p.asked = append(p.asked, n)
		}
	}
	if len(p.asked) == 0 {
		return errors.New("it does not say in which turns it was asked")
	}
	slices.Sort(p.asked)
	p.corrected = -1
	if v := m["corrected"]; v != nil && v != "" {
		if p.corrected, ok = whole(v); !ok {
			return errors.New("it does not say which turn was corrected")
		}
	}
	if p.accepted, ok = whole(m["accepted"]); !ok {
		return errors.New("it does not say which turn was accepted")
	}
	return nil
}

// whole reads a number of a turn, also where it is written as text.
func whole(v any) (int, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	default:
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > 1<<30 {
		return 0, false
	}
	return int(n), true
}

// readGold reads expected answers, of which there may be none.
func readGold(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == nil || strings.TrimSpace(fmt.Sprint(v)) == "" })
	if len(list) == 0 {
		return nil, nil
	}
	return draft.ReadGold(list)
}

// readChecks reads checks as drafts do, of which there may be none. White space around a value
// means something in a pattern alone.
func readChecks(v any) ([]map[string]any, error) {
	if list, ok := v.([]any); v == nil || ok && len(list) == 0 {
		return nil, nil
	}
	checks, err := draft.ReadChecks(v)
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		if kind := strings.TrimPrefix(asString(c["type"]), "not-"); kind != "regex" {
			for _, key := range []string{"value", "values"} {
				if v, ok := c[key]; ok {
					c[key] = trimValue(v)
				}
			}
		}
	}
	return checks, nil
}

func trimValue(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = trimValue(one)
		}
		return out
	}
	return v
}
