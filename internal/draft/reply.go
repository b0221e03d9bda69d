package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds on a drafted task. One beyond them is not taken.
const (
	maxPrompt   = 20 << 10 // bytes
	maxGold     = 10       // answers
	maxGoldSize = 4 << 10  // bytes of one
	maxChecks   = 8
	maxSpec     = 4 << 10 // bytes of one check, as JSON
)

// CheckTypes returns the checks that a drafted task may have, each also with not-: those that look
// at the answer alone. Checks that run a program, look at files or ask a judge are not for a model
// to give out.
func CheckTypes() []string {
	return []string{
		"equals", "one-of", "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any",
		"starts-with", "istarts-with", "regex", "number", "f1", "json-equals", "is-json", "word-count", "char-count",
	}
}

// replySchema describes a reply for servers with structured output. Every
// property is required there: an empty one represents none.
func replySchema() *model.Schema {
	var types []string
	for _, t := range CheckTypes() {
		types = append(types, strconv.Quote(t), strconv.Quote("not-"+t))
	}
	return &model.Schema{Name: "drafted_tasks", JSON: json.RawMessage(`{"type":"object","properties":{"tasks":{"type":"array","items":{` +
		`"type":"object","properties":{"line":{"type":"integer"},"prompt":{"type":"string"},"gold":{"type":"array","items":{"type":"string"}},` +
		`"checks":{"type":"array","items":{"type":"object","properties":{` +
		`"type":{"type":"string","enum":[` + strings.Join(types, ",") + `]},"values":{"type":"array","items":{"type":"string"}},` +
		`"normalize":{"type":"string","enum":["","none","trim","casefold","text","number"]},` +
		`"abs":{"type":["number","null"]},"min":{"type":["integer","null"]},"max":{"type":["integer","null"]},"feedback":{"type":"string"}},` +
		`"required":["type","values","normalize","abs","min","max","feedback"],"additionalProperties":false}}},` +
		`"required":["line","prompt","gold","checks"],"additionalProperties":false}}},` +
		`"required":["tasks"],"additionalProperties":false}`)}
}

// candidate is a task on its way.
type candidate struct {
	id     string // place in the draft: "r1/c3/t2"
	part   int
	line   int // of its part's file, 1-based; it is there
	prompt string
	gold   []string
	checks []map[string]any
	doubts []string
}

// proposal is a task as a reply has it: read, and not yet believed.
type proposal struct {
	candidate
	err error // why it is no task
}

// readReply reads what a call brought. The error says why the reply is of no
// use; what is wrong with a single task is in its proposal.
func readReply(text string) ([]proposal, error) {
	reply, err := jsonx.UniqueObject(text)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	list, ok := reply["tasks"].([]any)
	if !ok {
		return nil, errors.New(`draft: the field "tasks", a list, is missing`)
	}
	if len(list) == 0 {
		return nil, errors.New(`draft: the list "tasks" is empty`)
	}
	out := make([]proposal, len(list))
	for i, v := range list {
		out[i].err = out[i].read(v)
	}
	return out, nil
}

func (c *candidate) read(v any) (err error) {
	m, ok := v.(map[string]any)
	if !ok {
		return errors.New("it is no object")
	}
	if c.prompt, err = ReadPrompt(m["prompt"]); err != nil {
		return err
	}
	if c.line, ok = whole(m["line"]); !ok {
		return errors.New("it names no line of the skill")
	}
	if c.gold, err = ReadGold(m["gold"]); err != nil {
		return err
	}
	c.checks, err = ReadChecks(m["checks"])
	return err
}

// ReadPrompt reads the prompt of a task as a reply has it, without characters that steer or
// hide. The error says why it is none.
func ReadPrompt(v any) (string, error) {
	raw := scalarText(v)
	prompt := strings.TrimSpace(wording.Plain(raw))
	switch {
	case prompt == "":
		return "", errors.New("it has no prompt")
	case len(prompt) > maxPrompt:
		return "", fmt.Errorf("its prompt has %d bytes, at most %d are allowed", len(prompt), maxPrompt)
	case strings.ContainsRune(raw, 0):
		return "", errors.New("its prompt holds a zero byte")
	}
	return prompt, nil
}

// scalarText returns text, or a number or bool as it was written; "" for all else.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func whole(v any) (int, bool) {
	n, err := strconv.ParseFloat(scalarText(v), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<30 {
		return 0, false
	}
	return int(n), true
}

// ReadGold reads the expected answers of a task as a reply has them, one or a list. The error says
// why there are none.
func ReadGold(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var gold []string
	for _, one := range list {
		raw := scalarText(one)
		if strings.ContainsRune(raw, 0) {
			return nil, errors.New("an expected answer holds a zero byte")
		}
		text := strings.TrimSpace(wording.Plain(raw))
		if text != "" && !slices.Contains(gold, text) {
			gold = append(gold, text)
		}
	}
	switch {
	case len(gold) == 0:
		return nil, errors.New("it has no expected answer")
	case len(gold) > maxGold:
		return nil, fmt.Errorf("it has %d expected answers, at most %d are allowed", len(gold), maxGold)
	}
	for _, g := range gold {
		if len(g) > maxGoldSize {
			return nil, fmt.Errorf("an expected answer is longer than %d bytes", maxGoldSize)
		}
	}
	return gold, nil
}

// ReadChecks reads checks in the form of the schema, or in that of a task file.
// Without any an answer has to equal the gold but for its case.
func ReadChecks(v any) ([]map[string]any, error) {
	list, ok := v.([]any)
	if v != nil && !ok {
		return nil, errors.New("its checks are no list")
	}
	if len(list) > maxChecks {
		return nil, fmt.Errorf("it has %d checks, at most %d are allowed", len(list), maxChecks)
	}
	var checks []map[string]any
	for _, one := range list {
		c, err := readCheck(one)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	if len(checks) == 0 {
		checks = []map[string]any{{"type": "equals", "normalize": "casefold"}}
	}
	return checks, nil
}

func readCheck(v any) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a check of it is no object")
	}
	kind := strings.ReplaceAll(strings.ToLower(scalarText(m["type"])), "_", "-")
	if !slices.Contains(CheckTypes(), strings.TrimPrefix(kind, "not-")) {
		return nil, fmt.Errorf("a drafted task may not have the check %q", scalarText(m["type"]))
	}
	c := map[string]any{"type": kind}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "type" || isNone(m[key]) {
			continue
		}
		c[key] = plainValue(m[key])
	}
	tidy(kind, c)
	text, err := encode(c)
	if err != nil {
		return nil, fmt.Errorf("a check of it: %w", err)
	}
	if len(text) > maxSpec {
		return nil, fmt.Errorf("a check of it has %d bytes, at most %d are allowed", len(text), maxSpec)
	}
	return c, nil
}

// plainValue returns a value of a check without characters that steer or hide: a reviewer has to
// see what the check looks for.
func plainValue(v any) any {
	switch v := v.(type) {
	case string:
		return wording.Plain(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = plainValue(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[key] = plainValue(one)
		}
		return out
	}
	return v
}

// isNone reports whether a value represents a key left out.
func isNone(v any) bool {
	list, ok := v.([]any)
	return v == nil || v == "" || ok && len(list) == 0
}

// tidy takes out keys that the check has no use for: a model that has to fill in
// every key of the schema puts something into them. What is left is for the
// check's own reader to refuse.
func tidy(kind string, c map[string]any) {
	kind = strings.TrimPrefix(kind, "not-")
	if !slices.Contains([]string{"equals", "one-of", "f1"}, kind) {
		delete(c, "normalize")
	}
	if kind != "number" {
		delete(c, "abs")
	}
	counts := kind == "word-count" || kind == "char-count"
	if !counts {
		delete(c, "min")
		delete(c, "max")
	}
	if counts || kind == "is-json" || kind == "json-equals" { // JSON is compared with the gold
		delete(c, "values")
	}
	// One value reads better as one, and some checks take one only.
	if list, ok := c["values"].([]any); ok && len(list) == 1 {
		c["value"] = list[0]
		delete(c, "values")
	}
}

// encode writes compact JSON and leaves signs such as < in a text as they are.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}
