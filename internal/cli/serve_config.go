package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/result"
)

// Edit implements server.Editor.
func (p *servedProgram) Edit(ctx context.Context, dir, text string, set map[string]any) (result.ConfigFile, error) {
	path := filepath.Join(p.guard.Roots[0], dir, "config.yaml")
	out := result.ConfigFile{Path: filepath.ToSlash(filepath.Join(dir, "config.yaml")), Defaults: map[string]json.RawMessage{}, Command: "skillopt train " + shellWord(dir)}
	edited, err := config.Edit([]byte(text), set)
	if err != nil {
		edited = []byte(text)
		out.Problems = pageProblems(err, dir)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(edited))
	out.Text, out.SHA256, out.Trusted = string(edited), sum, p.guard.Trust(sum) == nil
	written, _ := config.ReadWritten(edited) // of a text that is no YAML the load says so
	out.Values, out.Lines = written.Values, written.Lines
	for _, key := range written.Foreign(p.keys) {
		out.Foreign = append(out.Foreign, result.KeyLine{Key: key, Line: written.Lines[key]})
	}
	for _, k := range p.keys {
		out.Defaults[k.Path] = json.RawMessage(k.Value)
	}
	_, err = config.LoadContext(ctx, config.Options{Path: path, Text: edited, Dir: p.guard.Roots[0], Lookup: p.app.lookup, Guard: &p.guard})
	if err != nil && !config.IsInput(err) {
		return out, err
	}
	out.Problems = append(out.Problems, pageProblems(err, dir)...)
	return out, nil
}

// pageProblems returns the problems of the config of a folder as a page shows them.
func pageProblems(err error, dir string) (out []result.ConfigProblem) {
	var own *config.Error
	if errors.As(err, &own) {
		for _, p := range own.Problems {
			q := configProblem(p)
			if strings.Contains(q.Help, "--trust") { // of a host of tools
				q.Help = "`skillopt serve --trust " + shellWord(dir) + "` starts this file as it is"
			}
			out = append(out, result.ConfigProblem{Key: q.Key, Line: q.Line, Message: q.Message, Help: q.Help, Refused: p.Refused})
		}
	}
	return out
}

// benchExamples returns the benchmarks whose config says nothing that a page may not say.
func benchExamples(ctx context.Context, keys []config.Key) (out []server.Example) {
	for _, name := range folder.Names() {
		f, err := folder.Open(ctx, name, "")
		if err != nil || f.Config == "" {
			continue
		}
		text, err := f.Read(f.Config)
		if w, bad := config.ReadWritten(text); err == nil && bad == nil && len(w.Foreign(keys)) == 0 {
			out = append(out, server.Example{Name: name, Text: f.Title + ": rows of our own, and simulated models"})
		}
	}
	return out
}
