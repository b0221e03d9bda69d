package cli

import (
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
	c := group(&cobra.Command{Use: "plugin", Short: "Put skillopt into a coding agent: a skill, commands, and the tools of skillopt mcp"})
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
		Long: `Install the plugin in a coding agent: for the user, or with --project in this folder. Only plain files
are written, and no program is started. They are shown first; on a terminal it asks, without one --yes
is needed.

What is there and is not of the plugin is not overwritten, and all else in the agent's settings stays as
it is. The same again writes nothing. A newer version replaces what was not changed since.

The agent starts skillopt mcp, which calls no model, starts no program and writes nothing unless the flags
after -- allow it. Those of an earlier installation stay. Where the agent can, a hook touches a file when
a session ends, and skillopt sleep status says so; it does nothing else.`,
		Example: `  skillopt plugin install claude --dry-run
  skillopt plugin install gemini --project --yes
  skillopt plugin install codex -- --allow-calls 30`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var flags []string // nil: no --
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args, flags = args[:n], append([]string{}, args[n:]...)
			}
			return o.run(cmd, a, args, flags, plugin.Host.Install)
		},
	}
	c.Flags().BoolVar(&o.project, "project", false, "in this folder, not for the user")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be written, and write nothing")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "write without asking")
	return c
}

func pluginRemoveCommand(a *app) *cobra.Command {
	o := pluginOptions{yes: true}
	c := &cobra.Command{
		Use:   "remove HOST",
		Short: "Take the plugin out of a coding agent, with all that was written for it",
		Long: `Take the plugin out of a coding agent: the files that plugin install wrote, its entry in the agent's
settings, and the folders that were made for it and are empty. What was changed since stays, and is named.`,
		Example: `  skillopt plugin remove codex
  skillopt plugin remove gemini --project`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, a, args, nil, plugin.Host.Remove) },
	}
	c.Flags().BoolVar(&o.project, "project", false, "in this folder, not for the user")
	return c
}

// pluginDone is the result of plugin install and plugin remove.
type pluginDone struct {
	Host string `json:"host"`
	*plugin.Plan
	Done  bool     `json:"done"`
	Notes []string `json:"notes"`
}

// run shows a plan and carries it out.
func (o *pluginOptions) run(cmd *cobra.Command, a *app, args, flags []string, plan func(plugin.Host, context.Context, plugin.Options) (*plugin.Plan, error)) error {
	if err := exactArgs(1, "a coding agent")(cmd, args); err != nil {
		return err
	}
	h, err := pluginHost(args[0])
	if err != nil {
		return err
	}
	opts, err := a.pluginOptions(o.project)
	if err != nil {
		return err
	}
	opts.Args = flags
	p, err := plan(h, cmd.Context(), opts)
	var inTheWay *plugin.Error
	if errors.As(err, &inTheWay) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	d := pluginDone{Host: h.Name, Plan: p, Notes: []string{}}
	if cmd.Name() == "install" {
		d.Notes = pluginNotes(h)
	}
	if !a.json {
		d.show(a)
	}
	if !o.dryRun && !p.Empty() {
		if err := a.sure(o.yes, "writes what is shown", "write this? [y/N] ", "nothing is written"); err != nil {
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
	return nil
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
	return plugin.Host{}, usagef("there is no plugin for %q, allowed are %s%s", name, strings.Join(names, ", "), hint)
}

func (a *app) pluginOptions(project bool) (plugin.Options, error) {
	folders, err := config.UserFolders()
	o := plugin.Options{Home: folders.Home, Lookup: folders.Lookup, Version: a.version}
	if project {
		o.Project = a.Dir
	}
	return o, err
}

// pluginNotes returns what to know of a host's plugin.
func pluginNotes(h plugin.Host) []string {
	notes := []string{}
	if h.Tested == "" {
		notes = append(notes, fmt.Sprintf("not run here: the files follow what %s publishes of its formats", h.Name))
	}
	if _, err := exec.LookPath("skillopt"); err != nil {
		notes = append(notes, h.Name+" looks for the program skillopt in the PATH, which has none")
	}
	return notes
}

// show prints the plan, with the text of what goes into settings of the host.
func (d pluginDone) show(a *app) {
	out := a.results()
	for _, c := range d.Changes {
		more := ""
		switch {
		case c.Why != "":
			more = ": " + c.Why
		case c.Action == plugin.Add:
			more = ":\n    " + strings.ReplaceAll(strings.Trim(c.Text, "\n"), "\n", "\n    ")
		case c.Text != "":
			more = fmt.Sprintf(" (%d bytes)", len(c.Text))
		}
		out.line(fmt.Sprintf("%s %s%s", c.Action, a.relative(c.Path), more))
	}
	if d.Empty() {
		out.line("nothing to write: the plugin is as it was installed")
	}
	for _, n := range d.Notes {
		out.line(n)
	}
}

func pluginListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the coding agents that have a plugin, and where it is installed",
		Long: `List the coding agents that have a plugin, the version that it was tried with, and the version that is
installed for the user and in this folder.`,
		Example: `  skillopt plugin list`,
		Args:    exactArgs(0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return listPlugins(cmd.Context(), a) },
	}
}

// pluginRow is a host in plugin list.
type pluginRow struct {
	Host    string `json:"host"`
	Tried   string `json:"tried"`   // version of the host, "" = not run here
	User    string `json:"user"`    // version of the plugin, "" = none
	Project string `json:"project"` // the same, in this folder
}

func listPlugins(ctx context.Context, a *app) error {
	user, err := a.pluginOptions(false)
	if err != nil {
		return err
	}
	project := user
	project.Project = a.Dir
	var rows []pluginRow
	for _, h := range plugin.Hosts() {
		rows = append(rows, pluginRow{Host: h.Name, Tried: h.Tested, User: h.Version(ctx, user), Project: h.Version(ctx, project)})
	}
	if a.json {
		return printJSON(a.Out, rows)
	}
	w := tabwriter.NewWriter(a.results(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "host\ttried with\tuser\tthis folder")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Host, cmp.Or(r.Tried, "not run here"), cmp.Or(r.User, "-"), cmp.Or(r.Project, "-"))
	}
	return w.Flush()
}
