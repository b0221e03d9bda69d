package train

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
)

// Opening is one opening of the sealed test split: somebody who looks twice can choose
// by it, and then it tests nothing.
type Opening struct {
	Number int               `json:"number"` // 1 is the one that counts
	Skills map[string]string `json:"skills"` // hash of each arm's skill
	// Measure says what they were scored with.
	Measure string `json:"measure,omitempty"`
	// Raisable says that a ceiling had ended the loop: if it is raised, the split is opened
	// again, as one more reading.
	Raisable bool `json:"raisable,omitempty"`
}

// is reports whether an opening shows what another one showed: the same skills, scored
// in the same way.
func (o Opening) is(other Opening) bool {
	return sameSkills(o.Skills, other.Skills) && o.Measure == other.Measure
}

// openings is the key of the recorded decisions.
const openings = "final/test/opened"

// IsOpening reports whether a key is that of the decision to open the test split:
// a fork takes it over, because it knows the scores.
func IsOpening(key string) bool { return key == openings || strings.HasPrefix(key, openings+"/") }

// maxOpenings bounds the search for the last opening.
const maxOpenings = 1000

// open records that the test split is opened for these arms. The first time it
// is, and again for the same skills scored alike: then the answers are in the record.
// For other skills, or by another measure, it is refused unless Reopen allows it.
// Openings for others in between count: somebody who has seen both can choose.
func (s *testSplit) open(ctx context.Context, arms []testArm) (*testAccess, error) {
	skills := map[string]string{}
	for _, a := range arms {
		skills[a.name] = a.hash()
	}
	out := &testAccess{fresh: map[int]bool{}, places: map[string]rollout.Place{}, refused: true}
	for n := 1; n <= maxOpenings; n++ {
		want := Opening{Number: n, Skills: skills, Measure: s.measure, Raisable: s.opts.Raisable}
		found, fresh, err := s.recordOpening(ctx, want, out.refused && (s.opts.Reopen || out.isContinued()))
		if err != nil {
			return nil, err
		}
		if found == nil {
			return out, nil
		}
		out.openings = append(out.openings, *found)
		out.fresh[n] = fresh
		for _, a := range arms {
			if hash := found.Skills[a.name]; hash == skills[a.name] {
				if _, ok := out.places[hash]; !ok {
					out.places[hash] = testPlace(n, a.name)
				}
			}
		}
		if found.is(want) {
			out.refused = false
		}
		if fresh {
			return out, nil
		}
	}
	return nil, fmt.Errorf("the test split was opened %d times", maxOpenings)
}

// testAccess says how the test split was opened.
type testAccess struct {
	openings []Opening
	fresh    map[int]bool // those that this session recorded, by number
	refused  bool
	places   map[string]rollout.Place // of each skill's rollouts, by hash
	before   *result.TestReads        // nil: it is not kept track of
	level    *Level                   // of the certificate; nil: there is none
}

// isContinued reports whether each opening so far was that of a loop that a ceiling had ended.
func (s *testAccess) isContinued() bool {
	return !slices.ContainsFunc(s.openings, func(o Opening) bool { return !o.Raisable })
}

// isSealed reports whether the last opening is the first one, or one more reading of a loop that
// was continued.
func (s *testAccess) isSealed() bool {
	before := testAccess{openings: s.openings[:len(s.openings)-1]}
	return before.isContinued()
}

// HasOpening reports whether the test split was opened, by the record of a run.
func HasOpening(r Recorder) bool {
	_, known := r.Decided(openings)
	return known
}

// readBefore returns the key of what was known of earlier readings when the test split was opened
// for the nth time.
func readBefore(n int) string { return fmt.Sprintf("final/test/before/%d", n) }

// claim notes that the open test split is read, and learns who has read it before. Both
// are recorded: a resumed run says what it said.
func (s *testSplit) claim(ctx context.Context, opened *testAccess) error {
	n, taken := len(opened.openings), false
	if _, known := s.record.Decided(readBefore(n)); s.before == nil && !known {
		return nil
	}
	for i := 1; i <= n; i++ {
		_, own := s.record.Decided(readBefore(i))
		taken = taken || !own && !opened.fresh[i]
	}
	data, err := s.record.Decision(ctx, readBefore(n), func() ([]byte, error) {
		before, err := s.before(ctx, n, taken)
		if err != nil {
			return nil, err
		}
		return json.Marshal(before)
	})
	if err != nil {
		return err
	}
	opened.before = &result.TestReads{}
	if err := json.Unmarshal(data, opened.before); err != nil {
		return fmt.Errorf("read the record of %s: %w", readBefore(n), err)
	}
	return nil
}

// recordOpening returns the recorded opening with a number. If there is none, it records one, or
// returns nil if that is not allowed.
func (s *testSplit) recordOpening(ctx context.Context, want Opening, allowed bool) (found *Opening, fresh bool, err error) {
	key := openings
	if want.Number > 1 {
		key = fmt.Sprintf("%s/%d", openings, want.Number)
	}
	_, known := s.record.Decided(key)
	if !known && !allowed {
		return nil, false, nil
	}
	data, err := s.record.Decision(ctx, key, func() ([]byte, error) { return json.Marshal(want) })
	if err != nil {
		return nil, false, err
	}
	found = &Opening{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, false, fmt.Errorf("read the record of %s: %w", key, err)
	}
	return found, !known, nil
}

func sameSkills(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, hash := range a {
		if b[name] != hash {
			return false
		}
	}
	return true
}

// place returns the place of the rollouts of an arm: the one where its skill was first tested.
func (s *testAccess) place(a testArm) rollout.Place { return s.places[a.hash()] }

// warn warns of a test that is no longer sealed.
func (s *testSplit) warn(opened *testAccess) {
	switch n := len(opened.openings); {
	case opened.refused:
		s.emit(event.Warning{Text: fmt.Sprintf(
			"the test split stays closed: it was opened before in this record (%s), for other skills or with other checks, models or settings of the score, and a score that was looked at tests nothing; --reopen-test opens it again, and the report says so", times(n))})
	case n > 1 && !opened.isSealed():
		s.emit(event.Warning{Text: fmt.Sprintf("the test split is opened for the %s time: it certifies nothing any more, since its scores could have been chosen by", ordinal(n))})
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// hash names what an arm is tested with.
func (a testArm) hash() string {
	if a.of == noSkill {
		return "none"
	}
	return a.skill.Digest()
}

func ordinal(n int) string {
	switch {
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprintf("%drd", n)
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprintf("%dst", n)
	}
	return fmt.Sprintf("%dth", n)
}
