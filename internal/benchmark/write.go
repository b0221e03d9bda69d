package benchmark

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// The files of a prepared folder.
const (
	FileConfig = "config.yaml"
	FileSkill  = "SKILL.md"
	FileSource = "source.json"
	DirTasks   = "tasks"
)

// SourceFormat is the version of source.json.
const SourceFormat = 1

// Source is source.json: what a prepared folder was made of. It holds no time and no path of the
// machine: the same rows make the same bytes.
type Source struct {
	Format    int             `json:"format"`
	Benchmark string          `json:"benchmark"`
	Licence   string          `json:"licence"`
	Fixture   bool            `json:"fixture,omitempty"`
	Seed      int64           `json:"seed"` // of a split by a ratio, and of the order of choices
	Sources   []folder.Source `json:"sources"`
	Files     []File          `json:"files"`
	Pictures  []File          `json:"pictures"`
	Items     []Item          `json:"items"`
	LeftOut   map[string]int  `json:"left_out,omitempty"`
}

// File is a file by its content.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Item is a task by the content of its line.
type Item struct {
	ID     string     `json:"id"`
	Split  task.Split `json:"split,omitempty"`
	SHA256 string     `json:"sha256"`
}

// write makes all files of the folder.
func (p *preparation) write() (err error) {
	if p.parts, err = divide(p.Folder, p.published, p.spool); err != nil {
		return err
	}
	for split, places := range p.parts {
		if err := p.writeTasks(split, places); err != nil {
			return err
		}
	}
	for _, write := range []func() error{p.writeSource, p.writeSkill, p.writeConfig} {
		if err := write(); err != nil {
			return err
		}
	}
	if !p.Fixture {
		return nil
	}
	world, err := p.Folder.Read(path.Join(folder.DirFixture, folder.FileWorld))
	if err != nil {
		return err
	}
	return writeNew(p.work.root, folder.FileWorld, world)
}

// writeTasks writes the tasks of a split.
func (p *preparation) writeTasks(split task.Split, places []int) (err error) {
	name := path.Join(DirTasks, cmp.Or(string(split), "tasks")+".jsonl")
	if err := p.work.root.MkdirAll(DirTasks, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := p.work.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w := bufio.NewWriter(f)
	err = p.spool.write(w, places)
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (p *preparation) writeSource() error {
	s := Source{
		Format: SourceFormat, Benchmark: p.Folder.Name, Licence: p.Folder.Licence, Fixture: p.Fixture, Seed: p.Folder.Splits.Seed,
		Sources: p.Folder.Sources, Files: p.files, Pictures: p.gallery.files, LeftOut: p.leftOut, Items: []Item{},
	}
	if s.Pictures == nil {
		s.Pictures = []File{}
	}
	slices.SortFunc(s.Pictures, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, split := range append(splits(), "") {
		for _, i := range p.parts[split] {
			l := p.spool.lines[i]
			s.Items = append(s.Items, Item{ID: l.id, Split: split, SHA256: l.sum})
		}
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", FileSource, err)
	}
	return writeNew(p.work.root, FileSource, append(text, '\n'))
}

func (p *preparation) writeSkill() error {
	text := []byte("# " + cmp.Or(p.Folder.Title, p.Folder.Name) + "\n\nNothing is known yet.\n")
	if p.Folder.Skill != "" {
		var err error
		if text, err = p.Folder.Read(p.Folder.Skill); err != nil {
			return err
		}
	}
	return writeNew(p.work.root, FileSkill, text)
}

// writeConfig writes a config that builds on the folder of the benchmark. Its fixture may add keys, such as an
// agent.
func (p *preparation) writeConfig() error {
	way, _, err := p.Folder.ScoredBy(p.Scoring)
	if err != nil {
		return err
	}
	bench := yamlx.Ordered{{Key: "name", Value: cmp.Or(p.Name, p.Folder.Name)}, {Key: "data", Value: cmp.Or(p.Data, ".")}}
	if way != "" {
		bench = append(bench, yamlx.Entry{Key: "scoring", Value: way})
	}
	tree := yamlx.Ordered{{Key: "bench", Value: bench}, {Key: "skill", Value: FileSkill}}
	if p.Fixture {
		sim := yamlx.Ordered{{Key: "provider", Value: "sim"}, {Key: "world", Value: folder.FileWorld}, {Key: "temperature", Value: 0}}
		tree = append(tree,
			yamlx.Entry{Key: "models", Value: yamlx.Ordered{{Key: "target", Value: sim}, {Key: "optimizer", Value: sim}, {Key: "judge", Value: sim}}},
			yamlx.Entry{Key: "train", Value: yamlx.Ordered{{Key: "epochs", Value: 3}, {Key: "batch_size", Value: 12}}},
		)
	}
	text, err := yamlx.Encode(tree)
	if err != nil {
		return fmt.Errorf("write %s: %w", FileConfig, err)
	}
	if own := path.Join(folder.DirFixture, FileConfig); p.Fixture && p.Folder.Has(own) {
		more, err := p.Folder.Read(own)
		if err != nil {
			return err
		}
		text = append(text, more...)
	}
	return writeNew(p.work.root, FileConfig, []byte(p.head()+string(text)))
}

// head returns what the config says of itself.
func (p *preparation) head() string {
	if p.Fixture {
		return fmt.Sprintf(`# A SIMULATION of the benchmark %s: rows of our own in the form of its source, and a simulated world
# (world.yaml) instead of models. No key, no network, no cost. Scores say nothing of any model.
# What the benchmark asks and how it scores lies beneath this file: skillopt config explain shows all of it.
`, p.Folder.Name)
	}
	return fmt.Sprintf(`# The benchmark %s. What it asks and how it scores lies beneath this file: skillopt config explain shows
# all of it. Name your models, then train:
#   models:
#     target:    {provider: openai, model: gpt-5-mini}
#     optimizer: {provider: openai, model: gpt-5}
#     judge:     {provider: openai, model: gpt-5}      # where answers are judged
`, p.Folder.Name)
}
