package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Rows name a benchmark, and where its rows or its tasks lie.
type Rows struct {
	Name    string // of the benchmark, or the absolute path of its folder
	Scoring string
	Data    string // the rows as they are published, or a folder that was prepared
	Below   string // where what is prepared of rows is kept
}

// Ready returns a prepared folder: Data itself if it is one, else one below Below that was made of the same
// rows, which is made if it is not there. What pictures outside of Data show is not looked at again.
func Ready(ctx context.Context, r Rows) (string, error) {
	if info, err := os.Stat(filepath.Join(r.Data, DirTasks)); err == nil && info.IsDir() {
		return r.Data, nil
	}
	f, err := folder.Open(ctx, r.Name, "")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(r.Data); err != nil {
		return "", &DataError{Where: f.Where, Name: f.Name, Msg: fmt.Sprintf("its data is not at %s", r.Data)}
	}
	sum, err := hashInputs(ctx, f, r.Data)
	if err != nil {
		return "", err
	}
	out := filepath.Join(r.Below, f.Name+"-"+sum)
	if _, err := os.Stat(filepath.Join(out, FileSource)); err == nil {
		return out, nil
	}
	_, err = Prepare(ctx, Options{Folder: f, From: r.Data, Out: out, Scoring: r.Scoring, Name: r.Name})
	var there *ThereError
	if errors.As(err, &there) { // another process was faster
		if _, serr := os.Stat(filepath.Join(out, FileSource)); serr == nil {
			return out, nil
		}
	}
	return out, err
}

// hashInputs returns a hash of what tasks are made of: what the benchmark says, and the files below a folder.
func hashInputs(ctx context.Context, f *folder.Folder, data string) (sum string, err error) {
	h := sha256.New()
	about, err := f.Read(folder.FileAbout)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%d %s\n", SourceFormat, about)
	root, err := os.OpenRoot(data)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", data, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	err = disk.Walk(root, func(_ *os.Root, name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !e.Type().IsRegular():
			return nil
		}
		return addTo(h, root, name, isRows(name) && !f.Brings(name))
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", data, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// addTo adds a file to a sum: its content if it has rows, else its size and time.
func addTo(h io.Writer, root *os.Root, name string, rows bool) error {
	if !rows {
		info, err := root.Stat(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	}
	sum, _, err := digest(root, name)
	fmt.Fprintf(h, "%q %s\n", name, sum)
	return err
}

// OfTheSystem reports whether an error is one of the disk or of permissions, which no change of the
// input fixes.
func OfTheSystem(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, fs.ErrPermission)
}
