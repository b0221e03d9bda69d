package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

var (
	// besideForm finds the files in a command that are named by the folder of the
	// config: "$CONFIG_DIR/a b.py", $CONFIG_DIR/grade.py, "${CONFIG_DIR}"/grade.py.
	besideForm = pattern.New(`"\$(?:CONFIG_DIR|\{CONFIG_DIR\})/([^"$]+)"|\$(?:CONFIG_DIR|\{CONFIG_DIR\})"?/([\w./@%+:=,~-]+)`)
	// absoluteForm finds absolute paths in the script of a shell.
	absoluteForm = pattern.New(`"(/[^"$]+)"|'(/[^']+)'|(?:^|[\s;|&()<>=])(/[\w./@%+:=,~-]+)`)
)

// Scripts returns the files, sorted, that the commands of checks name: absolute,
// or relative to the folder of the config. A command runs in a workspace, so that
// any other name is that of a file there.
func (s *Commands) Scripts() []string {
	files := map[string]bool{}
	for _, c := range s.commands() {
		words := c.Argv
		if c.Execute != nil {
			words = append(findAbsoluteFiles(c.Execute.Argv), words...)
		}
		for _, word := range words {
			if filepath.IsAbs(word) {
				files[word] = true
			}
			for _, name := range parseConfigPaths(word) {
				files[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// commands returns the commands of all checks.
func (s *Commands) commands() (all []check.Command) {
	if s.Suite == nil {
		return nil
	}
	for _, t := range s.Tasks {
		all = append(all, s.Suite.Commands(t)...)
	}
	return all
}

// parseConfigPaths returns the files that a word names by the folder of the config, relative
// to it.
func parseConfigPaths(word string) (names []string) {
	for _, m := range besideForm.FindAllStringSubmatch(word, -1) {
		names = append(names, filepath.Clean(m[1]+m[2]))
	}
	return names
}

// findAbsoluteFiles returns the regular files that a command names by their absolute paths, in
// its arguments or within the text of a script.
func findAbsoluteFiles(argv []string) []string {
	var files []string
	add := func(path string) {
		path = filepath.Clean(path)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	for _, word := range argv {
		if filepath.IsAbs(word) {
			add(word)
		}
		for _, m := range absoluteForm.FindAllStringSubmatch(word, -1) {
			add(m[1] + m[2] + m[3])
		}
	}
	return files
}

// maxScript is how much of a script is looked at.
const maxScript = 1 << 20

// texts returns what the scripts say that a command names; programs that are no
// text are left out.
func (s *Commands) texts(argv []string) (texts []string) {
	files := findAbsoluteFiles(argv)
	for _, word := range argv {
		for _, name := range parseConfigPaths(word) {
			files = append(files, filepath.Join(s.Loaded.Dir, name))
		}
	}
	for _, path := range files {
		if text, err := head(path); err == nil && !bytes.ContainsRune(text, 0) {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// head reads the beginning of a regular file.
func head(path string) ([]byte, error) {
	f, err := disk.Open(context.Background(), path, 1<<40)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxScript))
}

// Lint warns of commands whose step may hand gold to the agent's code, or
// cannot do what it is there for. What is the same for several tasks is said once.
func (s *Commands) Lint() []string {
	var warnings []string
	seen := map[string]bool{}
	for _, c := range s.commands() {
		key := fmt.Sprintf("%q %t", c.Argv, c.Execute != nil)
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, what := range c.Lint(s.Trusts(c), s.texts(c.Argv)) {
			warnings = append(warnings, fmt.Sprintf("tasks.checks: command %q: %s", formatCommand(c.Argv), what))
		}
	}
	return warnings
}

// formatCommand returns the beginning of a command as it was written, for messages.
func formatCommand(argv []string) string {
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		argv = argv[2:]
	}
	text := []rune(strings.Join(strings.Fields(strings.Join(argv, " ")), " "))
	if len(text) > 60 {
		text = append(text[:57], []rune("...")...)
	}
	return string(text)
}
