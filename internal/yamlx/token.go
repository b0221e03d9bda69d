package yamlx

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// What the parser does again for each key of a mapping, and for each place of a
// node: both are bounded as sums.
const (
	maxWork  = MaxKeys * MaxKeys / 2
	maxPaths = 32 << 20 // bytes of all paths, such as $.models.target
	nulls    = 4        // entries without a value cost that much less
)

// measureTokens follows the nesting of a text by its tokens, as far as the parser's
// time depends on it.
func measureTokens(tokens token.Tokens) error {
	var n nesting
	for i, tok := range tokens {
		if i == MaxTokens {
			return tooMany(tok.Position.Line)
		}
		var before *token.Token
		if i > 0 {
			before = tokens[i-1]
		}
		if err := n.add(tok, before); err != nil {
			return err
		}
	}
	return nil
}

// nesting is where in a text a token is.
type nesting struct {
	levels []level // of block style, by their columns
	flow   int     // open brackets
	run    int     // tags and anchors in a row
	key    int     // bytes of the longest key so far
	docs   int
	empty  int // entries of lists without a value
	work   int
	paths  int
}

// level is a list or a mapping in block style.
type level struct {
	column int
	keys   int
}

func (n *nesting) add(tok, before *token.Token) error {
	switch tok.Type {
	case token.SequenceStartType, token.MappingStartType:
		n.flow++
	case token.SequenceEndType, token.MappingEndType:
		n.flow = max(0, n.flow-1)
	case token.SequenceEntryType:
		n.enter(tok.Position.Column)
		if before != nil && before.Type == token.SequenceEntryType {
			n.empty++
			n.work += n.empty / nulls
		}
	case token.MappingKeyType:
		n.enter(tok.Position.Column)
	case token.MappingValueType:
		n.pair(tok, before)
	case token.DocumentHeaderType, token.DocumentEndType:
		n.levels, n.flow = nil, 0
		n.docs++
		n.work += n.docs
	}
	if n.run++; tok.Type != token.TagType && tok.Type != token.AnchorType && (before == nil || before.Type != token.AnchorType) {
		n.run = 0
	}
	return n.check(tok.Position.Line)
}

// enter goes to the level of a column.
func (n *nesting) enter(column int) *level {
	if n.flow > 0 {
		return nil
	}
	for len(n.levels) > 0 && n.levels[len(n.levels)-1].column > column {
		n.levels = n.levels[:len(n.levels)-1]
	}
	if len(n.levels) == 0 || n.levels[len(n.levels)-1].column < column {
		n.levels = append(n.levels, level{column: column})
	}
	return &n.levels[len(n.levels)-1]
}

// pair counts a key with its colon.
func (n *nesting) pair(colon, before *token.Token) {
	column := colon.Position.Column
	if before != nil && before.Position.Line == colon.Position.Line {
		column = before.Position.Column
		n.key = max(n.key, len(before.Value))
	}
	if l := n.enter(column); l != nil {
		l.keys++
		n.work += l.keys
	}
	n.paths += n.key * (len(n.levels) + n.flow)
}

func (n *nesting) check(line int) error {
	switch {
	case len(n.levels)+n.flow > MaxDepth || n.run > MaxDepth:
		return tooDeep(line)
	case n.work > maxWork:
		return &Error{Line: line, Msg: fmt.Sprintf("more keys in one mapping, empty entries or documents than are read of YAML (about %d)", MaxKeys)}
	case n.paths > maxPaths:
		return &Error{Line: line, Msg: "keys that are too long, or too many, for how deep they are nested"}
	}
	return nil
}
