package survey

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Sizes of splits.
const (
	leastTest = 20 // tasks, below which nothing can be certified
	leastPool = 60 // tasks for train and selection, below which they are folds
)

// testSize returns how many of the tasks are for test.
func testSize(limit int) int {
	if limit < 2*leastTest {
		return limit / 2
	}
	return max(leastTest, limit/3)
}

// collect makes the tasks, and divides them: the newest are for test.
func (s *surveyor) collect(ctx context.Context) ([]*made, error) {
	commits, err := s.commits(ctx)
	if err != nil {
		return nil, err
	}
	tests := testSize(s.Limit)
	n := (len(commits)*tests + s.Limit/2) / s.Limit
	test, commits := s.dropNearCopies(commits[:n], nil), commits[n:]
	used := map[string]bool{}
	for _, m := range slices.Concat(test, commits) {
		for _, key := range m.keys {
			used[key] = true
		}
	}
	planted, err := s.faults(ctx, s.top, time.Now(), tests-len(test), used)
	if err != nil {
		return nil, err
	}
	for len(test)+len(planted) < tests && len(commits) > 0 { // too few faults: more of the newest commits
		test = append(test, s.dropNearCopies(commits[:1], test)...)
		commits = commits[1:]
	}
	before := s.top
	for _, m := range test { // the newest are first
		before = m.parent
	}
	test = s.dropNearCopies(append(test, planted...), nil)
	rest := s.excludeSimilar(commits, test)
	more, err := s.faults(ctx, before, oldest(test), s.Limit-len(test)-len(rest), used)
	if err != nil {
		return nil, err
	}
	rest = append(rest, s.excludeSimilar(more, test)...)
	return divide(test, rest), nil
}

// oldest returns the time of the oldest of the tasks.
func oldest(list []*made) time.Time {
	at := time.Now()
	for _, m := range list {
		if m.time.Before(at) {
			at = m.time
		}
	}
	return at
}

// dropNearCopies leaves out near copies: the newest of a family stays. before are those that are chosen already.
func (s *surveyor) dropNearCopies(list, before []*made) []*made {
	var out []*made
	for _, m := range list {
		if similar(m, slices.Concat(before, out)) {
			s.left[whyNear]++
			s.note("%s is left out: %s", m.id, whyNear)
			continue
		}
		out = append(out, m)
	}
	return out
}

// excludeSimilar leaves out near copies of other tasks.
func (s *surveyor) excludeSimilar(list, others []*made) []*made {
	var out []*made
	for _, m := range list {
		if similar(m, others) {
			s.left[whyNear]++
			s.note("%s is left out: %s", m.id, whyNear)
			continue
		}
		out = append(out, m)
	}
	return out
}

// similar reports whether a task shares a function, its red tests or its text with one of others.
func similar(m *made, others []*made) bool {
	return slices.ContainsFunc(others, func(o *made) bool {
		return slices.ContainsFunc(m.keys, func(key string) bool { return slices.Contains(o.keys, key) })
	})
}

// divide names the splits. Families of train and selection stay together, and both have tasks of both kinds.
func divide(test, rest []*made) []*made {
	families(rest)
	sorted := slices.Clone(rest)
	slices.SortStableFunc(sorted, func(a, b *made) int { return cmp.Compare(a.kind, b.kind) })
	split := map[string]string{}
	var count [2]int
	for _, m := range sorted {
		if split[m.Kin] == "" {
			split[m.Kin] = "train"
			if count[1] < count[0] {
				split[m.Kin] = "selection"
			}
		}
		m.split = split[m.Kin]
		if m.split == "train" {
			count[0]++
		} else {
			count[1]++
		}
	}
	for _, m := range test {
		m.Kin, m.split = m.id, "test"
	}
	return slices.Concat(test, rest)
}
