package benchmark

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Published are figures that others have published of a benchmark, and why ours do not compare.
type Published struct {
	Source  string   `yaml:"source" json:"source"`
	Metric  string   `yaml:"metric" json:"metric"`
	Rows    []Figure `yaml:"rows" json:"rows"`
	Against []string `yaml:"not_comparable" json:"not_comparable"` // why rows are not comparable with a run of the user's
}

// Figure is one of them, in percent; what is not published is absent.
type Figure struct {
	Method string   `yaml:"method" json:"method"`
	Model  string   `yaml:"model" json:"model,omitempty"`
	Score  *float64 `yaml:"score" json:"score,omitempty"` // of the test split
	Gain   *float64 `yaml:"gain" json:"gain,omitempty"`   // over no skill, in points
}

// ReadPublished reads published.yaml; nil: the folder has none.
func ReadPublished(f *folder.Folder) (*Published, error) {
	text, err := f.Read(folder.FilePublished)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p Published
	if _, err := yamlx.DecodeStrict(text, &p); err != nil {
		return nil, fmt.Errorf("%s, %s: %w", f.Where, folder.FilePublished, err)
	}
	return &p, nil
}
