package yamlx

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// measureNodes counts the values that a text represents, each alias as all that its
// anchor holds: a few lines of them can represent more than fits into memory.
func measureNodes(file *ast.File) error {
	c := counter{sizes: map[string]int{}}
	for _, doc := range file.Docs {
		if _, err := c.size(doc.Body); err != nil {
			return err
		}
	}
	return nil
}

type counter struct {
	sizes map[string]int // of what is behind an anchor
	open  []string       // anchors that the walk is in
	total int
}

// size returns how many values n represents.
func (c *counter) size(n ast.Node) (int, error) {
	before := c.total
	if c.total++; c.total > MaxValues {
		return 0, tooLarge(n)
	}
	var err error
	switch n := n.(type) {
	case *ast.SequenceNode:
		err = c.all(n.Values)
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if err = c.pair(pair); err != nil {
				return 0, err
			}
		}
	case *ast.MappingValueNode:
		err = c.pair(n)
	case *ast.TagNode:
		_, err = c.size(n.Value)
	case *ast.AnchorNode:
		err = c.anchor(n)
	case *ast.AliasNode:
		err = c.alias(n)
	}
	return c.total - before, err
}

func (c *counter) all(nodes []ast.Node) error {
	for _, n := range nodes {
		if _, err := c.size(n); err != nil {
			return err
		}
	}
	return nil
}

func (c *counter) pair(n *ast.MappingValueNode) error {
	if key, ok := n.Key.(*ast.MappingKeyNode); ok {
		if _, err := c.size(key.Value); err != nil {
			return err
		}
	} else if _, err := c.size(n.Key); err != nil {
		return err
	}
	_, err := c.size(n.Value)
	return err
}

func (c *counter) anchor(n *ast.AnchorNode) error {
	name := n.Name.GetToken().Value
	delete(c.sizes, name)
	c.open = append(c.open, name)
	size, err := c.size(n.Value)
	c.open = c.open[:len(c.open)-1]
	c.sizes[name] = size
	return err
}

// alias counts what an anchor holds. Of one that is not known the library says so.
func (c *counter) alias(n *ast.AliasNode) error {
	name := n.Value.GetToken().Value
	size, known := c.sizes[name]
	if !known && slices.Contains(c.open, name) {
		return &Error{Line: nodeLine(n), Msg: "an alias within its own value"}
	}
	if c.total += size; c.total > MaxValues {
		return tooLarge(n)
	}
	return nil
}

func tooLarge(n ast.Node) error {
	return &Error{Line: nodeLine(n), Msg: fmt.Sprintf("more values than are read of YAML (%d, with aliases counted as their values)", MaxValues)}
}

func nodeLine(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}
