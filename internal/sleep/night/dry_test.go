package night_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// What a night that is open would do is said of that night: its tasks are new to it, and nothing of it changes.
func TestADryRunIsOfTheNightThatIsOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(14, "", true)
	if _, err := night.Mine(t.Context(), h.options()); err != nil {
		t.Fatal(err)
	}
	before, err := h.bank.Nights(t.Context(), h.project)
	if err != nil {
		t.Fatal(err)
	}
	dry := h.night(func(o *night.Options) { o.DryRun = true })
	if len(dry.Targets) != 1 || dry.Targets[0].Groups.Tonight == 0 || dry.ID != before[0].ID || !dry.DryRun {
		t.Errorf("%s: %+v", dry.ID, dry.Targets)
	}
	after, err := h.bank.Nights(t.Context(), h.project)
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("%v (-before +after):\n%s", err, diff)
	}
	if r := h.night(); r.ID != dry.ID || r.DryRun || r.Targets[0].Groups.Tonight != dry.Targets[0].Groups.Tonight {
		t.Errorf("%s dry %v, %+v", r.ID, r.DryRun, r.Targets[0].Groups)
	}
}
