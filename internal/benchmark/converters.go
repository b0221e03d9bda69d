package benchmark

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/suggest"
)

// converters are those that the program brings, by the name that task.convert gives them. Each is
// made of the settings in task.with.
func converters() map[string]func(with map[string]string) (converter, error) {
	return map[string]func(map[string]string) (converter, error){}
}

// converterOf returns what makes tasks of the rows of a benchmark.
func converterOf(f *folder.Folder) (converter, error) {
	if f.Task.Convert == "" {
		d, err := newDescribed(f.Task)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", f.Where, folder.FileAbout, err)
		}
		return d.convert, nil
	}
	known := converters()
	make, ok := known[f.Task.Convert]
	if !ok {
		names := slices.Sorted(maps.Keys(known))
		near, _ := suggest.Of(f.Task.Convert, names)
		return nil, fmt.Errorf("%s, %s: task.convert: there is no converter %q (did you mean %q?); there are %s", f.Where, folder.FileAbout, f.Task.Convert, near, strings.Join(names, ", "))
	}
	c, err := make(f.Task.With)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: task.with: %w", f.Where, folder.FileAbout, err)
	}
	return c, nil
}
