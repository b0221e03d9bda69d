package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/cli"
)

// TestReference holds the page of all keys and commands against the program, which writes it.
func TestReference(t *testing.T) {
	t.Parallel()
	want := "# Reference\n\nWritten by the program (`go test ./docs -update`). Each key is for `config.yaml` or `--set KEY=VALUE`;\n`config explain` shows values in force.\n\n## Keys\n\n" +
		keyTable() + "\n## Commands\n" + commandList(cli.Root())
	if *update {
		write(t, "reference.md", want)
	}
	page, _ := os.ReadFile("reference.md")
	if got := strings.ReplaceAll(string(page), "\r\n", "\n"); got != want {
		t.Error("reference.md is stale: run go test ./docs -update")
	}
}

// keyTable lists the keys; those that each model has are listed once.
func keyTable() string {
	var body [][]string
	for _, k := range config.Default().Keys() {
		path := k.Path
		switch {
		case strings.HasPrefix(path, "models.optimizer."), strings.HasPrefix(path, "models.judge."):
			continue
		case strings.HasPrefix(path, "models.target."):
			path = "models.ROLE." + strings.TrimPrefix(path, "models.target.")
		}
		operational := ""
		if k.Class == config.Operational {
			operational = "may change"
		}
		body = append(body, []string{code(path), "`" + strings.ReplaceAll(k.Value, "|", "\\|") + "`", strings.ReplaceAll(k.Doc, "|", "\\|"), operational})
	}
	return "ROLE is `target`, `optimizer` or `judge`. *May change*: between the sessions of a run.\n\n" + rows([]string{"key", "default", "meaning", ""}, body)
}

// commandList lists the commands with their flags, in the order of the program.
func commandList(c *cobra.Command) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		if sub.Runnable() {
			fmt.Fprintf(&b, "\n### %s\n\n%s.\n", sub.CommandPath(), strings.TrimSuffix(sub.Short, "."))
			fmt.Fprintf(&b, "\n```text\n%s\n%s```\n", sub.UseLine(), sub.LocalNonPersistentFlags().FlagUsages())
		}
		b.WriteString(commandList(sub))
	}
	return b.String()
}
