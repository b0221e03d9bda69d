package skillopt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/wire"
)

// simulatedOutput is more tokens than a reply of a simulated world has, as a rule.
const simulatedOutput = 2048

// priceOfModel returns what is known of the price of a role's model: what the user
// set for it, and at the provider's own address also what stands in the tables.
func (s *setup) priceOfModel(role string, b wire.Built) (price.Entry, bool) {
	m := s.model(role)
	if _, own := s.cfg.Prices[m.Model]; !own && !b.AtHome {
		return price.Entry{}, false
	}
	_, e, ok := s.prices.Find(b.Provider, m.Model)
	return e, ok
}

// stalePrices says, once for all models, which list prices are old.
func (s *setup) stalePrices() {
	var old []string
	for _, role := range slices.Sorted(maps.Keys(s.models)) {
		e, ok := s.priceOfModel(role, s.models[role])
		if text := fmt.Sprintf("%s (%s)", e.Model, e.AsOf); ok && e.Stale(s.now()) && !slices.Contains(old, text) {
			old = append(old, text)
		}
	}
	if len(old) > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("list prices that were last compared with their source more than 90 days ago: %s; skillopt prices import brings newer ones into a price_file",
			strings.Join(old, ", ")))
	}
}

func (s *setup) loadPrices(ctx context.Context) (err error) {
	if s.prices, err = s.cfg.PriceTable(ctx); err != nil {
		return &inputError{err}
	}
	return nil
}
