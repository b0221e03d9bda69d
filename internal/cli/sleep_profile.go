package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// draftProfile is a profile that is to be written.
type draftProfile struct {
	projects []string
	config   string // that it extends, as the user has named it; "": none
	seat     string // the program that answers in all roles; "": none
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

const profileWithSeat = `  own_login: true   # nights may use the login below

# The program of a coding agent answers, with your login.
models:
  target: {provider: %[1]s}
  optimizer: {provider: %[1]s}
  judge: {provider: %[1]s}
`

// text returns the profile as YAML.
func (d draftProfile) text(a *app) string {
	var lines []string
	for _, dir := range d.projects {
		lines = append(lines, "    - "+quoted(dir))
	}
	extends, models := "", profileWithoutModels
	switch {
	case d.config != "":
		extends, models = "extends: "+quoted(a.absolute(d.config))+"\n", ""
	case d.seat != "":
		models = fmt.Sprintf(profileWithSeat, d.seat)
	}
	return fmt.Sprintf(profileText, extends, strings.Join(lines, "\n"), models)
}

// setup returns what the profile would be at a path, without writing it there.
func (d draftProfile) setup(a *app, path string, sets ...string) (s sleepSetup, err error) {
	temp, err := os.MkdirTemp("", "skillopt-profile-")
	if err != nil {
		return s, fmt.Errorf("make a folder for a draft of the profile: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file := filepath.Join(temp, filepath.Base(path))
	if err := os.WriteFile(file, []byte(d.text(a)), 0o600); err != nil {
		return s, fmt.Errorf("write a draft of the profile: %w", err)
	}
	s, err = a.sleepSetupOf(file, path, sets...)
	s.found = false
	return s, err
}

// write writes the profile for the user alone, with the schema next to it.
func (d draftProfile) write(a *app, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the profile: %w", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is there already and is not replaced; move it away, or run skillopt sleep init again", path)
	}
	if err := disk.WriteFile(path, withSchemaLine([]byte(d.text(a))), 0o600); err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return writeSchema(filepath.Dir(path))
}
