package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// bench is what the episodes of all modes work with.
type bench struct {
	world *World
	root  *os.Root // the folder of the episode, in which no program runs
	cases []Case
	input []byte // the workbook of the first case
}

// Close closes the folder of the episode.
func (b *bench) Close() error { return b.root.Close() }

// try runs a program on a case and leaves its output in the folder of the episode. failure says what is
// wrong with the program, for the model; then no output is left.
func (b *bench) try(ctx context.Context, code string, c Case) (failure string, err error) {
	input := b.input
	if c != b.cases[0] {
		if input, err = disk.ReadIn(ctx, b.root, c.Input, MaxWorkbook); err != nil {
			return "", fmt.Errorf("read %s of the task: %w", c.Input, err)
		}
	}
	f, err := newFolder()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := errors.Join(f.put(nameInput, input), f.put(nameProgram, []byte(code))); err != nil {
		return "", err
	}
	out, err := b.world.run(ctx, f, programArgs(), programTime)
	if err != nil || out.failure != "" {
		return out.report(), err
	}
	book, failure, err := f.take(ctx)
	if err != nil || failure != "" {
		return failure, err
	}
	return "", b.leave(c.Output, book)
}

// rest runs a program that has worked on the first case on the others. Where it fails there is no output, which
// is what checks see of it.
func (b *bench) rest(ctx context.Context, code string) error {
	for _, c := range b.cases[1:] {
		if _, err := b.try(ctx, code, c); err != nil {
			return err
		}
	}
	return nil
}

// leave writes an output for the checks.
func (b *bench) leave(name string, book []byte) error {
	if err := b.root.WriteFile(name, book, 0o600); err != nil {
		return fmt.Errorf("leave %s: %w", name, err)
	}
	return nil
}
