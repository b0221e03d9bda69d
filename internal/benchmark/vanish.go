package benchmark

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// Vanished is a task with accepted answers of which the form in which answers are compared leaves nothing, such as "A" without
// articles.
type Vanished struct {
	ID   string   `json:"id"`
	Gold []string `json:"gold"`
	// EmptyPasses: an answer of which nothing is left either is right, as for the program whose figures are published.
	EmptyPasses bool `json:"empty_passes"`
}

// checks returns the checks of the scoring that was chosen; nil: they cannot be compiled, which the config says when it is
// loaded.
func (p *preparation) checks() (*check.Suite, error) {
	_, file, err := p.Folder.ScoredBy(p.Scoring)
	if file == "" {
		file = p.Folder.Config
	}
	if err != nil || file == "" {
		return nil, err
	}
	text, err := p.Folder.Read(file)
	if err != nil {
		return nil, err
	}
	var cfg struct {
		Tasks struct {
			Checks any `yaml:"checks"`
		} `yaml:"tasks"`
	}
	if _, err := yamlx.Decode(text, &cfg); err != nil {
		return nil, nil
	}
	suite, err := check.Compile(cfg.Tasks.Checks, check.Options{Judge: true})
	if err != nil {
		return nil, nil
	}
	return suite, nil
}

// vanish notes a task with accepted answers that vanish.
func (p *preparation) vanish(it item) error {
	if p.suite == nil {
		return nil
	}
	gold, empty, err := p.suite.Vanished(task.Task{ID: it.id, Gold: goldTexts(it.fields["gold"]), Data: it.fields})
	if err != nil {
		return fmt.Errorf("task %s: %w", it.id, err)
	}
	if len(gold) > 0 {
		p.vanished = append(p.vanished, Vanished{ID: it.id, Gold: gold, EmptyPasses: empty})
	}
	return nil
}

// goldTexts returns the accepted answers of an item that are texts.
func goldTexts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		for _, one := range v {
			out = append(out, goldTexts(one)...)
		}
	}
	return out
}
