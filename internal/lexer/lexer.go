// Package lexer cuts texts of programs into tokens, so that code can be told from
// comments and strings without a parser for each language. It is pure.
//
// It knows nothing about grammars: what it says of a text that is no program is bounded and
// of no use.
package lexer
