package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file loads what command lines name: configs, and task files and skills that
// represent one.

// addSet adds the flag that overrides keys of a config.
func addSet(c *cobra.Command, sets *[]string) {
	c.Flags().Var(override{sets: sets, kind: "stringArray"}, "set", "override a key: a.b=value (may be given more than once)")
}

// addLimit adds the flag that overrides tasks.limit.
func addLimit(c *cobra.Command, sets *[]string) {
	c.Flags().Var(override{sets: sets, before: "tasks.limit=", kind: "int"}, "limit", "the first N tasks of each split, as tasks.limit; 0: all")
}

// override is a flag that overrides keys of a config: before and its value are one setting.
type override struct {
	sets         *[]string
	before, kind string
}

// Set adds an override to those of the command line.
func (o override) Set(text string) error {
	*o.sets = append(*o.sets, o.before+text)
	return nil
}

// String returns "", since the default is no override.
func (o override) String() string { return "" }

// Type returns what help shows behind the flag.
func (o override) Type() string { return o.kind }

// loadConfig reads a config with the settings of the command line over it.
func (a *app) loadConfig(path string, sets []string, flags []config.Setting) (*config.Loaded, error) {
	settings := flags
	for _, text := range sets {
		s, err := config.ParseSetting(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	return interruptible(context.Background(), a.Signals, func(ctx context.Context) (*config.Loaded, error) {
		return config.LoadContext(ctx, config.Options{Path: path, Settings: settings, Dir: a.Dir, Lookup: a.lookup, Guard: a.guard})
	})
}

// loadConfigOrTasks reads a config, or makes one of a task file alone.
func (a *app) loadConfigOrTasks(path string, sets []string) (*config.Loaded, error) {
	full := a.absolute(path)
	if err := a.guard.Inside(full); err != nil {
		return nil, err
	}
	st, err := os.Stat(full)
	if err != nil {
		return nil, usagef("%s: %v; give a config, a directory with config.yaml, or a task file", path, stripPath(err))
	}
	isTasks := false
	if st.IsDir() {
		_, err := os.Stat(filepath.Join(full, "config.yaml"))
		isTasks = err != nil
	} else if ext := strings.ToLower(filepath.Ext(full)); ext != ".yaml" && ext != ".yml" || isList(full) {
		isTasks = true
	}
	if !isTasks {
		return a.loadConfig(full, sets, nil)
	}
	return a.loadConfig("", sets, []config.Setting{{Key: "tasks.path", Value: full, Origin: "argument"}})
}

// isList reports whether a YAML file holds a list, as tasks do, by itself or
// under tasks, and not the mapping of a config.
func isList(path string) bool {
	f, err := disk.Open(context.Background(), path, task.MaxFile)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line != "" && line != "---" && line != "tasks:" && !strings.HasPrefix(line, "#") {
			return line == "-" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "[")
		}
	}
	return false
}

// modelSettings returns the settings of a role that PROVIDER/MODEL represents. The text can also be
// MODEL@URL of a server without a name, or the login of a coding agent (claude-cli), which knows its model.
func modelSettings(role, text string) ([]config.Setting, error) {
	set := func(key string, value any) config.Setting {
		return config.Setting{Key: "models." + role + "." + key, Value: value, Origin: "--" + role}
	}
	if name, address, ok := strings.Cut(text, "@http"); ok && name != "" {
		return []config.Setting{set("provider", "compatible"), set("model", name), set("base_url", "http"+address), set("api_key_env", "")}, nil
	}
	provider, name, ok := strings.Cut(text, "/")
	if !ok && strings.HasSuffix(provider, "-cli") {
		return []config.Setting{set("provider", provider)}, nil
	}
	if !ok || provider == "" || name == "" {
		return nil, usagef("--%s %s: want PROVIDER/MODEL, for example openai/gpt-5-mini, or MODEL@URL, for example qwen2.5@http://127.0.0.1:8080/v1", role, text)
	}
	key := "model"
	if provider == "sim" {
		key = "world"
	}
	return []config.Setting{set("provider", provider), set(key, name)}, nil
}

// skillName names a run after the skill's folder, or its file.
func skillName(path string) string {
	name := filepath.Base(path)
	if strings.EqualFold(filepath.Ext(name), ".md") {
		name = filepath.Base(filepath.Dir(path))
	}
	if name = strings.TrimLeft(name, "."); !config.IsRunName(name) {
		return "skill"
	}
	return name
}

// stripPath returns an error of the file system without the path, which the message that it goes
// into names already.
func stripPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (a *app) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

func (a *app) relative(path string) string { return relativeTo(a.Dir, path) }
