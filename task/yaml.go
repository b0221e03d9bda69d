package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// maxYAML bounds the size of a YAML file.
const maxYAML = 16 << 20

// maxNodes bounds the values of a YAML file.
const maxNodes = 4 << 20

// eachYAML reads a list of items, or an object with a list named tasks, and calls
// take with the items in their order. The library keeps a hundred bytes for each of
// the file. So a list that is written as lists are, an entry from a dash to the next,
// is given to it in parts; any other text only within the bounds of yamlx.
func eachYAML(ctx context.Context, data []byte, take func(Item)) error {
	if len(data) > maxYAML {
		return fmt.Errorf("the file has %d bytes; YAML is read up to %d, larger sets belong in JSONL", len(data), maxYAML)
	}
	r := &yamlReader{anchors: map[string]any{}}
	parts := listParts(data)
	if len(parts) < 2 {
		return r.part(yamlPart{text: data}, take)
	}
	for _, part := range parts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.part(part, take); err != nil {
			return err
		}
	}
	return nil
}

// part reads a text that stands behind others in its file.
func (r *yamlReader) part(p yamlPart, take func(Item)) error {
	file, err := yamlx.Parse(p.text)
	var ye *yamlx.Error
	if errors.As(err, &ye) {
		return &syntaxError{Line: max(1, ye.Line) + p.before, Msg: ye.Msg}
	}
	if err != nil {
		return err
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		list, err := r.document(doc.Body)
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
	aliased int // values that aliases stand for
	depth   int
}

func (r *yamlReader) document(body ast.Node) ([]Item, error) {
	switch n := body.(type) {
	case *ast.SequenceNode:
		return r.elements(n)
	case *ast.MappingNode:
		for _, pair := range n.Values {
			seq, ok := pair.Value.(*ast.SequenceNode)
			if ok && keyText(pair.Key) == "tasks" {
				return r.elements(seq)
			}
		}
	case *ast.NullNode:
		return nil, nil
	}
	v, err := r.value(body)
	return []Item{{Value: v, Line: lineOf(body)}}, err
}

func (r *yamlReader) elements(seq *ast.SequenceNode) ([]Item, error) {
	list := make([]Item, 0, len(seq.Values))
	for _, n := range seq.Values {
		v, err := r.value(n)
		if err != nil {
			return nil, err
		}
		list = append(list, Item{Value: v, Line: lineOf(n)})
	}
	return list, nil
}

// lineOf returns the line of the first thing in a node: a mapping's own token
// is the colon of its first pair.
func lineOf(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return lineOf(m.Values[0].Key)
	}
	return n.GetToken().Position.Line
}

func keyText(n ast.MapKeyNode) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return n.GetToken().Value
}

func (r *yamlReader) fail(n ast.Node, format string, args ...any) error {
	return &syntaxError{Line: lineOf(n), Msg: fmt.Sprintf(format, args...)}
}

func (r *yamlReader) value(n ast.Node) (any, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fail(n, "the file has, or its aliases stand for, more than %d values", maxNodes)
	}
	if r.depth++; r.depth > maxDepth {
		return nil, r.fail(n, "nested deeper than %d levels", maxDepth)
	}
	defer func() { r.depth-- }()
	switch n := n.(type) {
	case *ast.NullNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode:
		return integer(n), nil
	case *ast.FloatNode:
		return float(n), nil
	case *ast.NanNode:
		return math.NaN(), nil
	case *ast.InfinityNode:
		return n.Value, nil
	case *ast.TagNode:
		return r.tagged(n)
	case *ast.SequenceNode:
		return r.sequence(n)
	case *ast.MappingNode:
		m := make(map[string]any, len(n.Values))
		return m, r.pairs(m, n.Values)
	case *ast.MappingValueNode:
		m := make(map[string]any, 1)
		return m, r.pairs(m, []*ast.MappingValueNode{n})
	case *ast.AnchorNode:
		v, err := r.value(n.Value)
		r.anchors[n.Name.GetToken().Value] = v
		return v, err
	case *ast.AliasNode:
		return r.alias(n)
	}
	return nil, r.fail(n, "%s is not supported in a task file; plain values, lists and objects are", n.Type())
}

// tagged honours !!str, which keeps a number or a word such as true as text.
func (r *yamlReader) tagged(n *ast.TagNode) (any, error) {
	if _, isScalar := n.Value.(ast.ScalarNode); isScalar && n.Start.Value == "!!str" {
		return n.Value.GetToken().Value, nil
	}
	return r.value(n.Value)
}

func integer(n *ast.IntegerNode) any {
	if text := n.GetToken().Value; validNumber([]byte(text)) {
		return json.Number(text)
	}
	return json.Number(fmt.Sprint(n.Value)) // hexadecimal, octal, with underscores
}

func float(n *ast.FloatNode) any {
	if text := n.GetToken().Value; validNumber([]byte(text)) {
		return json.Number(text)
	}
	return json.Number(strconv.FormatFloat(n.Value, 'g', -1, 64))
}

func (r *yamlReader) sequence(n *ast.SequenceNode) (any, error) {
	list := make([]any, 0, len(n.Values))
	for _, e := range n.Values {
		v, err := r.value(e)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *yamlReader) pairs(m map[string]any, pairs []*ast.MappingValueNode) error {
	own := map[string]bool{}
	for _, pair := range pairs {
		v, err := r.value(pair.Value)
		if err != nil {
			return err
		}
		if pair.Key.IsMergeKey() {
			if err := r.merge(m, own, pair, v); err != nil {
				return err
			}
			continue
		}
		key := keyText(pair.Key)
		if own[key] {
			return r.fail(pair.Key, "key %q is given twice", key)
		}
		own[key] = true
		m[key] = v
	}
	return nil
}

// merge adds the pairs of a merge key (<<), which never override the mapping's
// own.
func (r *yamlReader) merge(m map[string]any, own map[string]bool, pair *ast.MappingValueNode, v any) error {
	maps, ok := v.([]any)
	if !ok {
		maps = []any{v}
	}
	for _, one := range maps {
		from, ok := one.(map[string]any)
		if !ok {
			return r.fail(pair.Key, "<< must name an object, found %s", kind(one))
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
// out: that is what becomes of it in the end.
func (r *yamlReader) alias(n *ast.AliasNode) (any, error) {
	name := n.Value.GetToken().Value
	v, ok := r.anchors[name]
	if !ok {
		return nil, r.fail(n, "alias *%s names no anchor before it", name)
	}
	r.aliased += size(v, yamlx.MaxValues-r.aliased+1)
	if r.aliased > yamlx.MaxValues {
		return nil, r.fail(n, "the aliases of the file stand for more than %d values", yamlx.MaxValues)
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
