package record

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of a comparison of runs.
const (
	LeastCompared = 2
	MostCompared  = 8
)

// CompareRuns sets runs next to each other: their rows, and the keys of their configurations on
// which they differ, as the manifests keep them, in which secrets are masked. A key that a
// manifest lacks is null. A run whose manifest cannot be read is an error.
func CompareRuns(ctx context.Context, rows []result.RunRow) (result.RunsCompared, error) {
	out := result.RunsCompared{Runs: rows, Config: []result.ConfigDiff{}}
	if n := len(rows); n < LeastCompared || n > MostCompared {
		return out, fmt.Errorf("compare runs: %d are given, want %d to %d", n, LeastCompared, MostCompared)
	}
	of := make([]map[string]string, len(rows))
	class := map[string]string{}
	for _, k := range config.Default().Keys() {
		class[k.Path] = string(k.Class)
	}
	for i, row := range rows {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		m, found, err := run.ReadManifest(row.Dir)
		switch {
		case err != nil:
			return out, run.Unreadable(row.Dir, err)
		case !found:
			return out, &run.MissingError{Dir: row.Dir}
		}
		of[i] = settings(m, class)
	}
	keys := map[string]bool{}
	for _, s := range of {
		for k := range s {
			keys[k] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if d, differs := configDiff(key, class[key], of); differs {
			out.Config = append(out.Config, d)
		}
	}
	return out, nil
}

// settings returns all keys of a manifest, and notes their classes.
func settings(m run.Manifest, class map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m.Operational {
		out[k] = v
		if class[k] == "" {
			class[k] = string(config.Operational)
		}
	}
	for k, v := range m.Identity {
		out[k] = v
		if class[k] == "" {
			class[k] = "identity"
		}
	}
	return out
}

// configDiff returns a key with its value in each run, and whether they differ.
func configDiff(key, class string, of []map[string]string) (result.ConfigDiff, bool) {
	d := result.ConfigDiff{Key: key, Class: class, Values: make([]*string, len(of))}
	differs := false
	for i, s := range of {
		if v, ok := s[key]; ok {
			d.Values[i] = &v
		}
		if i > 0 {
			a, b := d.Values[0], d.Values[i]
			differs = differs || (a == nil) != (b == nil) || a != nil && b != nil && !config.SameValue(*a, *b)
		}
	}
	return d, differs
}

// mostConfig bounds a configuration, in bytes.
const mostConfig = 4 << 20

// KeptConfig reads the configuration that the run in dir keeps, "" if it keeps none, and which of its keys are set.
func KeptConfig(dir string) (text string, set []string, err error) {
	data, _, err := run.ReadFile(dir, run.ConfigFile, mostConfig)
	return string(data), config.SetKeys(data), err
}
