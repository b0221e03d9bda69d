package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// firstCommands returns the commands that a new user needs, in their order; `help more` lists the others.
func firstCommands() []string {
	return []string{"init", "try", "train", "runs", "serve", "compare", "sleep", "doctor"}
}

// helpMore is the topic that lists the other commands.
const helpMore = "more"

// help prints the help of a command in the width of the terminal.
func (a *app) help(c *cobra.Command, _ []string) {
	text := strings.TrimRight(cmp.Or(c.Long, c.Short), " \n") + "\n\n"
	if c.HasParent() {
		a.stdoutPrinter().page(text + c.UsageString())
		return
	}
	a.stdoutPrinter().page(text + "Examples:\n" + c.Example + "\n\nCommands:\n" + listCommands(c, firstCommands()) +
		"\n`skillopt help more` lists the others, `skillopt COMMAND --help` says more of one.\n\nFlags:\n" + c.Flags().FlagUsages())
}

// listCommands lists commands with what they do.
func listCommands(root *cobra.Command, names []string) string {
	var b strings.Builder
	for _, name := range names {
		if c, _, err := root.Find([]string{name}); err == nil && c != root {
			fmt.Fprintf(&b, "  %-12s%s\n", name, c.Short)
		}
	}
	return b.String()
}

// helpCommand returns the command `help`, which knows one topic that is no command.
func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | more]",
		Short: "Help about a command, or the list of the commands that a first look leaves out",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			if len(args) == 1 && args[0] == helpMore {
				var others []string
				for _, sub := range root.Commands() {
					if !slices.Contains(firstCommands(), sub.Name()) && !sub.Hidden {
						others = append(others, sub.Name())
					}
				}
				a.stdoutPrinter().page(listCommands(root, others))
				return nil
			}
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q; `skillopt help` and `skillopt help more` list them", strings.Join(args, " "))
			}
			return found.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			at, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := []string{helpMore}
			for _, sub := range at.Commands() {
				names = append(names, sub.Name())
			}
			return a.offer(names, word)
		},
	}
}
