package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/importer"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

func (a *app) configImport() *cobra.Command {
	var out string
	var overrides []string
	c := &cobra.Command{
		Use:   "import FILE [KEY=VALUE...]",
		Short: "Convert a configuration of SkillOpt (Python)",
		Long: `Convert a YAML configuration of SkillOpt, with the files that it builds on, and say
what becomes of each of its keys. The result goes to standard output and the report
to standard error; with --out the result goes to a file and the report to standard
output. Keys of models are never copied: the report names the variables that they
belong in.`,
		Example: `  skillopt config import configs/searchqa/default.yaml --out config.yaml
  skillopt config import old.yaml --cfg-options train.num_epochs=2 env.workers=8`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("config import wants one file")
			}
			for _, arg := range args[1:] {
				if !strings.Contains(arg, "=") {
					return usagef("config import wants one file, found also %q", arg)
				}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			// As there, one --cfg-options may be followed by several settings.
			return a.importConfig(args[0], out, append(overrides, args[1:]...))
		},
	}
	c.Flags().StringVar(&out, "out", "", "the file to write; one that exists is never overwritten")
	c.Flags().StringArrayVar(&overrides, "cfg-options", nil, "override keys of the source: section.key=value ...")
	return c
}

func (a *app) importConfig(file, out string, overrides []string) error {
	if out != "" {
		if _, err := os.Lstat(a.absolute(out)); err == nil {
			return usagef("%s is there already; choose another file with --out", out)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for a file to keep: %w", err)
		}
	}
	text, report, err := a.imported(file, out, overrides)
	if err != nil {
		return err
	}
	if out != "" {
		if err := run.WriteExport(a.absolute(out), text); err != nil {
			return err
		}
	}
	return a.printImport(out, text, report)
}

// imported reads and converts. What is wrong with the source is bad input.
func (a *app) imported(file, out string, overrides []string) ([]byte, importer.Report, error) {
	cfg, err := importer.Load(readSource, a.absolute(file))
	if err == nil {
		cfg, err = importer.Override(cfg, overrides)
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
		Rebase: func(path string) string { return a.rebased(path, out) },
	})
	if err != nil {
		return nil, importer.Report{}, fmt.Errorf("import %s: %w", file, err)
	}
	return text, report, nil
}

// readSource reads a file. _base_ may name a device.
func readSource(path string) ([]byte, error) {
	return userfile.Read(context.Background(), path, config.MaxFile)
}

// rebased turns a path from the working directory into one from the folder of
// the result, as paths in a configuration are.
func (a *app) rebased(path, out string) string {
	if out == "" {
		return path
	}
	rel, err := filepath.Rel(filepath.Dir(a.absolute(out)), a.absolute(path))
	if err != nil {
		return a.absolute(path)
	}
	return rel
}

func (a *app) printImport(out string, text []byte, report importer.Report) error {
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

// writeReport prints the rows of an import by what became of them, the good news
// first.
func writeReport(w io.Writer, report importer.Report) error {
	var b strings.Builder
	for _, part := range []struct {
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
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s (%d):\n", part.title, len(part.rows))
		for _, row := range part.rows {
			fmt.Fprintf(&b, "  %s\n", oneLine(reportLine(row)))
		}
	}
	_, err := io.WriteString(w, printable(b.String()))
	return err
}

// reportLine is "train.num_epochs -> train.epochs (note)".
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
