package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Found is what a repository has under a name.
type Found struct {
	Object string // its hash; the name itself, if there is none
	Kind   string // blob, tree or commit; "": it is not there
}

// Look looks names of objects up, one a line, and returns what each is, in order. most bounds what git may print.
func (r *Repo) Look(ctx context.Context, names string, most int64) ([]Found, error) {
	if names == "" {
		return nil, nil
	}
	var out bytes.Buffer
	if err := r.Run(ctx, strings.NewReader(names), &out, most, "cat-file", "--batch-check=%(objectname) %(objecttype)"); err != nil {
		return nil, fmt.Errorf("look up objects: %w", err)
	}
	found := make([]Found, 0, strings.Count(names, "\n"))
	for line := range strings.Lines(out.String()) {
		object, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if kind != "blob" && kind != "tree" && kind != "commit" {
			kind = ""
		}
		found = append(found, Found{Object: object, Kind: kind})
	}
	if len(found) != strings.Count(names, "\n") {
		return nil, &Unfit{Lost}
	}
	return found, nil
}
