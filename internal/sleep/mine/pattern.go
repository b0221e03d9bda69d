package mine

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used. Compiling all of them takes
// longer than all else that a program does when it starts, and it starts often: as an agent's
// sandbox too, which never mines.
type pattern func() *regexp.Regexp

func newPattern(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
