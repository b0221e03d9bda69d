package spreadsheet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// driver runs the program of a model.
//
//go:embed driver.py
var driver string

// Bounds of a program.
const (
	programTime   = 120 * time.Second
	maxMemory     = 2 << 30
	maxProcesses  = 64
	maxWritten    = 1 << 30
	maxFile       = 100 << 20
	maxPrinted    = 1 << 20
	maxReport     = 3000 // characters of an error that the model sees
	folderPattern = "skillopt-program-"
)

// programArgs returns the arguments of the interpreter that runs solution.py.
func programArgs() []string { return []string{"-s", "-c", driver, nameInput, nameOutput} }

// folder is one in which programs run.
type folder struct {
	dir  string
	root *os.Root
}

// newFolder makes a folder for programs.
func newFolder() (*folder, error) {
	dir, err := os.MkdirTemp("", folderPattern)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for a program: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the folder of a program: %w", err), os.Remove(dir))
	}
	return &folder{dir, root}, nil
}

// close removes the folder with all that is in it.
func (f *folder) close() error { return errors.Join(f.root.Close(), disk.RemoveAll(f.dir)) }

// put writes a file, with the folders that it needs. What a program left at its place is removed first: it may be
// a link or a pipe.
func (f *folder) put(name string, data []byte) error {
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write %s: %w", name, err)
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// take reads what a program has left as output. failure says why that is no workbook.
func (f *folder) take(ctx context.Context) (book []byte, failure string, err error) {
	book, err = disk.ReadIn(ctx, f.root, nameOutput, MaxWorkbook)
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case errors.Is(err, os.ErrNotExist):
		return nil, "The program ended, and no workbook is at OUTPUT_PATH.", nil
	case err != nil:
		return nil, "The program ended, and what is at OUTPUT_PATH cannot be read: " + f.plain(disk.Reason(err)), nil
	}
	if _, err := openBook(book); err != nil {
		return nil, "The program ended, and what is at OUTPUT_PATH is not a workbook: " + err.Error(), nil
	}
	return book, "", nil
}

// plain takes the path of the folder out of a text.
func (f *folder) plain(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, f.dir+"/", ""), f.dir, ".")
}

// outcome is how a program ended.
type outcome struct {
	printed string // the beginning of what it printed
	errors  string // the end of its standard error
	failure string // why it has failed, "" if it has not
}

// report returns what is wrong, for the model: the end of its errors, and how it ended where they do not say that.
func (o outcome) report() string {
	text := strings.TrimSpace(o.errors)
	if !strings.Contains(text, "Error") && !strings.Contains(text, "Exception") {
		text = strings.TrimSpace(text + "\n" + o.failure)
	}
	return keepEnd(text, maxReport)
}

// run runs Python in a folder, confined. What the program does wrong is in the outcome.
func (w *World) run(ctx context.Context, f *folder, args []string, limit time.Duration) (outcome, error) {
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return outcome{}, context.Cause(ctx)
	}
	var out head
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append([]string{w.Python.Path}, args...), Dir: f.dir, Env: w.environ(f), Stdout: &out, MaxOutput: maxPrinted, Timeout: limit,
		Confine: &sandbox.Confine{
			Write: []string{f.dir}, Read: w.Python.Read, MaxFile: maxFile,
			Limits: sandbox.Limits{Memory: maxMemory, Processes: maxProcesses, Written: maxWritten},
		},
	})
	if err != nil {
		return outcome{}, fmt.Errorf("run a program of the model: %w", err)
	}
	o := outcome{printed: f.plain(out.text()), errors: f.plain(r.Stderr)}
	o.failure, err = describeEnd(ctx, r, limit)
	return o, err
}

// describeEnd says why a program has failed, "" if it has not. The machine's own failures are errors.
func describeEnd(ctx context.Context, r sandbox.Result, limit time.Duration) (string, error) {
	switch r.Reason {
	case sandbox.Cancelled:
		return "", fmt.Errorf("run a program of the model: %w", context.Cause(ctx))
	case sandbox.Starved:
		return "", fmt.Errorf("run a program of the model: %s: free some, and run again", r.Detail)
	case sandbox.Deadline:
		return fmt.Sprintf("The program was ended: it ran for longer than %s.", limit), nil
	case sandbox.Flooded:
		return fmt.Sprintf("The program was ended: it printed more than %s.", disk.Size(maxPrinted)), nil
	case sandbox.Exhausted:
		return fmt.Sprintf("The program was ended: %s.", r.Detail), nil
	case sandbox.Exited:
	}
	switch {
	case r.Signal != "":
		return fmt.Sprintf("The program was ended by %s.", r.Signal), nil
	case r.Code != 0:
		return fmt.Sprintf("The program ended with code %d.", r.Code), nil
	}
	return "", nil
}

// environ returns all that a program sees of the environment.
func (w *World) environ(f *folder) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + f.dir, "TMPDIR=" + f.dir, "LANG=C.UTF-8", "TZ=UTC",
		"PYTHONHASHSEED=0", "PYTHONNOUSERSITE=1", "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1",
		"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", // each thread has memory of its own
	}
}

// head keeps the beginning of what is written to it.
type head struct{ kept []byte }

// maxKept is how much of what a program prints is kept, in bytes.
const maxKept = 16 << 10

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), maxKept-len(h.kept))]...)
	return len(p), nil
}

func (h *head) text() string { return strings.ToValidUTF8(string(h.kept), "\uFFFD") }

// keepEnd returns the last characters of a text.
func keepEnd(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return "…" + string(slices.Clone(r[len(r)-most:]))
}
