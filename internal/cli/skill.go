package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

func skillCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "skill", Short: "Check a skill"})
	c.AddCommand(skillLintCommand(a))
	return c
}

// skillLintOptions are the flags of skill lint.
type skillLintOptions struct{ strict bool }

func skillLintCommand(a *app) *cobra.Command {
	var o skillLintOptions
	c := &cobra.Command{
		Use:   "lint DIR",
		Short: "Check a skill against the Agent Skills standard",
		Long: `Check a skill against the Agent Skills standard, and for what fails when an agent
uses it: names, lengths and fields of the front matter, links to files that are not
there, scripts that cannot be started, secrets, a learned region that is none. A Markdown
document of another name that has no front matter, such as CLAUDE.md, is checked for the
last two. No model is called. Every load of a
skill warns of links, scripts and secrets too.

Exit code 2 with an error, with --strict with a warning as well.`,
		Example: `  skillopt skill lint my-skill
  skillopt skill lint my-skill --strict --json
  skillopt skill lint CLAUDE.md`,
		Args: exactArgs(1, "a skill directory or its SKILL.md"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().BoolVar(&o.strict, "strict", false, "fail with warnings too")
	return c
}

// skillReport is the result of skill lint.
type skillReport struct {
	Skill    string          `json:"skill"`
	Files    int             `json:"files"`
	Findings []skill.Finding `json:"findings"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
}

// run checks a skill.
func (o *skillLintOptions) run(ctx context.Context, a *app, name string) error {
	path := filepath.Clean(a.absolute(name))
	s, err := session.ReadSkill(ctx, path, &config.Loaded{Config: config.Default(), Guard: a.guard})
	if err != nil {
		return usagef("%s: %v", name, err)
	}
	r := skillReport{Skill: name, Files: len(s.Files()), Findings: append([]skill.Finding{}, findings(s, path)...)}
	for _, f := range r.Findings {
		if f.Severity == skill.LintError {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	if a.json {
		err = printJSON(a.Out, r)
	} else {
		err = printFindings(a.printer(a.Out), r)
	}
	if err == nil && (r.Errors > 0 || o.strict && r.Warnings > 0) {
		err = usagef("%s has %s and %s", name, wording.Plural(r.Errors, "error", "errors"), wording.Plural(r.Warnings, "warning", "warnings"))
	}
	return err
}

// findings returns the findings about a skill, or about a document that is by itself.
func findings(s skill.Skill, path string) []skill.Finding {
	folder := session.SkillFolder(path)
	if doc, err := skill.Parse(s.Text()); folder == "" && filepath.Base(path) != skill.Main && err == nil && doc.Head == "" {
		return skill.LintDocument(s.Text(), filepath.Base(path))
	}
	return skill.Lint(s, folder)
}

func printFindings(out printer, r skillReport) error {
	for _, f := range r.Findings {
		where := oneLine(f.File)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		fmt.Fprintf(out, "%s: %s: %s (%s)\n", where, f.Severity, oneLine(f.Message), f.Rule)
	}
	_, err := fmt.Fprintf(out, "%s, %s, %s\n", wording.Plural(r.Files, "file", "files"), wording.Plural(r.Errors, "error", "errors"), wording.Plural(r.Warnings, "warning", "warnings"))
	return err
}
