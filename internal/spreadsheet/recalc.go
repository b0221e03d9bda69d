package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Recalc says which formulas are computed.
type Recalc string

// What is computed.
const (
	RecalcNone    Recalc = "none"
	RecalcMissing Recalc = "missing" // formulas without a cached value
	RecalcAll     Recalc = "all"
)

// Recalculator computes formulas by LibreOffice. It may be used concurrently: one LibreOffice runs at a time, and
// gets all workbooks that wait by then, as its start is what costs.
type Recalculator struct {
	path    string
	version string
	which   Recalc

	turn chan struct{} // the right to start LibreOffice
	mu   sync.Mutex
	wait []*job
}

// job is a workbook that waits for its values.
type job struct {
	book []byte
	err  error
	done chan struct{}
}

// An OfficeError says that there is no LibreOffice, and what helps.
type OfficeError struct{ Why string }

func (e *OfficeError) Error() string {
	return fmt.Sprintf("env.recalc computes formulas by LibreOffice: %s\n  apt-get install --no-install-recommends libreoffice-calc    then run again\nor take env.recalc: none", e.Why)
}

// Bounds of a start of LibreOffice.
const (
	maxBatch     = 32
	officeTime   = 3 * time.Minute
	officeMemory = 4 << 30
)

// FindOffice returns what computes formulas; nil for RecalcNone. lookup reads a variable of the environment.
func FindOffice(ctx context.Context, which Recalc, lookup func(string) (string, bool)) (*Recalculator, error) {
	if which == RecalcNone || which == "" {
		return nil, nil
	}
	search, _ := lookup("PATH")
	path, err := findProgram("soffice", search)
	if err != nil {
		return nil, &OfficeError{Why: "soffice is " + err.Error()}
	}
	r := &Recalculator{path: path, which: which, turn: make(chan struct{}, 1)}
	f, err := newFolder()
	if err != nil {
		return nil, err
	}
	r.version, err = r.start(ctx, f, false, "--version")
	if err = errors.Join(err, f.close()); err != nil {
		return nil, &OfficeError{Why: err.Error()}
	}
	return r, nil
}

// Version returns what results depend on.
func (r *Recalculator) Version() string { return fmt.Sprintf("%s, recalc %s", r.version, r.which) }

// Run returns a workbook with the values of its formulas. One that needs none, and one that LibreOffice cannot
// read, is returned as it is.
func (r *Recalculator) Run(ctx context.Context, book []byte) ([]byte, error) {
	if !r.needs(book) {
		return book, nil
	}
	own := &job{book: book, done: make(chan struct{})}
	r.queue(own)
	select {
	case <-own.done:
		return own.book, own.err
	case <-ctx.Done():
		r.leave(own)
		return nil, fmt.Errorf("compute formulas: %w", context.Cause(ctx))
	case r.turn <- struct{}{}:
	}
	defer func() { <-r.turn }()
	for {
		select {
		case <-own.done:
			return own.book, own.err
		default:
		}
		batch := r.next()
		r.batch(ctx, batch)
		if ctx.Err() != nil { // the others did not end
			r.leave(own)
			return nil, fmt.Errorf("compute formulas: %w", context.Cause(ctx))
		}
	}
}

// needs reports whether there is something to compute.
func (r *Recalculator) needs(book []byte) bool {
	b, err := openBook(book)
	if err != nil {
		return false
	}
	if r.which == RecalcMissing {
		cells, err := b.WithoutValue()
		return err == nil && len(cells) > 0
	}
	return slices.ContainsFunc(b.Sheets(), func(name string) bool {
		formulas, err := b.Formulas(name)
		return err == nil && len(formulas) > 0
	})
}

func (r *Recalculator) queue(jobs ...*job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait = append(r.wait, jobs...)
}

// leave takes a job out of those that wait.
func (r *Recalculator) leave(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait = slices.DeleteFunc(r.wait, func(other *job) bool { return other == j })
}

// next takes the jobs of the next start.
func (r *Recalculator) next() []*job {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.wait), maxBatch)
	batch := slices.Clone(r.wait[:n])
	r.wait = slices.Delete(r.wait, 0, n)
	return batch
}

// batch computes some workbooks in one start. Where that fails each has a start of its own, so that one of them
// spoils no other. If the context ends, those that are not done wait again.
func (r *Recalculator) batch(ctx context.Context, jobs []*job) {
	err := r.compute(ctx, jobs)
	if ctx.Err() != nil {
		r.queue(jobs...)
		return
	}
	if err != nil && len(jobs) > 1 {
		for i, j := range jobs {
			if r.batch(ctx, []*job{j}); ctx.Err() != nil {
				r.queue(jobs[i+1:]...)
				return
			}
		}
		return
	}
	for _, j := range jobs {
		if j.err = err; err != nil {
			j.book = nil
		}
		close(j.done)
	}
}

// compute has LibreOffice write the workbooks again, with their values.
func (r *Recalculator) compute(ctx context.Context, jobs []*job) (err error) {
	f, err := newFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	args := []string{"--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", filepath.Join(f.dir, "out")}
	for i, j := range jobs {
		name := fmt.Sprintf("in/%d.xlsx", i+1)
		if err := f.put(name, j.book); err != nil {
			return err
		}
		args = append(args, filepath.Join(f.dir, name))
	}
	if _, err := r.start(ctx, f, false, args...); err != nil {
		return err
	}
	books := make([][]byte, len(jobs))
	for i := range jobs {
		books[i], err = disk.ReadIn(ctx, f.root, fmt.Sprintf("out/%d.xlsx", i+1), MaxWorkbook)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read what LibreOffice wrote: %w", err)
		}
	}
	for i, j := range jobs {
		if books[i] != nil { // else LibreOffice cannot read it
			j.book = books[i]
		}
	}
	return nil
}

// settings have LibreOffice compute all formulas of a workbook.
const settings = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>
`

// restartCode is how LibreOffice ends when it wants to be started again with the profile that it has made.
const restartCode = 81

// start runs LibreOffice confined, with a profile of its own in the folder, and returns what it prints.
func (r *Recalculator) start(ctx context.Context, f *folder, again bool, args ...string) (string, error) {
	if r.which == RecalcAll {
		if err := f.put("profile/user/registrymodifications.xcu", []byte(settings)); err != nil {
			return "", err
		}
	}
	program, err := filepath.EvalSymlinks(r.path)
	if err != nil {
		return "", fmt.Errorf("find LibreOffice: %w", err)
	}
	program = filepath.Join(filepath.Dir(program), "soffice.bin") // soffice itself wants to write in /tmp
	var out head
	// OSL_SOCKET_PATH is the working directory: the path of a socket has about 100 characters at most.
	argv := []string{program, "--headless", "--norestore", "--nolockcheck", "-env:UserInstallation=file://" + filepath.Join(f.dir, "profile")}
	result, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append(argv, args...), Dir: f.dir, Stdout: &out, MaxOutput: maxPrinted, Timeout: officeTime,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + f.dir, "TMPDIR=" + f.dir, "LANG=C.UTF-8", "TZ=UTC", "OSL_SOCKET_PATH=.", "SAL_USE_VCLPLUGIN=svp"},
		Confine: &sandbox.Confine{
			Write: []string{f.dir}, Read: []string{filepath.Dir(filepath.Dir(program)), "/etc/libreoffice", "/usr/share/libreoffice", "/var/lib/libreoffice", "/var/spool/libreoffice"},
			UnixSockets: true, // without a socket of its own it waits for ever
			MaxFile:     maxFile, Limits: sandbox.Limits{Memory: officeMemory, Processes: maxProcesses, Written: maxWritten},
		},
	})
	if err != nil {
		return "", fmt.Errorf("run LibreOffice: %w", err)
	}
	if result.Code == restartCode && result.Reason == sandbox.Exited && !again {
		return r.start(ctx, f, true, args...)
	}
	failure, err := describeEnd(ctx, result, officeTime)
	if err == nil && failure != "" {
		err = errors.New(strings.TrimSpace(failure + " " + wording.Cut(strings.TrimSpace(result.Stderr), 300)))
	}
	if err != nil {
		return "", fmt.Errorf("run LibreOffice: %w", err)
	}
	return strings.TrimSpace(out.text()), nil
}
