package dataset

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// layout is what the children of a node are.
type layout int

const (
	leaf   layout = iota
	group         // fields by name
	list          // one repeated child, each of which is an element or has it as its only child
	keyMap        // one repeated child with a key and a value
)

// node is an entry of the schema: a column, or a group of them.
type node struct {
	name        string
	path        string // from the top, with dots
	element     *format.SchemaElement
	layout      layout
	optional    bool
	repeated    bool
	definition  int // level from which on it is there
	repetition  int // level of a value that begins another one of it
	first, last int // columns in it, the last not included
	children    []*node
}

// newTree makes a tree of the list that the schema is.
func newTree(schema []format.SchemaElement) (*node, error) {
	b := treeBuilder{left: schema}
	root, err := b.node(nil, 0)
	if err != nil {
		return nil, err
	}
	if len(b.left) > 0 {
		return nil, errSchema
	}
	names := map[string]bool{}
	for _, c := range root.children {
		if names[c.name] {
			return nil, &Error{Column: c.name, Err: ErrBroken, Msg: "two columns have this name"}
		}
		names[c.name] = true
	}
	return root, nil
}

var errSchema = &Error{Err: ErrBroken, Msg: "its schema is none"}

type treeBuilder struct {
	left    []format.SchemaElement
	columns int
}

func (b *treeBuilder) node(parent *node, depth int) (*node, error) {
	if len(b.left) == 0 || depth > mostNested {
		return nil, errSchema
	}
	e := &b.left[0]
	b.left = b.left[1:]
	n := &node{name: e.Name, path: e.Name, element: e, first: b.columns}
	if parent != nil {
		if parent.path != "" {
			n.path = parent.path + "." + e.Name
		}
		n.definition, n.repetition = parent.definition, parent.repetition
		n.optional = e.RepetitionType.Valid && e.RepetitionType.V == format.Optional
		n.repeated = e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
	} else {
		n.path = ""
	}
	if n.optional || n.repeated {
		n.definition++
	}
	if n.repeated {
		n.repetition++
	}
	if e.Type.Valid {
		b.columns++
		n.last = b.columns
		return n, nil
	}
	n.layout = group
	for range e.NumChildren.V {
		child, err := b.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	n.last = b.columns
	n.setLayout()
	return n, nil
}

// setLayout distinguishes lists and maps from groups. One that is annotated as a list or map and is
// not built like one is read as the group that it is.
func (n *node) setLayout() {
	if len(n.children) != 1 || !n.children[0].repeated {
		return
	}
	is := func(converted ...deprecated.ConvertedType) bool {
		for _, c := range converted {
			if n.element.ConvertedType.Valid && n.element.ConvertedType.V == c {
				return true
			}
		}
		return false
	}
	switch n.element.LogicalType.Value.(type) {
	case *format.ListType:
		n.layout = list
	case *format.MapType:
		n.layout = keyMap
	case nil:
		if is(deprecated.List) {
			n.layout = list
		} else if is(deprecated.Map, deprecated.MapKeyValue) {
			n.layout = keyMap
		}
	}
	if n.layout == keyMap && (len(n.children[0].children) == 0 || len(n.children[0].children) > 2) {
		n.layout = group
	}
}

// leaves appends the columns of the node.
func (n *node) leaves(to []*node) []*node {
	if n.layout == leaf {
		return append(to, n)
	}
	for _, c := range n.children {
		to = c.leaves(to)
	}
	return to
}

// fields makes an object of a group. columns are the values of the columns in it.
func (n *node) fields(columns [][]parquet.Value) (map[string]any, error) {
	m := make(map[string]any, len(n.children))
	for _, c := range n.children {
		v, err := c.value(columns[c.first-n.first : c.last-n.first])
		if err != nil {
			return nil, err
		}
		m[c.name] = v
	}
	return m, nil
}

// value returns the value of a field.
func (n *node) value(columns [][]parquet.Value) (any, error) {
	if n.repeated {
		return n.items(columns, n)
	}
	return n.one(columns)
}

// one returns the value of a field that does not repeat, or of one of its repetitions.
func (n *node) one(columns [][]parquet.Value) (any, error) {
	if len(columns) == 0 {
		return map[string]any{}, nil // a group of nothing
	}
	if len(columns[0]) == 0 {
		return nil, errMixed
	}
	if n.optional && columns[0][0].DefinitionLevel() < n.definition {
		return nil, nil
	}
	switch n.layout {
	case list:
		return n.children[0].items(columns, n.elements())
	case keyMap:
		return n.pairs(columns)
	case group:
		return n.fields(columns)
	}
	if len(columns[0]) != 1 {
		return nil, errMixed
	}
	v, err := n.scalar(columns[0][0])
	var own *Error
	if errors.As(err, &own) {
		named := *own
		named.Column = n.path
		return nil, &named
	}
	return v, err
}

// elements returns the node that is an element of a list: the repeated child of older
// writers, or the only child of that one.
func (n *node) elements() *node {
	r := n.children[0]
	if len(r.children) != 1 || r.layout != group || r.name == "array" || r.name == n.name+"_tuple" {
		return r
	}
	return r.children[0]
}

// items splits values of a repeated node. of is what each is a value of: the node, or its
// only child.
func (n *node) items(columns [][]parquet.Value, of *node) (any, error) {
	out := []any{}
	err := n.each(columns, func(part [][]parquet.Value) error {
		var v any
		var err error
		if of == n {
			v, err = n.one(part)
		} else {
			v, err = of.value(part)
		}
		out = append(out, v)
		return err
	})
	return out, err
}

// each calls use with the values of every repetition.
func (n *node) each(columns [][]parquet.Value, use func([][]parquet.Value) error) error {
	if len(columns) == 0 || len(columns[0]) == 0 {
		return errMixed
	}
	if columns[0][0].DefinitionLevel() < n.definition {
		return nil
	}
	left := append([][]parquet.Value(nil), columns...)
	part := make([][]parquet.Value, len(columns))
	for len(left[0]) > 0 {
		for i, values := range left {
			if len(values) == 0 {
				return errMixed
			}
			to := 1
			for to < len(values) && values[to].RepetitionLevel() > n.repetition {
				to++
			}
			part[i], left[i] = values[:to], values[to:]
		}
		if err := use(part); err != nil {
			return err
		}
	}
	for _, values := range left {
		if len(values) > 0 {
			return errMixed
		}
	}
	return nil
}

// pairs reads a map. Its keys become names.
func (n *node) pairs(columns [][]parquet.Value) (any, error) {
	entry, m := n.children[0], map[string]any{}
	err := entry.each(columns, func(part [][]parquet.Value) error {
		key, value := entry.children[0], any(nil)
		k, err := key.value(part[:key.last-entry.first])
		if err != nil {
			return err
		}
		if len(entry.children) == 2 {
			if value, err = entry.children[1].value(part[entry.children[1].first-entry.first:]); err != nil {
				return err
			}
		}
		name := fmt.Sprint(k)
		switch k.(type) {
		case nil, []byte, []any, map[string]any:
			return &Error{Column: n.path, Err: ErrUnsupported, Msg: "a map whose keys are neither texts nor numbers"}
		}
		if _, twice := m[name]; twice {
			return &Error{Column: n.path, Err: ErrBroken, Msg: fmt.Sprintf("the key %q is there twice in a map", name)}
		}
		m[name] = value
		return nil
	})
	return m, err
}
