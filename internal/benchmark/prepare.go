package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/task"
)

// Options say what to prepare.
type Options struct {
	Folder *folder.Folder
	// From is the folder with the files of the source; with Fixture it is not read.
	From string
	// Fixture takes the rows of our own that the benchmark brings, and models that are simulated.
	Fixture bool
	// Out is the folder to make: it does not exist, or is empty.
	Out string
	// Scoring is how answers are scored; "" is the default of the benchmark.
	Scoring string
	// Seed is that of a split by a ratio, and of the order of choices; 0 is that of the benchmark.
	Seed int64
	// Name is how the config names the benchmark; "": by its name.
	Name string
	// Data is how the config names its own folder; "": ".".
	Data string
}

// Report is what was made of the rows.
type Report struct {
	Benchmark string         `json:"benchmark"`
	Dir       string         `json:"dir"`
	Fixture   bool           `json:"fixture,omitempty"` // rows of our own, models that are simulated
	Tasks     map[string]int `json:"tasks"`             // by split
	Pictures  int            `json:"pictures"`
	// LeftOut are the rows that are no tasks, by reason. Rows that no published split names are not
	// among them.
	LeftOut map[string]int `json:"left_out,omitempty"`
	// Vanished are the tasks whose accepted answers are nothing as they are compared, in the order of the rows.
	Vanished []Vanished `json:"vanished,omitempty"`
}

// DataError says that the rows of a benchmark are not there, and how to get them.
type DataError struct{ Where, Name, Msg string }

func (e *DataError) Error() string {
	return fmt.Sprintf("%s: %s\n  skillopt bench fetch %s                     get it (says the licence first)\n  skillopt bench prepare %s --from DIR --out OUT    if you have it already\n  skillopt bench run %s --fixture               rows of our own, simulated, to see how it works", e.Where, e.Msg, e.Name, e.Name, e.Name)
}

// Prepare makes the folder. Nothing is there if it fails.
func Prepare(ctx context.Context, o Options) (report Report, err error) {
	o.Folder = o.Folder.CopyWithSeed(o.Seed)
	w, err := begin(o.Out)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	p := &preparation{Options: o, ctx: ctx, work: w, leftOut: map[string]int{}}
	if err := p.all(); err != nil {
		return Report{}, fmt.Errorf("prepare %s: %w", o.Folder.Name, err)
	}
	if err := w.finish(); err != nil {
		return Report{}, fmt.Errorf("prepare %s: %w", o.Folder.Name, err)
	}
	report = Report{Benchmark: o.Folder.Name, Dir: o.Out, Fixture: o.Fixture, Tasks: map[string]int{}, Pictures: len(p.gallery.files), Vanished: p.vanished}
	for split, places := range p.parts {
		report.Tasks[string(split)] = len(places)
	}
	if len(p.leftOut) > 0 {
		report.LeftOut = p.leftOut
	}
	return report, nil
}

// preparation is one of them at work.
type preparation struct {
	Options
	ctx  context.Context
	work *work

	from      *os.Root // of the rows
	above     []*os.Root
	convert   converter
	published *published
	spool     *spool
	gallery   *gallery
	files     []File // of the source, with rows
	parts     parts
	leftOut   map[string]int
	brought   []string // games
	suite     *check.Suite
	vanished  []Vanished
}

func (p *preparation) all() (err error) {
	if p.convert, err = newConverter(p.Folder); err != nil {
		return err
	}
	if p.suite, err = p.checks(); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	sources, err := p.sources()
	if err != nil {
		return err
	}
	if p.published, err = readPublished(p.Folder, p.idsFolder(sources)); err != nil {
		return err
	}
	if p.spool, err = newSpool(p.work.root); err != nil {
		return err
	}
	p.gallery = &gallery{ctx: p.ctx, from: p.from, dir: p.From, above: p.above, to: p.work.root, sums: map[string]string{}}
	err = p.read(sources)
	if err == nil {
		err = p.write()
	}
	if err == nil {
		err = p.bring()
	}
	return errors.Join(err, p.spool.close(p.work.root))
}

// idsFolder returns the folder with the ids of the splits; "" if rows name their splits, or nothing does.
func (p *preparation) idsFolder(sources []rowFile) string {
	switch own := folder.DirFixture + "/ids"; {
	case len(sources) > 0 && sources[0].split != "":
		return ""
	case p.Fixture && p.Folder.Has(own):
		return own
	}
	return p.Folder.Splits.IDs
}

// open opens the folder of the rows. The fixture is written out first: what reads rows reads files.
func (p *preparation) open() (err error) {
	from := p.From
	if p.Fixture {
		if from, err = p.work.unfold(p.Folder); err != nil {
			return err
		}
	}
	if from == "" {
		return &DataError{Where: p.Folder.Where, Name: p.Folder.Name, Msg: "its data is not on this machine"}
	}
	if p.from, err = os.OpenRoot(from); err != nil {
		return &DataError{Where: p.Folder.Where, Name: p.Folder.Name, Msg: fmt.Sprintf("its data cannot be read: %v", err)}
	}
	if p.Fixture {
		return nil
	}
	up := from
	for range 3 {
		up = filepath.Dir(up)
		root, err := os.OpenRoot(up)
		if err != nil {
			break // where nothing can be read, nothing is found
		}
		p.above = append(p.above, root)
	}
	return nil
}

func (p *preparation) close() error {
	errs := []error{p.from.Close()}
	for _, root := range p.above {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// read makes tasks of the rows.
func (p *preparation) read(sources []rowFile) error {
	for _, src := range sources {
		if src.whole {
			if err := p.whole(src); err != nil {
				return err
			}
			continue
		}
		for row, err := range dataset.Rows(p.ctx, p.from, src.name, dataset.Bounds{}) {
			if err != nil {
				return err
			}
			if err := p.row(row, src); err != nil {
				return err
			}
		}
		if err := p.sum(src); err != nil {
			return err
		}
	}
	if len(p.spool.lines) == 0 {
		return fmt.Errorf("%s: no row became a task (%s)", p.Folder.Where, reasons(p.leftOut))
	}
	return nil
}

// whole makes a task of a file. One that became none is not summed up.
func (p *preparation) whole(src rowFile) error {
	before := len(p.spool.lines)
	row := dataset.Row{File: src.name, Number: 1, Fields: map[string]any{"file": src.name}}
	if err := p.row(row, src); err != nil || len(p.spool.lines) == before {
		return err
	}
	return p.sum(src)
}

// sum keeps the digest of a file of the source.
func (p *preparation) sum(src rowFile) error {
	sum, size, err := digest(p.from, src.name)
	p.files = append(p.files, File{Path: src.name, SHA256: sum, Bytes: size})
	return err
}

func reasons(leftOut map[string]int) string {
	var texts []string
	for _, why := range slices.Sorted(maps.Keys(leftOut)) {
		texts = append(texts, fmt.Sprintf("%d left out: %s", leftOut[why], why))
	}
	if texts == nil {
		return "there are no rows"
	}
	return joinFirst(texts)
}

// row makes a task of one row, if it is one of the benchmark.
func (p *preparation) row(row dataset.Row, src rowFile) error {
	it, why, err := p.convert(row)
	if err != nil {
		return err
	}
	if why != "" {
		p.leftOut[why]++
		return nil
	}
	it.file, it.row, it.split = row.File, row.Number, src.split
	if name := p.Folder.Splits.Field; name != "" && it.split == "" {
		if it.split, err = task.ParseSplit(fmt.Sprint(row.Fields[name])); err != nil {
			return &rowError{file: row.File, row: row.Number, key: name, msg: err.Error()}
		}
	}
	if p.published != nil {
		if _, wanted := p.published.of[it.id]; !wanted {
			return nil
		}
	}
	fault, err := p.addBooks(&it)
	if fault == "" && err == nil {
		fault, err = p.addGame(&it)
	}
	if err != nil {
		return err
	}
	if fault != "" {
		p.leftOut[fmt.Sprintf("task %s: %s", it.id, fault)]++
		p.published.drop(it.id)
		return nil
	}
	if err := p.gallery.add(&it); err != nil {
		return err
	}
	if err := p.vanish(it); err != nil {
		return err
	}
	return p.spool.add(it, taskGroup(p.Folder, it))
}

// digest sums up a file of the source.
func digest(root *os.Root, name string) (sum string, size int64, err error) {
	f, err := root.Open(name)
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}
