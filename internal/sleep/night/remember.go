package night

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/result"
)

// rememberedNights is the number of earlier nights of which the optimizer learns what was tried in vain.
const rememberedNights = 10

// maxRejected is how many entries a memory has at most.
const maxRejected = 200

// memoryOptions returns what earlier nights leave to the optimizer of a document: edits that their gates rejected, with the difference that
// was measured, or that were worse with what else a night staged, and the newest meta skill. Runs that are gone leave nothing. What nights
// of other projects tried is not in it.
func (n trainer) memoryOptions(ctx context.Context, j *job) ([]skillopt.Option, error) {
	nights, err := n.Bank.Nights(ctx, n.Project)
	if err != nil {
		return nil, err
	}
	var dirs []string
	var apart []result.Rejected
	seen := 0
	for _, row := range nights {
		if row.Ended.IsZero() || row.ID == n.report.ID || seen == rememberedNights {
			continue
		}
		seen++
		var r Report
		if err := json.Unmarshal(row.Data, &r); err != nil {
			continue // the damage is reported where that night is shown
		}
		for i := range r.Targets {
			t := &r.Targets[i]
			if e, ok := rejectedBundle(&r, t); ok && t.Target == j.doc.ID() {
				apart = append(apart, e)
			}
			for _, run := range t.Runs {
				if t.Target == j.doc.ID() && strings.HasSuffix(run, "-"+slug(t.Target)) {
					dirs = append(dirs, filepath.Join(n.Dir, filepath.FromSlash(run)))
				}
			}
		}
	}
	there := dirs[:0]
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			there = append(there, dir)
		}
	}
	var memory skillopt.Memory
	if len(there) > 0 {
		if memory, err = skillopt.MemoryOf(there...); err != nil {
			return nil, err
		}
	}
	memory.Rejected = append(apart, memory.Rejected...)
	memory.Rejected = memory.Rejected[:min(len(memory.Rejected), maxRejected)]
	if len(memory.Rejected) == 0 && memory.MetaSkill == "" {
		return nil, nil
	}
	return []skillopt.Option{skillopt.WithMemory(memory)}, nil
}
