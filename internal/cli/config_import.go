package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/importer"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// configImportOptions are the flags of config import.
type configImportOptions struct {
	out       string
	overrides []string
}

func configImportCommand(a *app) *cobra.Command {
	var o configImportOptions
	c := &cobra.Command{
		Use:   "import FILE [KEY=VALUE...]",
		Short: "Convert a configuration of SkillOpt (Python)",
		Long: `Convert a YAML configuration of SkillOpt, with the files that it builds on, and say
what happens to each of its keys. The result goes to standard output and the report
to standard error; with --out the result goes to a file and the report to standard
output. Keys of models are never copied: the report names the variables that they
belong in.`,
		Example: `  skillopt config import configs/searchqa/default.yaml --out config.yaml
  skillopt config import old.yaml --cfg-options train.num_epochs=2 env.workers=8`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("config import reads one file, and none is named: skillopt config import old.yaml --out config.yaml")
			}
			for _, arg := range args[1:] {
				if !strings.Contains(arg, "=") {
					return usagef("config import reads one file, found also %q; settings of it are key=value after --cfg-options", arg)
				}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			// As there, one --cfg-options may be followed by several settings.
			o.overrides = append(o.overrides, args[1:]...)
			return o.run(a, args[0])
		},
	}
	c.Flags().StringVar(&o.out, "out", "", "the file to write; one that exists is never overwritten")
	c.Flags().StringArrayVar(&o.overrides, "cfg-options", nil, "override keys of the source: section.key=value ...")
	return c
}

// run converts a config, and writes or prints it.
func (o *configImportOptions) run(a *app, file string) error {
	if err := checkOut(a, o.out); err != nil {
		return err
	}
	text, report, err := o.convert(a, file)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := run.WriteExport(a.absolute(o.out), text); err != nil {
			return err
		}
	}
	return o.print(a, text, report)
}

// convert reads and converts. What is wrong with the source is bad input.
func (o *configImportOptions) convert(a *app, file string) ([]byte, importer.Report, error) {
	cfg, err := importer.Load(readSource, a.absolute(file))
	if err == nil {
		cfg, err = importer.Override(cfg, o.overrides)
	}
	if err != nil {
		return nil, importer.Report{}, usagef("import %s: %v", file, err)
	}
	schema, err := config.Schema()
	if err != nil {
		return nil, importer.Report{}, err
	}
	target, err := importer.NewTarget(schema)
	if err != nil {
		return nil, importer.Report{}, err
	}
	text, report, err := importer.Import(cfg, importer.Options{
		Target: target,
		Source: filepath.ToSlash(file),
		Rebase: func(path string) string { return o.rebasePath(a, path) },
	})
	if err != nil {
		return nil, importer.Report{}, fmt.Errorf("import %s: %w", file, err)
	}
	return text, report, nil
}

// readSource reads a file. _base_ may name a device, or a file whose lines are a secret.
func readSource(path string) ([]byte, error) {
	data, err := disk.Read(context.Background(), path, config.MaxFile)
	if err == nil {
		err = importer.Recognise(path, data)
	}
	return data, err
}

// rebasePath turns a path from the working directory into one from the folder of
// the result, as paths in a configuration are.
func (o *configImportOptions) rebasePath(a *app, path string) string {
	if o.out == "" {
		return path
	}
	rel, err := filepath.Rel(filepath.Dir(a.absolute(o.out)), a.absolute(path))
	if err != nil {
		return a.absolute(path)
	}
	return rel
}

// print prints the result, unless it is in a file, and the report.
func (o *configImportOptions) print(a *app, text []byte, report importer.Report) error {
	out := o.out
	if a.json {
		doc := map[string]any{"config": string(text), "report": report}
		if out != "" {
			doc["file"] = a.absolute(out)
		}
		return printJSON(a.Out, doc)
	}
	to := a.Out
	if out == "" {
		if _, err := a.Out.Write(text); err != nil {
			return fmt.Errorf("print configuration: %w", err)
		}
		to = a.Err
	} else {
		fmt.Fprintf(a.Out, "wrote %s\n", out)
	}
	if err := writeReport(to, report); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	if out != "" {
		if _, err := fmt.Fprintf(a.Out, "next: skillopt doctor %s\n", out); err != nil {
			return fmt.Errorf("print report: %w", err)
		}
	}
	return nil
}

// writeReport prints the rows of an import by outcome, those that were
// taken over first.
func writeReport(w io.Writer, report importer.Report) error {
	var b strings.Builder
	for _, section := range []struct {
		title string
		rows  []importer.Row
	}{
		{"taken over", report.Of(importer.Taken)},
		{"added, where the source leaves a default that is not ours", report.Added},
		{"not needed", report.Of(importer.NotNeeded)},
		{"no counterpart", report.Of(importer.NoCounterpart)},
		{"a value that is not allowed here", report.Of(importer.Unusable)},
		{"unknown to SkillOpt", report.Of(importer.Unknown)},
	} {
		if len(section.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s (%d):\n", section.title, len(section.rows))
		for _, row := range section.rows {
			fmt.Fprintf(&b, "  %s\n", oneLine(reportLine(row)))
		}
	}
	_, err := io.WriteString(w, printable(b.String()))
	return err
}

// reportLine returns a row as "train.num_epochs -> train.epochs (note)".
func reportLine(row importer.Row) string {
	line := row.Key
	if len(row.To) > 0 {
		line = strings.TrimPrefix(line+" -> ", " -> ") + strings.Join(row.To, ", ")
	}
	if row.Note != "" {
		line += " (" + row.Note + ")"
	}
	return line
}
