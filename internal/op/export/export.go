// Package export is the operation that writes what a run has recorded to a file, from
// which the same run can be answered again.
//
// It knows run directories and cassettes. It knows nothing of what is in them.
package export

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
)

// Cassette writes what the run in dir has recorded to the file at path, as a whole or not
// at all. What has the shape of a key is taken out of results, and so are the given
// secrets wherever they occur.
func Cassette(ctx context.Context, dir, path string, secrets ...string) (out result.Exported, err error) {
	defer func() { err = fault.InRun(dir, err) }()
	r, err := record.Open(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum, err := cassette.Export(r.Results(ctx), path, redact.New(secrets...))
	return result.Exported{Steps: sum.Steps, Redacted: append([]string{}, sum.Redacted...)}, err
}
