package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// maxYAML bounds the size of a YAML file.
const maxYAML = 16 << 20

// maxNodes bounds the values of a YAML file.
const maxNodes = 4 << 20

// eachYAML reads a list of items, or an object with a list named tasks, and calls
// take with the items in their order. The library keeps a hundred bytes for each of
// the file. So a list that is written as lists are, an entry from a dash to the next,
// is given to it in chunks; any other text only within the bounds of yamlx.
func eachYAML(ctx context.Context, data []byte, take func(Item)) error {
	if len(data) > maxYAML {
		return fmt.Errorf("the file has %d bytes; YAML is read up to %d, larger sets belong in JSONL", len(data), maxYAML)
	}
	r := &yamlReader{anchors: map[string]any{}}
	chunks := listChunks(data)
	if len(chunks) < 2 {
		return r.chunk(yamlChunk{text: data}, take)
	}
	for _, chunk := range chunks {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.chunk(chunk, take); err != nil {
			return err
		}
	}
	return nil
}

// chunk reads a text that follows others in its file.
func (r *yamlReader) chunk(p yamlChunk, take func(Item)) error {
	file, err := yamlx.Parse(p.text)
	var ye *yamlx.Error
	if errors.As(err, &ye) {
		return &syntaxError{Line: max(1, ye.Line) + p.before, Msg: ye.Msg}
	}
	if err != nil {
		return err
	}
	for doc := range file.Documents() {
		if doc.Kind() == yamlx.None {
			continue
		}
		list, err := r.document(doc)
		var se *syntaxError
		if errors.As(err, &se) {
			se.Line += p.before
		}
		if err != nil {
			return err
		}
		for _, it := range list {
			it.Line += p.before
			take(it)
		}
	}
	return nil
}

// yamlReader turns nodes into the values that JSON would give, with numbers as
// they are written: a gold of 1.50 is not 1.5.
type yamlReader struct {
	anchors map[string]any
	nodes   int
	aliased int // values that aliases represent
	depth   int
}

func (r *yamlReader) document(body yamlx.Node) ([]Item, error) {
	switch body.Kind() {
	case yamlx.List:
		return r.elements(body)
	case yamlx.Mapping:
		for key, value := range body.Pairs() {
			if value.Kind() == yamlx.List && keyText(key) == "tasks" {
				return r.elements(value)
			}
		}
	case yamlx.Null:
		return nil, nil
	}
	v, err := r.value(body)
	return []Item{{Value: v, Line: nodeLine(body)}}, err
}

func (r *yamlReader) elements(seq yamlx.Node) ([]Item, error) {
	list := make([]Item, 0, seq.Len())
	for _, n := range seq.Items() {
		v, err := r.value(n)
		if err != nil {
			return nil, err
		}
		list = append(list, Item{Value: v, Line: nodeLine(n)})
	}
	return list, nil
}

// nodeLine returns the line of the first thing in a node.
func nodeLine(n yamlx.Node) int { return n.Start().Line() }

func keyText(n yamlx.Node) string {
	if n.Kind() == yamlx.String {
		return n.Text()
	}
	return n.TokenText()
}

func (r *yamlReader) fail(n yamlx.Node, format string, args ...any) error {
	return &syntaxError{Line: nodeLine(n), Msg: fmt.Sprintf(format, args...)}
}

func (r *yamlReader) value(n yamlx.Node) (any, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fail(n, "the file has more than %d values, with those of its aliases", maxNodes)
	}
	if r.depth++; r.depth > maxDepth {
		return nil, r.fail(n, "nested deeper than %d levels", maxDepth)
	}
	defer func() { r.depth-- }()
	switch n.Kind() {
	case yamlx.Null, yamlx.Bool, yamlx.String, yamlx.Literal, yamlx.NaN, yamlx.Infinity:
		return n.Value(), nil
	case yamlx.Integer, yamlx.Float:
		return toNumber(n), nil
	case yamlx.Tagged:
		return r.readTagged(n)
	case yamlx.List:
		return r.sequence(n)
	case yamlx.Mapping:
		m := make(map[string]any, n.Len())
		return m, r.pairs(m, n)
	case yamlx.Anchored:
		v, err := r.value(n.Inner())
		r.anchors[n.Name()] = v
		return v, err
	case yamlx.Alias:
		return r.alias(n)
	}
	return nil, r.fail(n, "%s is not supported in a task file; plain values, lists and objects are", n.Kind())
}

// readTagged honours !!str, which keeps a number or a word such as true as text.
func (r *yamlReader) readTagged(n yamlx.Node) (any, error) {
	if inner := n.Inner(); inner.Scalar() && n.TokenText() == "!!str" {
		return inner.TokenText(), nil
	}
	return r.value(n.Inner())
}

// toNumber returns a number as it is written, or in digits if JSON knows no such form: hexadecimal,
// octal, with underscores.
func toNumber(n yamlx.Node) any {
	if text := n.TokenText(); validNumber([]byte(text)) {
		return json.Number(text)
	}
	if f, ok := n.Value().(float64); ok {
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Number(fmt.Sprint(n.Value()))
}

func (r *yamlReader) sequence(n yamlx.Node) (any, error) {
	list := make([]any, 0, n.Len())
	for _, e := range n.Items() {
		v, err := r.value(e)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *yamlReader) pairs(m map[string]any, n yamlx.Node) error {
	own := map[string]bool{}
	for k, value := range n.Pairs() {
		v, err := r.value(value)
		if err != nil {
			return err
		}
		if k.Merges() {
			if err := r.merge(m, own, k, v); err != nil {
				return err
			}
			continue
		}
		key := keyText(k)
		if own[key] {
			return r.fail(k, "key %q is given twice", key)
		}
		own[key] = true
		m[key] = v
	}
	return nil
}

// merge adds the pairs of a merge key (<<), which never override the mapping's
// own.
func (r *yamlReader) merge(m map[string]any, own map[string]bool, at yamlx.Node, v any) error {
	maps, ok := v.([]any)
	if !ok {
		maps = []any{v}
	}
	for _, one := range maps {
		from, ok := one.(map[string]any)
		if !ok {
			return r.fail(at, "<< must name an object, found %s", kind(one))
		}
		for key, v := range from {
			if _, set := m[key]; !set && !own[key] {
				m[key] = v
			}
		}
	}
	return nil
}

// alias returns the value of an anchor, and counts it as if it were written
// out, as it will be in the end.
func (r *yamlReader) alias(n yamlx.Node) (any, error) {
	name := n.Name()
	v, ok := r.anchors[name]
	if !ok {
		return nil, r.fail(n, "alias *%s names no anchor before it", name)
	}
	r.aliased += size(v, yamlx.MaxValues-r.aliased+1)
	if r.aliased > yamlx.MaxValues {
		return nil, r.fail(n, "the aliases of the file have more than %d values", yamlx.MaxValues)
	}
	return v, nil
}

// size counts the values in v, and stops at limit.
func size(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if n >= limit {
				break
			}
			n += size(e, limit-n)
		}
	case map[string]any:
		for _, e := range v {
			if n >= limit {
				break
			}
			n += size(e, limit-n)
		}
	}
	return n
}
