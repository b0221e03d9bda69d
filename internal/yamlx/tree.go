package yamlx

import (
	"iter"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// File is a text that has been parsed.
type File struct{ tree *ast.File }

// Documents returns the values of the documents of a file in their order. An empty document has the
// zero Node.
func (f File) Documents() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for _, doc := range f.tree.Docs {
			if !yield(Node{doc.Body}) {
				return
			}
		}
	}
}

// At returns the value at a path of keys and indexes, such as rules[2].kind.
func (f File) At(path string) (Node, bool) {
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return Node{}, false
	}
	n, err := p.FilterFile(f.tree)
	if err != nil || n.GetToken() == nil {
		return Node{}, false
	}
	return Node{n}, true
}

// Node is a value, or a key, of a text. The zero Node is no value at all.
type Node struct{ n ast.Node }

// Kind is what a node is as it is written. What a scalar without quotes represents
// depends on the version of YAML: Integer and the like are those of YAML 1.2, and
// Plain11 reads by version 1.1.
type Kind int

// Kinds of nodes.
const (
	None        Kind = iota // no value at all
	Null                    // null, ~, or nothing where a value belongs
	Bool                    // true or false
	Integer                 // a whole number
	Float                   // any other number
	Infinity                // .inf
	NaN                     // .nan
	String                  // text without quotes or in them
	Literal                 // text in block style, after | or >
	List                    // Items are what it holds
	Mapping                 // Pairs are what it holds
	Tagged                  // !tag before Inner
	Anchored                // &name before Inner
	Alias                   // *name
	MergeKey                // the key <<
	ExplicitKey             // ? before Inner
	Directive               // a line such as %YAML 1.1
	Comments                // a document of comments only
	Other                   // nothing of these
)

// String returns a kind as messages name it.
func (k Kind) String() string {
	names := [...]string{
		"None", "Null", "Bool", "Integer", "Float", "Infinity", "Nan", "String", "Literal", "Sequence", "Mapping",
		"Tag", "Anchor", "Alias", "MergeKey", "MappingKey", "Directive", "CommentGroup", "UnknownNode",
	}
	return names[min(max(None, k), Other)]
}

// Kind returns what a node is.
func (n Node) Kind() Kind {
	if n.n == nil {
		return None
	}
	kinds := [...]Kind{
		ast.NullType: Null, ast.BoolType: Bool, ast.IntegerType: Integer, ast.FloatType: Float, ast.InfinityType: Infinity, ast.NanType: NaN,
		ast.StringType: String, ast.LiteralType: Literal, ast.SequenceType: List, ast.MappingType: Mapping, ast.MappingValueType: Mapping,
		ast.TagType: Tagged, ast.AnchorType: Anchored, ast.AliasType: Alias, ast.MergeKeyType: MergeKey, ast.MappingKeyType: ExplicitKey,
		ast.DirectiveType: Directive, ast.CommentGroupType: Comments,
	}
	if t := int(n.n.Type()); t < len(kinds) && kinds[t] != None {
		return kinds[t]
	}
	return Other
}

// token returns the token that represents a node, nil if it has none. For a mapping in block style
// this is the colon of its first pair.
func (n Node) token() *token.Token {
	if n.n == nil {
		return nil
	}
	return n.n.GetToken()
}

// Line returns the 1-based line of a node, 0 if it has none.
func (n Node) Line() int {
	if tok := n.token(); tok != nil && tok.Position != nil {
		return tok.Position.Line
	}
	return 0
}

// Column returns the 1-based column of a node, 0 if it has none.
func (n Node) Column() int {
	if tok := n.token(); tok != nil && tok.Position != nil {
		return tok.Position.Column
	}
	return 0
}

// Start returns the first thing in a node: of a mapping its first key, else the node.
func (n Node) Start() Node {
	for key := range n.Pairs() {
		return key.Start()
	}
	return n
}

// TokenText returns the mark or the scalar that a node begins with, without its quotes:
// 0x1F, *, a tag, the | before text in block style.
func (n Node) TokenText() string {
	if tok := n.token(); tok != nil {
		return tok.Value
	}
	return ""
}

// Text returns a scalar as text: what is in its quotes or block, else as it is
// written, "" for a value that is left out.
func (n Node) Text() string {
	switch s := n.n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	case *ast.NullNode:
		if s.Token.Type == token.ImplicitNullType {
			return ""
		}
	}
	return n.TokenText()
}

// Value returns what a scalar represents by YAML 1.2: nil, bool, string, int64, uint64
// or float64.
func (n Node) Value() any {
	switch s := n.n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.LiteralNode:
		return s.Value.Value
	case ast.ScalarNode:
		return s.GetValue()
	}
	return nil
}

// Value11 returns what a scalar represents by YAML 1.1, as Plain11 does; text in quotes
// or in block style stays text.
func (n Node) Value11() any {
	switch s := n.n.(type) {
	case *ast.LiteralNode:
		return n.Text()
	case *ast.StringNode:
		if s.Token.Type == token.SingleQuoteType || s.Token.Type == token.DoubleQuoteType {
			return s.Value
		}
		return Plain11(s.Value)
	}
	return Plain11(n.TokenText())
}

// Scalar reports whether a node is one value, or represents one: neither a list nor a
// mapping.
func (n Node) Scalar() bool {
	_, ok := n.n.(ast.ScalarNode)
	return ok
}

// Merges reports whether a key is <<, also where it follows ? or an anchor.
func (n Node) Merges() bool {
	key, ok := n.n.(ast.MapKeyNode)
	return ok && key.IsMergeKey()
}

// Items returns the elements of a list, with their indexes.
func (n Node) Items() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		list, ok := n.n.(*ast.SequenceNode)
		if !ok {
			return
		}
		for i, item := range list.Values {
			if !yield(i, Node{item}) {
				return
			}
		}
	}
}

// Pairs returns the keys of a mapping with their values. Each key has the form and the number of
// times that it has in the text.
func (n Node) Pairs() iter.Seq2[Node, Node] {
	return func(yield func(key, value Node) bool) {
		for _, pair := range pairs(n.n) {
			if !yield(Node{pair.Key}, Node{pair.Value}) {
				return
			}
		}
	}
}

func pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// Len returns how many items or pairs a node has.
func (n Node) Len() int {
	if list, ok := n.n.(*ast.SequenceNode); ok {
		return len(list.Values)
	}
	return len(pairs(n.n))
}

// Inner returns what follows a tag, an anchor or the ? of a key.
func (n Node) Inner() Node {
	switch n := n.n.(type) {
	case *ast.TagNode:
		return Node{n.Value}
	case *ast.AnchorNode:
		return Node{n.Value}
	case *ast.MappingKeyNode:
		return Node{n.Value}
	}
	return Node{}
}

// Name returns the name of an anchor or an alias.
func (n Node) Name() string {
	switch n := n.n.(type) {
	case *ast.AnchorNode:
		return Node{n.Name}.TokenText()
	case *ast.AliasNode:
		return Node{n.Value}.TokenText()
	}
	return ""
}
