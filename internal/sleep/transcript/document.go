package transcript

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

// document reads a store that is one JSON object. One that is no whole object, as while it is
// being written, is named and left out: ok is false. Above MaxLine bytes it is not read.
func (r *Reading) document(ctx context.Context, s Store) (doc gjson.Result, ok bool, err error) {
	f, err := r.open(ctx, s)
	if err != nil {
		return gjson.Result{}, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if f.Size() > MaxLine {
		r.problem(Problem{Path: s.Path(), What: fmt.Sprintf("longer than %s, which is the most that is read of a session in one object", userfile.Size(MaxLine))})
		return gjson.Result{}, false, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, f.Size()))
	if err != nil {
		return gjson.Result{}, false, fmt.Errorf("read %s: %w", s.Path(), err)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	switch {
	case len(data) == 0:
		return gjson.Result{}, false, nil
	case !utf8.Valid(data):
		r.problem(Problem{Path: s.Path(), What: "not UTF-8"})
		return gjson.Result{}, false, nil
	case data[0] != '{' || !gjson.ValidBytes(data):
		r.problem(Problem{Path: s.Path(), What: "not a JSON object"})
		return gjson.Result{}, false, nil
	}
	return gjson.ParseBytes(data), true, nil
}
