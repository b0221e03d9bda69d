package yamlx

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Set returns a text in which keys of mappings, from the outermost, lead to a value. nil takes the last key out, and
// mappings that are empty without it. All else stays as it is written, comments too. The error is an *Error: no YAML, or
// a place that is written in a form which cannot be changed this way, such as an alias.
func Set(text []byte, keys []string, value any) (out []byte, err error) {
	defer func() { // of places that the library gives wrongly
		if recover() != nil {
			out, err = nil, errForm(Node{})
		}
	}()
	var want map[string]any
	file, err := Decode(text, &want)
	if err != nil {
		return nil, err
	}
	if want == nil {
		want = map[string]any{}
	}
	value = wholeNumbers(value)
	if value == nil {
		keys = withParents(want, keys)
	}
	put(want, keys, value)
	plain := strings.ReplaceAll(string(text), "\r\n", "\n")
	e := editor{text: plain, tokens: lexer.Tokenize(plain)}
	changed, err := e.set(file.root(), keys, value)
	if err == nil {
		err = verify(changed, want)
	}
	if err != nil {
		return nil, err
	}
	if plain != string(text) {
		changed = strings.ReplaceAll(changed, "\n", "\r\n")
	}
	return []byte(changed), nil
}

// errForm returns the error for a place that has to be changed by hand.
func errForm(at Node) error {
	return &Error{Line: at.Line(), Msg: "this place is written in a form that can be changed in the text alone"}
}

// verify fails for a text that does not represent a tree: some forms of YAML are not known here.
func verify(text string, want map[string]any) error {
	got := map[string]any{}
	if _, err := Decode([]byte(text), &got); err != nil {
		return errForm(Node{})
	}
	a, errA := json.Marshal(want)
	b, errB := json.Marshal(got)
	if errA != nil || errB != nil || string(a) != string(b) && len(want)+len(got) > 0 {
		return errForm(Node{})
	}
	return nil
}

// wholeNumbers returns a value of JSON in which whole numbers are written as such.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = wholeNumbers(v[k])
		}
	}
	return v
}

// withParents returns the keys of what is taken out together with the last one, since it would be empty.
func withParents(tree map[string]any, keys []string) []string {
	least := 1
	for i, key := range keys[:len(keys)-1] {
		next, ok := tree[key].(map[string]any)
		if !ok {
			break
		}
		if tree = next; len(tree) > 1 {
			least = i + 2
		}
	}
	if _, there := tree[keys[len(keys)-1]]; !there {
		return keys
	}
	return keys[:least]
}

// put sets a value of a tree; nil takes it out.
func put(tree map[string]any, keys []string, value any) {
	for _, key := range keys[:len(keys)-1] {
		next, ok := tree[key].(map[string]any)
		if !ok {
			if value == nil {
				return
			}
			next = map[string]any{}
			tree[key] = next
		}
		tree = next
	}
	last := keys[len(keys)-1]
	if tree[last] = value; value == nil {
		delete(tree, last)
	}
}

// root returns the value of the first document that has one.
func (f File) root() Node {
	for n := range f.Documents() {
		if n.Kind() != None && n.Kind() != Comments {
			return n
		}
	}
	return Node{}
}

// editor changes one place of a text.
type editor struct {
	text   string
	tokens token.Tokens
}

// set changes the mapping m, or a text without a value.
func (e editor) set(m Node, keys []string, value any) (string, error) {
	if kind := m.Kind(); kind == None || kind == Null {
		return e.insert(len(e.lines()), 0, keys, value)
	} else if kind != Mapping || m.isFlow() {
		return "", errForm(m)
	}
	var key, at Node
	for k, v := range m.Pairs() {
		if k.TokenText() == keys[0] {
			key, at = k, v
		}
	}
	first := key.Line() - 1
	switch deeper := len(keys) > 1 && at.Kind() == Mapping; {
	case deeper && at.isFlow():
		return e.flow(key, at, keys, value)
	case deeper:
		return e.set(at, keys[1:], value)
	case len(keys) > 1 && key.n != nil && at.Kind() != Null:
		return "", errForm(at)
	case key.n != nil && value == nil:
		return e.replace(first, e.end(first, key.Column(), at), ""), nil
	case key.n != nil:
		pair, err := pairText(keys, value, key.Column()-1)
		return e.replace(first, e.end(first, key.Column(), at), pair), err
	}
	last, behind := m.lastPair()
	return e.insert(e.end(last.Line()-1, last.Column(), behind), last.Column()-1, keys, value)
}

// isFlow reports whether a mapping is between braces.
func (n Node) isFlow() bool {
	m, ok := n.n.(*ast.MappingNode)
	return ok && m.IsFlowStyle
}

// flow writes a mapping between braces again, with another value.
func (e editor) flow(key, at Node, keys []string, value any) (string, error) {
	first := key.Line() - 1
	end := e.end(first, key.Column(), at)
	if slices.ContainsFunc(e.tokens, func(t *token.Token) bool {
		return t.Type == token.CommentType && t.Position.Line > first+1 && t.Position.Line <= end
	}) {
		return "", errForm(at) // it would be lost
	}
	var old Ordered
	line := []rune(e.lines()[first])
	if err := yaml.NodeToValue(at.n, &old, yaml.UseOrderedMap()); err != nil || at.Line() != key.Line() || at.Column() > len(line) {
		return "", errForm(at)
	}
	text, err := flowText(setIn(old, keys[1:], value))
	return e.replace(first, end, string(line[:at.Column()-1])+text+"\n"), err
}

// setIn returns a mapping in which keys lead to a value; nil takes the last key out.
func setIn(m Ordered, keys []string, value any) Ordered {
	i := slices.IndexFunc(m, func(e Entry) bool { return e.Key == keys[0] })
	if i < 0 {
		m = append(m, Entry{Key: keys[0]})
		i = len(m) - 1
	}
	switch inner, _ := m[i].Value.(Ordered); {
	case len(keys) > 1:
		m[i].Value = setIn(inner, keys[1:], value)
	case value == nil:
		return slices.Delete(m, i, i+1)
	default:
		m[i].Value = value
	}
	return m
}

// lastPair returns the last key of a mapping, and its value.
func (m Node) lastPair() (key, value Node) {
	for k, v := range m.Pairs() {
		key, value = k, v
	}
	return key, value
}

func (e editor) lines() []string { return strings.SplitAfter(e.text, "\n") }

// end returns the line behind a pair of a mapping in block style: its key is in the line first, from column on. Blank
// lines, and comments that are no part of a value, are left to what follows.
func (e editor) end(first, column int, value Node) int {
	lines, end := e.lines(), first+1
	for i := first + 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
		item := value.Kind() == List && indent == column-1 && (text == "-" || strings.HasPrefix(text, "- "))
		switch {
		case text == "", strings.HasPrefix(text, "#") && value.Kind() != Literal:
			continue
		case indent < column && !item:
			return end
		}
		end = i + 1
	}
	return end
}

// replace writes a pair in the lines from first to end, "" none.
func (e editor) replace(first, end int, pair string) string {
	lines := e.lines()
	if head, rest, ok := strings.Cut(pair, "\n"); ok {
		pair = head + e.comment(first+1) + "\n" + rest
	}
	if end == len(lines) && !strings.HasSuffix(e.text, "\n") {
		pair = strings.TrimSuffix(pair, "\n")
	}
	return strings.Join(lines[:first], "") + pair + strings.Join(lines[end:], "")
}

// comment returns the comment at the end of a line, with the blanks before it.
func (e editor) comment(line int) string {
	for _, tok := range e.tokens {
		if tok.Type != token.CommentType || tok.Position.Line != line {
			continue
		}
		text := strings.TrimRight(e.lines()[line-1], "\r\n")
		if before, ok := strings.CutSuffix(text, "#"+strings.TrimRight(tok.Value, "\r\n")); ok {
			return text[len(strings.TrimRight(before, " \t")):]
		}
	}
	return ""
}

// insert writes a pair before a line.
func (e editor) insert(line, indent int, keys []string, value any) (string, error) {
	if value == nil {
		return e.text, nil
	}
	pair, err := pairText(keys, value, indent)
	if err != nil {
		return "", err
	}
	lines := e.lines()
	before := strings.Join(lines[:line], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + pair + strings.Join(lines[line:], ""), nil
}

// nest returns a mapping in which keys lead to a value.
func nest(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		value = Ordered{{Key: key, Value: value}}
	}
	return value
}

// pairText returns a pair in block style.
func pairText(keys []string, value any, indent int) (string, error) {
	text, err := Encode(nest(keys, value))
	if err != nil {
		return "", fmt.Errorf("write %s: %w", strings.Join(keys, "."), err)
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(string(text), "\n") {
		if strings.TrimSpace(line) == "" {
			line = strings.TrimLeft(line, " ")
		} else {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// flowText returns a value in one line.
func flowText(value any) (string, error) {
	text, err := yaml.MarshalWithOptions(value, yaml.Flow(true), floats())
	if err == nil && strings.Contains(strings.TrimSpace(string(text)), "\n") {
		text, err = yaml.MarshalWithOptions(value, yaml.JSON(), floats())
	}
	if err != nil {
		return "", fmt.Errorf("write a value: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
