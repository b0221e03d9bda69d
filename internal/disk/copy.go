package disk

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
)

// CopyIn copies a regular file of from, of at most limit bytes, to a new file of to, with the folders that it needs.
func CopyIn(ctx context.Context, from *os.Root, name string, to *os.Root, as string, limit int64) (err error) {
	source, err := OpenIn(ctx, from, name, limit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := to.MkdirAll(path.Dir(as), 0o755); err != nil {
		return err
	}
	f, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Close())
}
