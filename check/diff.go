package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// change is what happened to one file.
type change struct {
	path           string
	added, removed int // lines
}

// changes compares two manifests, by path. A line that only moved within its
// file is neither added nor removed; one that changed is both.
func changes(before, after Manifest) []change {
	paths := slices.Collect(maps.Keys(before.Files))
	for p := range after.Files {
		if _, known := before.Files[p]; !known {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	var list []change
	for _, p := range paths {
		was, old := before.Files[p]
		is, here := after.Files[p]
		if old && here && was.Hash == is.Hash {
			continue
		}
		c := change{path: p}
		c.added, c.removed = lineChanges(was.Lines, is.Lines)
		list = append(list, c)
	}
	return list
}

func lineChanges(was, is []uint64) (added, removed int) {
	count := make(map[uint64]int, len(was))
	for _, line := range was {
		count[line]++
	}
	for _, line := range is {
		if count[line] > 0 {
			count[line]--
		} else {
			added++
		}
	}
	return added, len(was) - (len(is) - added)
}

// diffLimits say how much an agent may change; -1 = any number.
type diffLimits struct {
	files, added, removed int
	allow, deny, ignore   []string
}

// buildDiff compiles diff: limits on what an agent changed in the workspace.
func buildDiff(s *spec, n *node) {
	n.needs = Needs{Workspace: true, Snapshot: true}
	n.subject = "the change"
	l := diffLimits{
		files: s.count("max_files"), added: s.count("max_added"), removed: s.count("max_removed"),
		allow: s.globs("allow"), deny: s.globs("deny"), ignore: s.globs("ignore"),
	}
	if l.files < 0 && l.added < 0 && l.removed < 0 && l.allow == nil && l.deny == nil {
		s.fail("max_files", "is missing; %s needs max_files, max_added, max_removed, allow or deny", s.kind)
	}
	n.holds = "keeps within its limits"
	n.look = func(_ context.Context, w *subject, _ string) (verdict, error) {
		if w.Before.Over != "" {
			return verdict{}, fmt.Errorf("compare with the workspace before: %s", w.Before.Over)
		}
		if !w.dry && w.Before.Files == nil {
			return verdict{}, errors.New("compare with the workspace before: there is no snapshot of it")
		}
		if w.after.Over != "" {
			return verdict{broken: true, reason: "the workspace cannot be compared: " + w.after.Over}, nil
		}
		if w.isDeleted() {
			return verdict{broken: true, reason: "the workspace was deleted"}, nil
		}
		return l.verdict(changes(w.Before, w.after)), nil
	}
}

func (l *diffLimits) verdict(all []change) verdict {
	var wrong []string
	files, added, removed := 0, 0, 0
	for _, c := range all {
		if matchAny(l.ignore, c.path) {
			continue
		}
		files, added, removed = files+1, added+c.added, removed+c.removed
		switch {
		case matchAny(l.deny, c.path):
			wrong = append(wrong, quote(c.path)+" must not be changed")
		case l.allow != nil && !matchAny(l.allow, c.path):
			wrong = append(wrong, quote(c.path)+" is not among what may be changed")
		}
	}
	for _, limit := range []struct {
		what     string
		got, max int
	}{{"files are changed", files, l.files}, {"lines are added", added, l.added}, {"lines are removed", removed, l.removed}} {
		if limit.max >= 0 && limit.got > limit.max {
			wrong = append(wrong, fmt.Sprintf("%d %s, at most %d are allowed", limit.got, limit.what, limit.max))
		}
	}
	if len(wrong) > 0 {
		return verdict{reason: firstFew(wrong)}
	}
	return verdict{score: 1, pass: true}
}

// globs reads a list of patterns of paths, nil when it is absent.
func (s *spec) globs(key string) []string {
	v, ok := s.get(key)
	if !ok {
		return nil
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	globs := []string{}
	for i, item := range list {
		g, ok := item.(string)
		if !ok || g == "" {
			s.fail(key, "entry %d: a pattern of paths expected, found %s", i+1, describe(item))
			continue
		}
		if err := validGlob(g); err != nil {
			s.fail(key, "entry %d: %q: %v", i+1, g, err)
		}
		globs = append(globs, g)
	}
	return globs
}

func validGlob(g string) error {
	err := disk.ValidPattern(strings.Trim(g, "/"))
	if errors.Is(err, disk.ErrName) {
		return errors.New("write it from the workspace, like src/**/*.go")
	}
	return err
}

func matchAny(globs []string, file string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return matchGlob(g, file) })
}

// matchGlob reports whether a pattern covers a file. In a pattern * represents
// any part of a name and ** for any number of folders. A pattern that names a
// folder covers all in it. One without a slash covers the name wherever it is;
// one with a slash is from the workspace.
func matchGlob(pattern, file string) bool {
	named := !strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	pattern = strings.Trim(pattern, "/") + "/**"
	if named {
		pattern = "**/" + pattern
	}
	return disk.Match(pattern, file)
}
