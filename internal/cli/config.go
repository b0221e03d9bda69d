package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
)

func configCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "config", Short: "Explain the configuration, or import one of SkillOpt"})
	c.AddCommand(configExplainCommand(a), configImportCommand(a))
	return c
}

// configExplainOptions are the flags of config explain.
type configExplainOptions struct {
	sets            []string
	changed, schema bool
}

func configExplainCommand(a *app) *cobra.Command {
	var o configExplainOptions
	c := &cobra.Command{
		Use:   "explain [KEY] [CONFIG_OR_DIR]",
		Short: "Show each key's value, class and origin, or all about one key",
		Long: `Show each key's value, its class and where the value came from. An operational key
may change when a run is resumed; an identity key is part of what the run is. Keys with
the mark untrusted may be set by tool calls and browsers.

With KEY, a key or a block of keys, all there is to know of it: what it does, what is
allowed, the default, and the value in force with the file and line, or the flag, that
it came from. With --changed only what differs from the default.

With --schema the JSON Schema of a config file, for editors.`,
		Example: `  skillopt config explain
  skillopt config explain gate.keep
  skillopt config explain edits my-skill --changed
  skillopt config explain --schema > config.schema.json
  skillopt config explain examples/quickstart --set train.epochs=2`,
		Args: atMost(2, "a key and a config at most"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	c.Flags().BoolVar(&o.changed, "changed", false, "only keys whose value differs from the default")
	c.Flags().BoolVar(&o.schema, "schema", false, "print the JSON Schema of a config file")
	addSet(c, &o.sets)
	return c
}

// run explains a config, or the defaults.
func (o *configExplainOptions) run(a *app, args []string) error {
	if o.schema {
		return printSchema(a.Out, args)
	}
	key, path, err := a.keyAndConfig(args)
	if err != nil {
		return err
	}
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	list := l.Explain()
	if key != "" {
		found, near := config.Find(list, key)
		if len(found) == 0 && near != "" {
			return usagef("there is no key %s; did you mean %s?", key, near)
		}
		if list = found; len(list) == 0 {
			return usagef("there is no key %s, and no such file; `skillopt config explain` lists the keys", key)
		}
	}
	if o.changed {
		list = slices.DeleteFunc(list, func(e config.Explanation) bool { return !e.Changed() })
	}
	switch {
	case a.json:
		return printJSON(a.Out, append([]config.Explanation{}, list...))
	case len(list) == 0:
		_, err = fmt.Fprintln(a.Out, "nothing differs from the defaults")
		return err
	case key != "":
		return writeKeys(a.printer(a.Out), list)
	}
	return a.writeExplanations(list)
}

// writeExplanations prints keys in columns, or where these are wider than the terminal one
// under another.
func (a *app) writeExplanations(list []config.Explanation) error {
	var wide bytes.Buffer
	if err := config.WriteExplanations(&wide, list); err != nil {
		return err
	}
	out := a.stdoutPrinter()
	fits := func(line string) bool { return utf8.RuneCountInString(line) < out.columns }
	if out.columns <= 0 || !slices.ContainsFunc(strings.Split(wide.String(), "\n"), func(l string) bool { return !fits(l) }) {
		_, err := a.Out.Write(wide.Bytes())
		return err
	}
	for _, e := range list {
		out.page(fmt.Sprintf("%s = %s\n", e.Key, e.Value))
		out.hang("    ", fmt.Sprintf("%s, %s", e.Origin, e.Class))
		out.hang("    ", e.About())
	}
	return nil
}

// keyAndConfig distinguishes a key from a config: that is a file, or a folder with config.yaml.
func (a *app) keyAndConfig(args []string) (key, path string, err error) {
	for _, arg := range args {
		full := a.absolute(arg)
		isConfig := exists(filepath.Join(full, "config.yaml")) || exists(full) && !isFolder(full) || strings.ContainsAny(arg, `/\`) || filepath.Ext(arg) == ".yaml" || filepath.Ext(arg) == ".yml"
		switch {
		case isConfig && path == "":
			path = arg
		case !isConfig && key == "":
			key = arg
		default:
			return "", "", usagef("config explain takes one key and one config, got %s; `skillopt config explain --help` shows examples", strings.Join(args, " and "))
		}
	}
	return key, path, nil
}

// writeKeys prints all there is to know of some keys.
func writeKeys(out printer, list []config.Explanation) error {
	classes := map[config.Class]string{
		config.Identity:    "identity: part of what a run is; another value is another run",
		config.Operational: "operational: may change when a run is resumed",
	}
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, e.Key)
		out.hang("  ", e.Doc)
		out.hang("  value    ", fmt.Sprintf("%s (%s)", e.Value, e.Origin))
		out.hang("  default  ", e.Default)
		kind := e.Type
		if e.Allowed != "" {
			kind += ": " + e.Allowed
		}
		out.hang("  allowed  ", kind)
		out.hang("  class    ", classes[e.Class])
		if e.Untrusted != "" {
			out.hang("  mark     ", "untrusted: a tool call or a browser may set it (docs/trust.md)")
		}
	}
	return nil
}

// printSchema prints the JSON Schema of a config file.
func printSchema(out io.Writer, args []string) error {
	if len(args) > 0 {
		return usagef("--schema is about every config file: name none, and no key")
	}
	s, err := config.Schema()
	if err != nil {
		return err
	}
	if _, err := out.Write(s); err != nil {
		return fmt.Errorf("print schema: %w", err)
	}
	return nil
}
