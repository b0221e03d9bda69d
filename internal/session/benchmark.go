package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/fault"
)

// readyBenchmark has the rows of a benchmark prepared that bench.data names as they are published, below
// run.dir; what was prepared there before is used as it is.
func (s *loader) readyBenchmark(ctx context.Context) error {
	b := s.Config.Bench
	if b.Name == "" || b.Data == "" || s.Config.Tasks.Path != filepath.Join(b.Data, config.FolderOfTasks) {
		return nil
	}
	dir, err := benchmark.Ready(ctx, benchmark.Rows{Name: b.Name, Scoring: b.Scoring, Data: b.Data, Below: filepath.Join(s.Config.Run.Dir, ".bench")})
	switch {
	case err == nil:
		s.Config.Bench.Data, s.Config.Tasks.Path = dir, filepath.Join(dir, config.FolderOfTasks)
		if docs := filepath.Join(dir, config.FolderOfDocs); dir != b.Data && (s.Config.Env.World == corpusWorld || s.Config.Env.World == GameWorld) && s.Config.Env.Docs == "" {
			if info, err := os.Stat(docs); err == nil && info.IsDir() {
				s.Config.Env.Docs = docs
			}
		}
		return nil
	case errors.Is(err, context.Canceled), benchmark.OfTheSystem(err):
		return err
	}
	return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "bench.data"), err))
}
