package ask

import (
	"errors"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
)

// ReadTraining reads the files of a run that trains; path is what messages call it.
func ReadTraining(dir, path string) (*record.Training, error) {
	r, err := record.ReadTraining(dir, path)
	var none *record.NoRunError
	if errors.As(err, &none) {
		return nil, missingErrorf("%v", err)
	}
	if err != nil {
		return nil, err
	}
	if r.Manifest.Kind != result.Train {
		return nil, missingErrorf("run %s trains no skill; `skillopt runs show %s` explains it", path, path)
	}
	return r, nil
}

// Blame says of each line of a version of the skill who wrote it: a step, or best.
func Blame(dir, path, version string) (record.Blame, error) {
	r, err := ReadTraining(dir, path)
	if err != nil {
		return record.Blame{}, err
	}
	s, err := Skill(dir, path, version)
	if err != nil {
		return record.Blame{}, err
	}
	b := r.Blame(version, s)
	lines, files := withoutSecrets(b.Lines), make([][]provenance.Line, len(b.Files))
	for i, f := range b.Files {
		files[i] = withoutSecrets(f.Lines)
	}
	b = Shareable(b)
	b.Lines = lines
	for i := range b.Files {
		b.Files[i].Lines = files[i]
	}
	return b, nil
}

// withoutSecrets returns lines of a file without what looks like a secret, which may span several
// lines.
func withoutSecrets(lines []provenance.Line) []provenance.Line {
	texts, out := make([]string, len(lines)), slices.Clone(lines)
	for i, l := range lines {
		texts[i] = l.Text
	}
	for i, text := range redact.Lines(texts) {
		out[i].Text = text
	}
	return out
}
