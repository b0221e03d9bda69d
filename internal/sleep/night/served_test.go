package night_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// Behind one name of the profile another model answers from some night on: one warning, and carried evidence begins again.
// That a server begins to name its model, or no longer does, is no change, nor are fingerprints.
func TestTrap66AnotherModelAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		names []string // by night
		warns []int
		state bank.State // of what the first night has staged, in the second
	}{
		"another one":     {[]string{"m-2026-08", "m-2026-11", "m-2026-11"}, []int{1}, bank.Dropped},
		"the same":        {[]string{"m-2026-08", "m-2026-08"}, nil, bank.Carried},
		"named from then": {[]string{"", "m-2026-08", "", "m-2026-11"}, []int{3}, bank.Carried},
		"never named":     {[]string{"", ""}, nil, bank.Carried},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, n, with := needyHome(t, "")
			var warned []int
			for i, served := range tt.names {
				n.name = served
				h.needs(16-12*min(1, i), "", "rule one")
				h.minedAndReviewed(with)
				r := h.night(with)
				warnings := slices.DeleteFunc(slices.Clone(r.Notes), func(s string) bool { return !strings.Contains(s, "is answered by m-2026-11 now, and was by m-2026-08") })
				if len(warnings) > 1 {
					t.Errorf("night %d: %q", i, r.Notes)
				}
				if len(warnings) == 1 {
					warned = append(warned, i)
				}
				if want := strings.Fields(served); !slices.Equal(r.Served, want) {
					t.Errorf("night %d: answered by %q, want %q", i, r.Served, want)
				}
				got := r.Targets[0]
				if i == 0 && got.Outcome != night.Supported {
					t.Fatalf("%s: %s", got.Outcome, got.Reason)
				}
				c := got.Continued
				if i == 1 && (c == nil || c.State != string(tt.state) || (c.State == string(bank.Dropped)) != strings.Contains(c.Reason, "begins again") || (c.Pairs == 0) != (bank.State(c.State) == bank.Dropped)) {
					t.Errorf("carried: %+v", c)
				}
			}
			if !slices.Equal(warned, tt.warns) {
				t.Errorf("warned in nights %v, want %v", warned, tt.warns)
			}
		})
	}
}
