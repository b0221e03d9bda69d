package journal

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever looks at a journal while a run writes to it sees a whole state of it:
// every entry with the parts it refers to.
func TestReadersSeeOneState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() {
		defer close(written)
		for i := 0; ctx.Err() == nil && i < 2000; i++ { // enough for some before, between and behind
			part := NewBlob(fmt.Sprintf("%d %s", i, strings.Repeat("shared ", 100)))
			r := Record{Key: fmt.Sprint("k", i), Kind: Call, Input: Input{Own: []byte("{}"), Shared: []Blob{part}}, Result: []byte("{}")}
			if err := j.Append(context.WithoutCancel(ctx), r); err != nil {
				written <- err
				return
			}
		}
	}()
	last := int64(0)
	for range 30 {
		reader, err := Open(t.Context(), path, Options{ReadOnly: true})
		if err != nil {
			t.Errorf("beside a writer: %v", err)
			break
		}
		if n := reader.HighWater(); n < last {
			t.Errorf("%d entries, there were %d before", n, last)
		} else {
			last = n
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-written; err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
