package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields of an item on its way to becoming a Task. Reserved ones are taken out
// one by one; what is left is data.
type fields map[string]any

// decode reads one item as a task. The errors are joined in err; the task holds
// what could be read.
func decode(it Item, origin string) (Task, error) {
	t := Task{Origin: origin}
	m, ok := it.Value.(map[string]any)
	if !ok {
		return t, fmt.Errorf("a task must be an object with fields such as prompt and gold, found %s", kind(it.Value))
	}
	f := make(fields, len(m))
	for key, v := range m {
		if absent(v) && v != "" {
			v = nil
		}
		f[key] = v
	}
	evalErr := f.evalItem()
	derived := ""
	if id, ok := scalar(f["id"]); !ok || id == "" { // it costs more than all else
		derived = f.contentID()
	}
	err := errors.Join(
		it.unambiguous(),
		evalErr,
		f.text(&t.ID, "id"),
		f.text(&t.Type, "type", "task_type"),
		f.text(&t.Prompt, "prompt"),
		f.text(&t.Hidden, "hidden"),
		f.gold(&t),
		f.checks(&t.Checks),
		f.split(&t.Split),
		f.trigger(&t.Trigger),
		f.review(&t.Unreviewed),
	)
	for key, v := range f {
		if _, jsonErr := json.Marshal(v); jsonErr != nil {
			err = errors.Join(err, fmt.Errorf("field %q holds a number that JSON has not (infinity or NaN)", key))
			delete(f, key)
		}
	}
	if len(f) > 0 { // in a map of its own size: that of all fields would stay in memory
		t.Data = make(map[string]any, len(f))
		maps.Copy(t.Data, f)
	}
	if t.ID == "" {
		t.ID = it.Key
	}
	if t.ID == "" {
		t.ID = derived
	}
	return t, err
}

// unambiguous refuses an item with a key that occurs twice in one object: no one
// can know which of two answers is meant.
func (it Item) unambiguous() error {
	if it.repeated == "" {
		return nil
	}
	return fmt.Errorf("the key %q is there twice in one object: keep one", it.repeated)
}

// contentID names an item that has no id by a hash of its fields, so that it
// keeps its name when other items come and go.
func (f fields) contentID() string {
	content := make(fields, len(f))
	for key, v := range f {
		if key != "split" && key != "reviewed" {
			content[key] = v
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return "" // a number that JSON has not, deep inside: reported as such
	}
	sum := sha256.Sum256(text)
	return "t-" + hex.EncodeToString(sum[:6])
}

// take removes a field that may go by several names. Null, NaN (which pandas
// writes for missing cells) and empty text count as absent.
func (f fields) take(names ...string) (name string, value any, err error) {
	for _, n := range names {
		v, ok := f[n]
		delete(f, n)
		if !ok || absent(v) {
			continue
		}
		if name != "" && !sameJSON(v, value) {
			return name, value, fmt.Errorf("fields %q and %q mean the same but differ: keep one, or rename the other", name, n)
		}
		name, value = n, v
	}
	return name, value, nil
}

func absent(v any) bool {
	n, ok := v.(float64)
	return v == nil || v == "" || ok && math.IsNaN(n)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (f fields) text(to *string, names ...string) error {
	name, v, err := f.take(names...)
	if err != nil || name == "" {
		return err
	}
	s, ok := scalar(v)
	if !ok {
		return fmt.Errorf("field %q must be text, found %s", name, kind(v))
	}
	*to = s
	return nil
}

// scalar returns the text of a string, a number as it was written, or a bool.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// gold reads the accepted answers: one, or a list of them. An object is
// accepted as its compact JSON, for checks that compare JSON. Their form in the file is
// kept where the answers alone do not say it: long files have little room for both.
func (f fields) gold(t *Task) error {
	names := []string{"gold", "answer", "answers"}
	empty := slices.ContainsFunc(names, func(n string) bool { return f[n] == "" })
	name, v, err := f.take(names...)
	if err != nil {
		return err
	}
	if name == "" {
		if empty {
			t.RawGold = json.RawMessage(`""`)
		}
		return nil
	}
	if err := goldTexts(&t.Gold, name, v); err != nil {
		return err
	}
	if _, text := v.(string); text {
		return nil // most are, in long files
	}
	raw, err := compact(v)
	if err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	if raw != string(plainGold(t.Gold)) {
		t.RawGold = json.RawMessage(raw)
	}
	return nil
}

func goldTexts(to *[]string, name string, v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for i, one := range list {
		s, err := goldText(one)
		if err != nil {
			return fmt.Errorf("field %q, answer %d: %w", name, i+1, err)
		}
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	return nil
}

func goldText(v any) (string, error) {
	if s, ok := scalar(v); ok {
		return s, nil
	}
	if _, ok := v.(map[string]any); ok {
		return compact(v)
	}
	return "", fmt.Errorf("a string, number, bool or object expected, found %s", kind(v))
}

// plainGold returns the answers as they are in a file where nothing else is said of them.
func plainGold(gold []string) json.RawMessage {
	var v any // null
	switch len(gold) {
	case 0:
	case 1:
		v = gold[0]
	default:
		v = gold
	}
	text, err := compact(v)
	if err != nil {
		panic("task: encode texts: " + err.Error()) // text has no values that JSON has not
	}
	return json.RawMessage(text)
}

func compact(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("not a JSON value: %w", err)
	}
	return string(bytes.TrimSpace(buf.Bytes())), nil
}

// checks keeps the checks as JSON; what they mean is the Checker's business. A
// table's cell holds them as JSON text.
func (f fields) checks(to *json.RawMessage) error {
	name, v, err := f.take("checks")
	if err != nil || name == "" {
		return err
	}
	if list, ok := v.([]any); ok && len(list) == 0 {
		return nil
	}
	text, err := compact(v)
	if err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	*to = json.RawMessage(text)
	return nil
}

func (f fields) split(to *Split) error {
	var name string
	if err := f.text(&name, "split"); err != nil || name == "" {
		return err
	}
	s, err := ParseSplit(name)
	*to = s
	return err
}

// review reads whether somebody has looked at the task; absent means yes.
func (f fields) review(unreviewed *bool) error {
	name, v, err := f.take("reviewed")
	if err != nil || name == "" {
		return err
	}
	text, ok := scalar(v)
	if reviewed, err := strconv.ParseBool(strings.ToLower(text)); ok && err == nil {
		*unreviewed = !reviewed
		return nil
	}
	return fmt.Errorf("field %q must be true or false, found %s; rename it if it means something else", name, kind(v))
}

// kind names the type of a JSON value for messages.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "true or false"
	case json.Number, float64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}
