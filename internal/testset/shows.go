package testset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// maxOutcomes bounds a file of outcomes that is looked through, in bytes.
const maxOutcomes = 512 << 20

// opened is how much of a prompt has to be in what a task asked, in characters:
// outcomes may hold long ones cut.
const opened = 200

// shownTask is what a file of outcomes says of a task.
type shownTask struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// shownTasks are the outcomes of an arm, or those of each pass.
type shownTasks []shownTask

func (s *shownTasks) UnmarshalJSON(data []byte) error {
	var passes []shownTasks
	if json.Unmarshal(data, &passes) == nil {
		*s = slices.Concat(passes...)
		return nil
	}
	return json.Unmarshal(data, (*[]shownTask)(s))
}

// Shows reports whether a file of outcomes, by arm or split, has one of a task of the
// set: the ledger does not know of runs that came from elsewhere. The errors are those of reading the file.
func Shows(ctx context.Context, path string, tasks []task.Task) (bool, error) {
	data, err := disk.Read(ctx, path, maxOutcomes)
	if err != nil {
		return false, err
	}
	var file map[string]shownTasks
	if err := json.Unmarshal(data, &file); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	asked := map[string]string{}
	for _, t := range tasks {
		asked[t.ID] = promptPrefix(t.Prompt)
	}
	for _, arm := range file {
		for _, o := range arm {
			if prompt, ok := asked[o.ID]; ok && strings.Contains(foldSpace(o.Question), prompt) {
				return true, nil
			}
		}
	}
	return false, nil
}

func foldSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

func promptPrefix(prompt string) string {
	text := []rune(foldSpace(prompt))
	return string(text[:min(len(text), opened)])
}
