package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/model"
)

// draftProfile is a profile that is to be written.
type draftProfile struct {
	projects []string
	config   string // that it extends, as the user has named it; "": none
	// The models, as flags name them; "": none, and without an optimizer the target is that too.
	target, optimizer string
}

// addModels adds the flags that name models.
func (d *draftProfile) addModels(c *cobra.Command) {
	c.Flags().StringVar(&d.config, "config", "", "a config whose models are used; the profile extends it")
	c.Flags().StringVar(&d.target, "target", "", "PROVIDER/MODEL, MODEL@URL, or a login such as claude-cli, that carries out the tasks")
	c.Flags().StringVar(&d.optimizer, "optimizer", "", "the same for the model that finds tasks, proposes edits and judges; default: --target")
}

// check fails for models that cannot be meant.
func (d *draftProfile) check(a *app) error {
	if d.config != "" && d.target+d.optimizer != "" {
		return usagef("--config names the models: leave out --target and --optimizer")
	}
	if d.target == "" && d.optimizer != "" {
		return usagef("--optimizer: name the model that carries out the tasks too, by --target")
	}
	_, err := d.models(a)
	return err
}

// models returns the models as YAML; "": there are none. Paths are relative to where a works.
func (d *draftProfile) models(a *app) (string, error) {
	if d.target == "" {
		return "", nil
	}
	text := "\nmodels:\n"
	for _, m := range []struct{ role, text string }{{model.Target, d.target}, {model.Optimizer, cmp.Or(d.optimizer, d.target)}, {model.Judge, cmp.Or(d.optimizer, d.target)}} {
		settings, err := modelSettings(m.role, m.text)
		if err != nil {
			return "", err
		}
		var parts []string
		for _, s := range settings {
			key := strings.TrimPrefix(s.Key, "models."+m.role+".")
			value := fmt.Sprint(s.Value)
			if key == "world" {
				value = a.absolute(value)
			}
			parts = append(parts, key+": "+quoteYAML(value))
		}
		text += fmt.Sprintf("  %s: {%s}\n", m.role, strings.Join(parts, ", "))
	}
	if strings.HasSuffix(d.target, "-cli") || strings.HasSuffix(d.optimizer, "-cli") {
		text = "  own_login: true   # nights may use the login below\n" + text
	}
	return text, nil
}

const profileText = `# What the sleep commands of skillopt read, and where they keep it.
# ` + "`skillopt config explain --changed FILE`" + ` shows what holds, docs/sleep.md says what it means.
%ssleep:
  # Folders whose sessions may be read, with all below them. Empty: none are.
  projects:
%s
  # keep: 90d     # sessions that ended longer ago are deleted from what is kept
  # disk: 5GB     # the most that what is kept may take
  # sources: [claude, codex]   # absent: all agents
%s`

const profileWithoutModels = `
# Models of later nights. Without any nothing is sent; with one, ` + "`skillopt sleep init`" + ` asks
# whether text of sessions and files of the projects may go to its host.
# models:
#   target: {provider: ollama, model: qwen3:8b}
#   optimizer: {provider: openai, model: gpt-5-mini}
`

// text returns the profile as YAML.
func (d *draftProfile) text(a *app) (string, error) {
	var lines []string
	for _, dir := range d.projects {
		lines = append(lines, "    - "+quoteYAML(dir))
	}
	models, err := d.models(a)
	extends := ""
	switch {
	case d.config != "":
		extends = "extends: " + quoteYAML(a.absolute(d.config)) + "\n"
	case models == "":
		models = profileWithoutModels
	}
	return fmt.Sprintf(profileText, extends, strings.Join(lines, "\n"), models), err
}

// setup returns what the profile would be at a path, without writing it there.
func (d *draftProfile) setup(a *app, path string, sets ...string) (s sleepSetup, err error) {
	text, err := d.text(a)
	if err != nil {
		return s, err
	}
	temp, err := os.MkdirTemp("", "skillopt-profile-")
	if err != nil {
		return s, fmt.Errorf("make a folder for a draft of the profile: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file := filepath.Join(temp, filepath.Base(path))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return s, fmt.Errorf("write a draft of the profile: %w", err)
	}
	s, err = a.readSleepSetup(file, path, sets...)
	s.found = false
	return s, err
}

// write writes the profile for the user alone.
func (d *draftProfile) write(a *app, path string) error {
	text, err := d.text(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the profile: %w", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is there already and is not replaced; move it away, or run skillopt sleep init again", path)
	}
	if err := disk.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return nil
}
