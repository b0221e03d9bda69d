// Command lab measures methods of skillopt in simulated worlds whose truth is known: what
// training gains, what pruning removes, how often certificates err. No model is called and
// nothing is paid. It prints tables and writes pages; it knows nothing about runs.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is what all commands share.
type app struct {
	out  io.Writer
	json bool
}

// usageError says which argument cannot be used.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run carries out a command line and returns its exit code: 0 ok, 1 failed, 2 bad input,
// 130 stopped.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	c := command(&app{out: out})
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(errs)
	err := c.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(errs, "stopped")
		return 130
	}
	fmt.Fprintf(errs, "lab: %v\n", err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// command builds the program's commands.
func command(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Measure methods in simulated worlds whose truth is known",
		Long: `Measure methods in simulated worlds whose truth is known. No model is called
and nothing is paid. What the lab says is about methods, never about a real model.`,
		SilenceErrors: true, SilenceUsage: true,
	}
	c.PersistentFlags().BoolVar(&a.json, "json", false, "print the result as JSON")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(loopCommand(a), fewCommand(a), certificateCommand(a), pruneCommand(a), baselinesCommand(a), curriculumCommand(a))
	for _, sub := range c.Commands() {
		sub.Args = noArguments
	}
	return c
}

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments; `%s --help` shows examples", c.CommandPath(), c.CommandPath())
	}
	return nil
}

// files are the files that a command is asked to write; "": none.
type files struct {
	csv, svg, page string
	figure         string // that the page shows, if it shows one
}

// texts are what is in them.
type texts struct{ csv, svg, page string }

// addFigureFlags adds the flags for files that figures are written to.
func addFigureFlags(c *cobra.Command, f *files) {
	c.Flags().StringVar(&f.csv, "csv", "", "write the figures to this file as CSV")
	c.Flags().StringVar(&f.svg, "svg", "", "draw the figures into this file as SVG")
}

// addPageFlags adds the flags for a page and its figures.
func addPageFlags(c *cobra.Command, f *files) {
	c.Flags().StringVar(&f.csv, "csv", "", "write the figures to this file as CSV")
	c.Flags().StringVar(&f.page, "out", "", "write the page with all figures to this file")
}

// write writes the files that a command is asked to write.
func (f files) write(t texts) error {
	for _, file := range []struct{ path, text string }{{f.page, t.page}, {f.figure, t.svg}, {f.csv, t.csv}, {f.svg, t.svg}} {
		if file.path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file.path), 0o755); err != nil {
			return fmt.Errorf("write figures: %w", err)
		}
		if err := os.WriteFile(file.path, []byte(file.text), 0o644); err != nil {
			return fmt.Errorf("write figures: %w", err)
		}
	}
	return nil
}

// table is a result with figures.
type table interface{ CSV(w io.Writer) error }

// csvOf returns the figures of a result as CSV.
func csvOf(r table) (string, error) {
	var b bytes.Buffer
	err := r.CSV(&b)
	return b.String(), err
}

// report is what a study results in.
type report interface {
	table
	Markdown(command string) string
	Text() string
}

// printStudy writes the files that a study was asked for, and prints its result. command
// makes the committed page.
func (a *app) printStudy(r report, command string, f files) error {
	csv, err := csvOf(r)
	if err != nil {
		return err
	}
	if err := f.write(texts{csv: csv, page: r.Markdown(command)}); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	_, err = io.WriteString(a.out, r.Text())
	return err
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
