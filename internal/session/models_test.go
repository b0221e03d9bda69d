package session

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
)

// List prices that are old are told once for all models; those of the user, and of
// servers that have no list, never.
func TestOldListPricesAreTold(t *testing.T) {
	t.Parallel()
	day := func(text string) func() time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return func() time.Time { return at }
	}
	for name, tt := range map[string]struct {
		now  string
		home bool
		own  bool
		want string
	}{
		"fresh":       {"2026-01-15", true, false, ""},
		"old":         {"2026-06-01", true, false, "gpt-5 (2025-12), gpt-5-mini (2025-12);"},
		"elsewhere":   {"2026-06-01", false, false, ""},
		"of the user": {"2026-06-01", true, true, "gpt-5 (2025-12);"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Inputs{Config: config.Default()}
			s.Now = day(tt.now)
			s.Config.Models.Target = config.Model{Provider: "openai", Model: "gpt-5-mini"}
			s.Config.Models.Optimizer = config.Model{Provider: "openai", Model: "gpt-5"}
			if tt.own {
				s.Config.Prices = map[string]config.Price{"gpt-5-mini": {Input: 1, Output: 1}}
			}
			m, err := newModels(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, role := range []string{model.Target, model.Optimizer} {
				m.built[role] = wiring.Built{Provider: "openai", AtHome: tt.home}
			}
			m.warnOfStalePrices()
			told := strings.Join(s.Warnings, "\n")
			if (told == "") != (tt.want == "") || !strings.Contains(told, tt.want) || len(s.Warnings) > 1 {
				t.Errorf("told %q, want %q", told, tt.want)
			}
		})
	}
}
