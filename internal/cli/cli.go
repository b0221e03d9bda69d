// Package cli is the command line: flags in, library calls, text out.
//
// A command is a file: a struct with its flags (evalOptions), a constructor with its
// help (evalCommand) and a method that carries it out (run). Next to the commands,
// cli.go holds what all of them share, session.go what those share that carry out
// tasks, load.go how configs are found, printer.go how text is laid out, screen.go
// what keeps text from steering a terminal, and output.go errors and exit codes.
//
// It knows nothing about how training works: what it shows comes from the
// library's results and events.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, args []string, s Streams, version string) int {
	out, errs := onScreen(s.Out), onScreen(s.Err)
	s.Out, s.Err = out, errs
	defer func() { _ = errs.end() }() // there is nowhere left to report it
	app := &app{Streams: s, version: version}
	err := execute(ctx, rootCommand(app), s, args)
	perr := out.end()
	if err == nil && perr != nil {
		err = fmt.Errorf("print result: %w", perr)
	}
	if err == nil {
		return exitOK
	}
	var shown *shownError
	// The reader of the output has gone, as head does when it has enough: no one is to be informed.
	gone := errors.Is(perr, syscall.EPIPE) && errors.Is(err, syscall.EPIPE)
	if !errors.As(err, &shown) && !gone {
		printError(app.printer(s.Err), err, app.json || asksForJSON(args))
	}
	return exitCode(err)
}

// Root returns the tree of the commands.
func Root() *cobra.Command { return rootCommand(&app{}) }

// asksForJSON reports whether a command line says --json: one that is broken before it
// says so is answered so too.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// shownError is an error whose text the command has printed itself.
type shownError struct{ error }

func (e *shownError) Unwrap() error { return e.error }

// app is what all commands share: where they read and write, and the flags that every
// command has.
type app struct {
	Streams
	version string
	json    bool   // one JSON document instead of text
	color   string // auto, always or never
	events  string // file of the events, "-" = standard output, "" = none

	interrupted bool // the user has stopped the work of this command

	lookup func(name string) (string, bool) // reads variables for profiles; nil: those of the process
	guard  *config.Guard                    // bounds the configurations that commands load, but for profiles; nil: the caller is trusted
	used   func(event.Progress)             // takes what an operation has used; nil: no one counts
	hear   event.Sink                       // takes events instead of the view of progress; nil: the view does
}

// execute runs one command line of a tree.
func execute(ctx context.Context, root *cobra.Command, s Streams, args []string) error {
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	return root.ExecuteContext(ctx)
}

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "skillopt",
		Short: "Train skill documents the way neural networks are trained",
		Long: `skillopt trains skill documents: the Markdown instructions (SKILL.md) that steer
an agent whose weights stay frozen. A target model carries out your tasks with the
skill, an optimizer model reads the scored trajectories and proposes edits, and a
gate on held-out tasks decides what stays.

` + exitHelp,
		Example: `  skillopt train examples/quickstart        train the example, without a key
  skillopt init my-skill                    write a working example to change
  skillopt train my-skill                   train it; again: resume
  skillopt runs show runs/my-skill-1        what happened, step by step`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(helpCommand(a))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s; `%s --help` lists the flags", flagProblem(err), c.CommandPath())
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document instead of text, an error on standard error too")
	root.PersistentFlags().StringVar(&a.color, "color", colorAuto, "colours in diffs: auto (on a terminal, unless NO_COLOR is set), always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkColor() }
	root.PersistentFlags().StringVar(&a.events, "events", "", "write one JSON line an event to this file; - is standard output")
	group(root)
	showVersion := root.Flags().BoolP("version", "v", false, "print the version; with --json a document")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *showVersion {
			return printVersion(a)
		}
		return c.Help()
	}
	root.AddCommand(trainCommand(a), tryCommand(a), evalCommand(a), rescoreCommand(a), compareCommand(a), ablateCommand(a), pruneCommand(a), initCommand(a), doctorCommand(a), envCommand(a), gatewayCommand(a),
		skillCommand(a), tasksCommand(a), runsCommand(a), configCommand(a), pricesCommand(a), sleepCommand(a), serveCommand(a), mcpCommand(a), pluginCommand(a), benchCommand(a), queuedCommand(a))
	a.completions(root)
	return root
}

// invalidFlag is how the library says that a flag's value is of another kind.
var invalidFlag = pattern.New(`(?s)^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv\.Parse(Int|Float|Bool): `)

// flagProblem says what is wrong with a flag, and not which function could not read it.
func flagProblem(err error) string {
	m := invalidFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	allowed := map[string]string{"Int": "a whole number", "Float": "a number", "Bool": "true or false"}[m[3]]
	return fmt.Sprintf("%s: found %s, allowed: %s", m[2], m[1], allowed)
}

// group makes a command that only holds others refuse what it does not know,
// and show its help when it is called alone.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		near := ""
		if s := c.SuggestionsFor(args[0]); len(s) > 0 {
			near = fmt.Sprintf(" (did you mean %s?)", strings.Join(s, " or "))
		}
		return usagef("%s has no command %q%s; `%s --help` lists them", c.CommandPath(), args[0], near, c.CommandPath())
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.SuggestionsMinimumDistance = 2
	return c
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s takes %s, got %s; `%s --help` shows examples", c.CommandPath(), what, wording.Plural(len(args), "argument", "arguments"), c.CommandPath())
		}
		return nil
	}
}

func atMost(n int, what string) cobra.PositionalArgs { return rangeArgs(0, n, what) }

func rangeArgs(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s takes %s, got %s; `%s --help` shows examples", c.CommandPath(), what, wording.Plural(len(args), "argument", "arguments"), c.CommandPath())
		}
		return nil
	}
}
