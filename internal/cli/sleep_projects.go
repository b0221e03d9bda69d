package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// nightProjects returns the allowed projects that have sessions or tasks, the innermost first. A session belongs to the
// first one that it lies in. With --project, it returns those in it or below it, and the folder itself where there are none.
func (s sleepSetup) nightProjects(ctx context.Context, b *bank.Bank) ([]string, error) {
	allowed, err := s.projects()
	if err != nil {
		return nil, err
	}
	parts, err := b.Parts(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := b.Groups(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkProject(allowed); err != nil || s.alone {
		return []string{s.project}, err
	}
	chosen := s.projectFilter()
	var out []string
	add := func(p string) {
		if allowed.Allow(p) && chosen(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, p := range parts {
		add(findProjectRoot(p.Project, allowed))
	}
	for _, g := range groups {
		add(g.Project)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	if len(out) == 0 && s.project != "" {
		out = append(out, s.project)
	}
	return out, nil
}

// checkProject fails if the profile does not allow the project of --project.
func (s sleepSetup) checkProject(allowed harvest.Projects) error {
	if s.project == "" || allowed.Allow(s.project) {
		return nil
	}
	return usagef("--project %s: sleep.projects in %s does not allow it; add the line\n    - %s", s.project, s.profile, quoteYAML(s.project))
}

// findProjectRoot returns the project that a session's folder belongs to: the nearest repository that is allowed, else the folder.
func findProjectRoot(dir string, allowed harvest.Projects) string {
	for at := filepath.Clean(dir); allowed.Allow(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return filepath.Clean(dir)
}

// findNight finds a night by its name, or the last one, of a project or of all.
func (s sleepSetup) findNight(ctx context.Context, b *bank.Bank, id string) (*night.Report, error) {
	nights, err := b.Nights(ctx, "")
	if err != nil {
		return nil, err
	}
	of := s.projectFilter()
	var names, projects []string
	for _, n := range nights { // the newest first
		if !of(n.Project) {
			continue
		}
		names = append(names, n.ID)
		if id == "" || n.ID == id {
			projects = append(projects, n.Project)
		}
		if id == "" {
			break
		}
	}
	switch {
	case len(names) == 0 && s.project != "":
		return nil, usagef("there was no night of %s yet; `skillopt sleep run` carries one out", s.project)
	case len(names) == 0:
		return nil, usagef("there was no night yet; `skillopt sleep run` carries one out")
	case len(projects) == 0:
		return nil, usagef("there was no night %s; the last one is %s", id, names[0])
	case len(projects) > 1:
		return nil, usagef("%d projects had a night %s: %s; name one by --project", len(projects), id, oneLine(strings.Join(projects, ", ")))
	}
	if id == "" {
		id = names[0]
	}
	r, _, err := night.Last(ctx, b, s.dir, projects[0], id)
	return r, err
}
