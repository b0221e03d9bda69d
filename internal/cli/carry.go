package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
)

// maxOutput is how much a command may print for a tool or a page, in bytes.
const maxOutput = 64 << 20

// output is what a command prints.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxOutput)
	}
	return o.Buffer.Write(p)
}

// sub is how a command runs for a tool or a page.
type sub struct {
	guard   *config.Guard
	signals <-chan os.Signal
	used    func(event.Progress)
	hear    event.Sink
}

// carryOut runs a command line in this process, in the first folder of the guard, and returns its document. No one is
// asked anything, and what it says apart from that is dropped: the error has what matters.
func (a *app) carryOut(ctx context.Context, how sub, words ...string) ([]byte, error) {
	var out output
	b := &app{
		Streams: Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard, Dir: how.guard.Roots[0], Signals: how.signals, Clouds: a.Clouds, Width: lineWidth},
		version: a.version, lookup: a.lookup, guard: how.guard, used: how.used, hear: how.hear,
	}
	err := execute(ctx, rootCommand(b), b.Streams, words)
	return bytes.TrimSpace(out.Bytes()), err
}
