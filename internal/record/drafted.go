package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Files of a draft.
const (
	draftedFile = "tasks.jsonl"
	fallenFile  = "fell.json"
)

// Bounds of what is read of a draft. A command drafts at most 500 tasks.
const (
	maxDrafted      = 8 << 20 // bytes of a file
	maxDraftedTasks = 500
	maxFallen       = 500
)

// readDrafted reads what was drafted.
func (d *Documents) readDrafted(dir string) error {
	if d.Manifest.Kind != result.DraftTasks {
		return nil
	}
	out, found, err := readDraft(dir)
	var damaged *FileError
	if errors.As(err, &damaged) {
		damaged.again = "remove the folder of the draft and draft again"
	}
	if err != nil || !found {
		return err
	}
	asked := d.Manifest.About("draft")
	if wanted := d.Manifest.About("draft.triggers"); wanted != "" {
		asked, out.Triggers = wanted, true
	}
	out.Asked, _ = strconv.Atoi(asked) // what is no number is not known
	d.Drafted = out
	return nil
}

func readDraft(dir string) (*result.Drafted, bool, error) {
	data, found, err := run.ReadFile(dir, draftedFile, maxDrafted)
	if err != nil || !found {
		return nil, false, wrapReadError(err)
	}
	out := &result.Drafted{Tasks: []result.DraftedTask{}, Fell: []result.Dropped{}, Fallen: []result.FallenDraft{}}
	for i, line := range bytes.Split(data, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t, err := draftedTask(line)
		if err != nil {
			return nil, false, &FileError{Path: filepath.Join(dir, draftedFile), Err: fmt.Errorf("line %d: %w", i+1, err)}
		}
		if out.Kept++; len(t.Doubts) > 0 {
			out.Doubtful++
		}
		out.Tasks = append(out.Tasks, t)
	}
	if _, err := readDocument(dir, fallenFile, maxDrafted, &out.Fallen); err != nil {
		return nil, false, err
	}
	out.Fell = fellBy(out.Fallen)
	out.LeftOut = max(0, len(out.Tasks)-maxDraftedTasks) + max(0, len(out.Fallen)-maxFallen)
	out.Tasks = out.Tasks[:min(len(out.Tasks), maxDraftedTasks)]
	out.Fallen = append([]result.FallenDraft{}, out.Fallen[:min(len(out.Fallen), maxFallen)]...)
	return out, true, nil
}

func wrapReadError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read run: %w", err)
}

// draftedTask reads a line of drafted tasks.
func draftedTask(line []byte) (result.DraftedTask, error) {
	var t struct {
		result.DraftedTask

		Checks []json.RawMessage `json:"checks"`
	}
	if err := json.Unmarshal(line, &t); err != nil {
		return result.DraftedTask{}, err
	}
	out := t.DraftedTask
	out.Checks = []string{}
	for _, c := range t.Checks {
		var text bytes.Buffer
		if err := json.Compact(&text, c); err != nil {
			return out, err
		}
		out.Checks = append(out.Checks, text.String())
	}
	out.Gold, out.Doubts = append([]string{}, out.Gold...), append([]string{}, out.Doubts...)
	return out, nil
}

// fellBy counts drafts that fell by their reasons, the most frequent first.
func fellBy(fell []result.FallenDraft) []result.Dropped {
	out := []result.Dropped{}
	at := map[string]int{}
	for _, f := range fell {
		i, known := at[f.Reason]
		if !known {
			i = len(out)
			at[f.Reason], out = i, append(out, result.Dropped{Reason: f.Reason, Example: f.Detail})
		}
		out[i].N++
	}
	slices.SortStableFunc(out, func(a, b result.Dropped) int { return b.N - a.N })
	return out
}
