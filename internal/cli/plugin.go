package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/plugin"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

func pluginCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "plugin", Short: "Put skillopt into a coding agent: a skill, commands and the tools of `skillopt mcp`"})
	c.AddCommand(pluginInstallCommand(a), pluginRemoveCommand(a), pluginListCommand(a))
	return c
}

// pluginOptions are the flags of plugin install and plugin remove.
type pluginOptions struct{ project, dryRun, yes bool }

func pluginInstallCommand(a *app) *cobra.Command {
	var o pluginOptions
	c := &cobra.Command{
		Use:   "install HOST [-- FLAGS OF skillopt mcp]",
		Short: "Install the plugin in a coding agent, or show what would be written",
		Long: `Install the plugin in a coding agent: for the user, or with --project in this folder alone. Only plain
files are written, no program is started. What is written is shown first; on a terminal it asks, without
one --yes is needed.

A file that is there and is not of the plugin is not overwritten, and of the agent's settings all other
bytes stay. The same again writes nothing. A newer version replaces what is still as it was written.

The agent starts skillopt mcp from the PATH. What is behind -- goes to it: without that it calls no
model, starts no program and writes nothing. What an earlier installation was given stays.

In the folder of the user, agents that can touch a file when a session ends. skillopt sleep status
says so. No hook does anything else.`,
		Example: `  skillopt plugin install claude --dry-run
  skillopt plugin install codex
  skillopt plugin install gemini --project --yes
  skillopt plugin install claude -- --allow-calls 30`,
		RunE: func(cmd *cobra.Command, args []string) error {
			host, rest, err := o.split(cmd, args)
			if err != nil {
				return err
			}
			return o.install(cmd.Context(), a, host, rest)
		},
	}
	o.flags(c)
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be written, and write nothing")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "write without asking")
	return c
}

func pluginRemoveCommand(a *app) *cobra.Command {
	var o pluginOptions
	c := &cobra.Command{
		Use:   "remove HOST",
		Short: "Take the plugin out of a coding agent, with all that was written for it",
		Long: `Take the plugin out of a coding agent: the files that plugin install wrote, its entry in the agent's
settings, and the folders that were made for it and are empty. What was changed since is named, and stays.`,
		Example: `  skillopt plugin remove codex
  skillopt plugin remove gemini --project`,
		Args: exactly(1, "a coding agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			host, err := pluginHost(args[0])
			if err != nil {
				return err
			}
			return o.remove(cmd.Context(), a, host)
		},
	}
	o.flags(c)
	return c
}

func pluginListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the coding agents that the plugin can be installed in, and where it is",
		Long: `List the coding agents that the plugin can be installed in, with the version that it was tried with, and
where it is installed: for the user, and in this folder.`,
		Example: `  skillopt plugin list`,
		Args:    exactly(0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return listPlugins(cmd.Context(), a) },
	}
}

func (o *pluginOptions) flags(c *cobra.Command) {
	c.Flags().BoolVar(&o.project, "project", false, "in this folder, not for the user")
}

// split returns the host, and the arguments behind --; nil: there was no --.
func (o *pluginOptions) split(c *cobra.Command, args []string) (plugin.Host, []string, error) {
	var rest []string
	if n := c.ArgsLenAtDash(); n >= 0 {
		args, rest = args[:n], append([]string{}, args[n:]...)
	}
	if err := exactly(1, "a coding agent")(c, args); err != nil {
		return plugin.Host{}, nil, err
	}
	host, err := pluginHost(args[0])
	return host, rest, err
}

func pluginHost(name string) (plugin.Host, error) {
	var names []string
	for _, h := range plugin.Hosts() {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	hint := ""
	if near, ok := wording.Suggest(name, names); ok {
		hint = fmt.Sprintf(": did you mean %s?", near)
	}
	return plugin.Host{}, usagef("%q is no coding agent that the plugin is made for, allowed are %s%s", name, strings.Join(names, ", "), hint)
}

func (a *app) pluginOptions(project bool, args []string) (plugin.Options, error) {
	folders, err := config.UserFolders()
	o := plugin.Options{Home: folders.Home, Lookup: folders.Lookup, Version: a.version, Args: args}
	if project {
		o.Project = a.Dir
	}
	return o, err
}

// pluginDone is the result of plugin install and plugin remove.
type pluginDone struct {
	Host string `json:"host"`
	*plugin.Plan
	Done  bool     `json:"done"`
	Notes []string `json:"notes"`
}

func (o *pluginOptions) install(ctx context.Context, a *app, h plugin.Host, args []string) error {
	opts, err := a.pluginOptions(o.project, args)
	if err != nil {
		return err
	}
	p, err := h.Install(ctx, opts)
	if err != nil {
		return pluginError(err)
	}
	d := pluginDone{Host: h.Name, Plan: p, Notes: []string{}}
	if h.Tested == "" {
		d.Notes = append(d.Notes, fmt.Sprintf("not run here: the files follow what %s publishes of its formats", h.Name))
	}
	if _, err := exec.LookPath("skillopt"); err != nil {
		d.Notes = append(d.Notes, "there is no program skillopt in the PATH, and "+h.Name+" looks for it there")
	}
	if !a.json {
		if err := d.show(a); err != nil {
			return err
		}
	}
	if !o.dryRun && !p.Empty() {
		if err := o.ask(a); err != nil {
			return err
		}
		if err := p.Apply(); err != nil {
			return err
		}
		d.Done = true
	}
	if a.json {
		return printJSON(a.Out, d)
	}
	return d.end(a)
}

// ask has the user agree on a terminal.
func (o *pluginOptions) ask(a *app) error {
	if o.yes {
		return nil
	}
	if !a.Terminal {
		return usagef("nothing is written without a terminal to ask on; --yes writes what is shown, --dry-run shows it")
	}
	fmt.Fprint(a.printer(a.Err), "write this? [y/N] ")
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return usagef("nothing is written")
	}
	return nil
}

func (o *pluginOptions) remove(ctx context.Context, a *app, h plugin.Host) error {
	opts, err := a.pluginOptions(o.project, nil)
	if err != nil {
		return err
	}
	p, err := h.Remove(ctx, opts)
	if err != nil {
		return pluginError(err)
	}
	if err := p.Apply(); err != nil {
		return err
	}
	d := pluginDone{Host: h.Name, Plan: p, Done: true, Notes: []string{}}
	if a.json {
		return printJSON(a.Out, d)
	}
	return errors.Join(d.show(a), d.end(a))
}

// show prints what is written, with the text of what goes into files of others.
func (d pluginDone) show(a *app) error {
	out := a.results()
	for _, c := range d.Changes {
		switch {
		case c.Why != "":
			fmt.Fprintf(out, "%s %s: %s\n", c.Action, a.relative(c.Path), c.Why)
		case c.Action == plugin.Add:
			fmt.Fprintf(out, "%s %s:\n%s\n", c.Action, a.relative(c.Path), shown(c.Text))
		case c.Text != "" && c.Action != plugin.TakeOut:
			fmt.Fprintf(out, "%s %s (%d bytes)\n", c.Action, a.relative(c.Path), len(c.Text))
		default:
			fmt.Fprintf(out, "%s %s\n", c.Action, a.relative(c.Path))
		}
	}
	for _, n := range d.Notes {
		out.line(n)
	}
	return nil
}

// shown indents a text.
func shown(text string) string {
	return "    " + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n    ")
}

func (d pluginDone) end(a *app) error {
	out := a.results()
	switch {
	case d.Empty():
		out.line("nothing to write: the plugin is installed as it is")
	case !d.Done:
		out.line("nothing was written; --json has all texts")
	}
	return nil
}

// pluginError is an error of the caller where a file is in the way.
func pluginError(err error) error {
	var own *plugin.Error
	if errors.As(err, &own) {
		return usagef("%v", err)
	}
	return err
}

// pluginRow is a host in plugin list.
type pluginRow struct {
	Host    string `json:"host"`
	Tested  string `json:"tested"`  // version, "" = not run here
	User    string `json:"user"`    // version that is installed, "" = none
	Project string `json:"project"` // the same, in this folder
}

func listPlugins(ctx context.Context, a *app) error {
	user, err := a.pluginOptions(false, nil)
	if err != nil {
		return err
	}
	project := user
	project.Project = a.Dir
	var rows []pluginRow
	for _, h := range plugin.Hosts() {
		rows = append(rows, pluginRow{Host: h.Name, Tested: h.Tested, User: h.Installed(ctx, user), Project: h.Installed(ctx, project)})
	}
	if a.json {
		return printJSON(a.Out, rows)
	}
	w := tabwriter.NewWriter(a.results(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "host\ttried with\tuser\tthis folder")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Host, cmp.Or(r.Tested, "not run here"), cmp.Or(r.User, "-"), cmp.Or(r.Project, "-"))
	}
	return w.Flush()
}
