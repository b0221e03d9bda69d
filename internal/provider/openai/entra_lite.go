//go:build lite

package openai

import "fmt"

// source returns what gives tokens: in a build without Azure's SDK the caller's own.
func (a *Azure) source() (TokenSource, error) {
	if a.Tokens != nil {
		return a.Tokens, nil
	}
	return nil, fmt.Errorf("azure auth %q: this is a lite build, without Azure's SDK: use the full one, or a key", a.Auth)
}
