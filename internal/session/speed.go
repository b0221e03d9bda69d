package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Speed is how fast a model on this machine reads and writes, in tokens a second.
type Speed struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// speedsFile is where the measured speeds are kept, in run.dir: a model is as fast for all
// runs of a folder.
const speedsFile = "speeds.json"

const maxSpeeds = 1 << 20 // bytes

// Speed returns what was measured of the model of a role, nil if nothing was.
func (s *Session) Speed(ctx context.Context, role string) *Speed {
	all, err := s.speeds(ctx)
	v, ok := all[s.speedName(role)]
	if err != nil || !ok || v.Input <= 0 || v.Output <= 0 {
		return nil
	}
	return &v
}

// KeepSpeed keeps what was measured of the model of a role.
func (s *Session) KeepSpeed(ctx context.Context, role string, v Speed) error {
	all, err := s.speeds(ctx)
	if err != nil {
		all = map[string]Speed{} // it may be deleted at any time, so it may be damaged
	}
	all[s.speedName(role)] = v
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.Config.Run.Dir, 0o755)
	}
	if err == nil {
		err = disk.Replace(filepath.Join(s.Config.Run.Dir, speedsFile), append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep the speed of the model: %w", err)
	}
	return nil
}

// speeds reads what is kept, by name.
func (s *Session) speeds(ctx context.Context) (map[string]Speed, error) {
	data, err := disk.Read(ctx, filepath.Join(s.Config.Run.Dir, speedsFile), maxSpeeds)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Speed{}, nil
	}
	all := map[string]Speed{}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	return all, err
}

func (s *Session) speedName(role string) string {
	return s.Models.Of(role).Endpoint + " " + s.Config.Models.Of(role).Model
}
