package session

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/remember"
)

// rememberedKey is the key of what other runs leave to the optimizer. What it says is part
// of the identity, wherever it comes from; a run without it has no such entry.
const rememberedKey = "reflect.remembered"

// loadMemory reads what other runs leave to the optimizer.
func (s *loader) loadMemory(ctx context.Context) (err error) {
	path := s.Config.Reflect.Remembered
	switch {
	case s.Options.Memory != nil:
		if s.Remembered, err = remember.Clean(*s.Options.Memory, s.Loaded.Redactor().Text); err != nil {
			return fault.Input(fmt.Errorf("the memory of WithMemory: %w", err))
		}
	case path == "":
		return nil
	default:
		data, err := disk.Read(ctx, path, remember.MaxFile)
		if err != nil {
			return s.fileError(rememberedKey, path, "a memory that `skillopt runs memory RUN` wrote", err)
		}
		if s.Remembered, err = remember.Decode(data, s.Loaded.Redactor().Text); err != nil {
			return fault.Input(fmt.Errorf("%s: %s: %w", where(s.Loaded, rememberedKey), path, err))
		}
	}
	if remember.Empty(s.Remembered) {
		return nil
	}
	s.Contents[rememberedKey], err = remember.Digest(s.Remembered)
	return err
}
