package textgame

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// Sum returns a digest of the games of tasks. Its error is the first thing that is wrong with one of them.
func (w *World) Sum(ctx context.Context, tasks []task.Task) (string, error) {
	var names []string
	for _, t := range tasks {
		if _, err := w.Game(ctx, t); err != nil {
			return "", err
		}
		name, _ := t.Data[FieldGame].(string)
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range slices.Compact(names) {
		data, err := disk.ReadIn(ctx, w.root, name, maxGame)
		if err != nil {
			return "", fmt.Errorf("read game %s: %w", name, err)
		}
		fmt.Fprintf(h, "%q %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
