package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// memoryKey is the entry of the identity for what other runs leave to the optimizer, by all
// that it says. A run without it has no such entry.
const memoryKey = "memory"

// loadMemory takes what other runs leave to the optimizer: that of the caller, or else what
// the run that is resumed or gone on from has recorded.
func (s *loader) loadMemory(ctx context.Context) (err error) {
	if s.Options.Memory != nil {
		if s.Remembered, err = remember.Clean(*s.Options.Memory, s.Loaded.Redactor().Text); err != nil {
			return fault.Input(fmt.Errorf("the memory of other runs: %w", err))
		}
		return nil
	}
	dir := s.RunDir
	if dir == "" || s.Fork != "" && s.Continue.Dir == "" { // a fork is given its own
		return nil
	}
	path := filepath.Join(dir, run.MemoryFile)
	if _, err := os.Lstat(path); err != nil { // a folder that cannot be one is named where the run is opened
		return nil
	}
	data, err := disk.Read(ctx, path, remember.MaxFile)
	if err != nil {
		return fault.Input(fmt.Errorf("read what other runs left to this one: %w", err))
	}
	if s.Remembered, err = remember.Decode(data, s.Loaded.Redactor().Text); err != nil {
		return fault.Input(fmt.Errorf("%s: %w", path, err))
	}
	return nil
}
