package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ReadFile returns the content of a file by its path, as os.ReadFile does.
type ReadFile func(path string) ([]byte, error)

// CycleError is a file that builds on itself.
type CycleError struct{ Chain []string } // from the first file to the one that is there again

func (e *CycleError) Error() string {
	return "a circle of _base_: " + strings.Join(e.Chain, " builds on ")
}

// Load reads a configuration and what it builds on by _base_, a path relative to
// the file that names it. Each file is brought to present names first, so that a
// file overrides what it builds on in whichever form it says so. The errors are
// a *ParseError, a *CycleError, or what read returned, with the path.
func Load(read ReadFile, path string) (map[string]any, error) {
	return load(read, filepath.Clean(path), nil)
}

func load(read ReadFile, path string, above []string) (map[string]any, error) {
	chain := append(slices.Clone(above), path)
	if slices.Contains(above, path) {
		return nil, &CycleError{Chain: chain}
	}
	data, err := read(path)
	if refused := (*ParseError)(nil); errors.As(err, &refused) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(chain, ", which builds on "), err)
	}
	cfg, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	base := cfg["_base_"]
	delete(cfg, "_base_")
	cfg = moderniseConfig(cfg)
	oneForm(cfg)
	if empty(base) {
		return cfg, nil
	}
	name, ok := base.(string)
	if !ok {
		return nil, &ParseError{File: path, What: "_base_ is " + describe(base) + ", want the path of one file"}
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(path), name)
	}
	below, err := load(read, filepath.Clean(name), chain)
	if err != nil {
		return nil, err
	}
	return layerConfig(below, cfg), nil
}

// Recognise returns an error for a file that can be read and is no configuration of SkillOpt: one
// with more keys that SkillOpt does not know than keys that it does. The error quotes nothing of it.
func Recognise(file string, data []byte) error {
	cfg, err := Parse(file, data)
	if err != nil {
		return nil // Load reports it
	}
	flat := append(flatNames(), benchmarkKeys()...)
	ours, foreign := 0, 0
	for key, value := range moderniseConfig(cfg) {
		section, isMap := value.(map[string]any)
		if known := slices.Contains(flat, key) || key == "_base_"; !isMap || !isSection(key) {
			ours, foreign = ours+count(known), foreign+count(!known)
			continue
		}
		for name := range section {
			_, known := settingAt(key, name)
			known = known || key == "env" && slices.Contains(flat, name)
			ours, foreign = ours+count(known), foreign+count(!known && key != "env") // which has keys of its environment
		}
	}
	if ours > 0 && ours >= foreign {
		return nil
	}
	return &ParseError{File: file, What: "no configuration of SkillOpt: it has sections " + strings.Join(sections(), ", ") + " with keys such as train.num_epochs, or these keys without sections"}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
