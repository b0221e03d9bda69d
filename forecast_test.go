package skillopt

import (
	"math"
	"path/filepath"
	"testing"
)

// priced is what tokens would cost by role, in dollars: of a simulation nothing
// is known.
func priced(role string, input, output float64) float64 {
	if role == "target" {
		return (0.25*input + 2*output) / 1e6
	}
	return (1.25*input + 10*output) / 1e6
}

// The forecast of the quick start, made before anything was asked, is within 20 %
// of what it takes; with its record within 5 %.
func TestForecastOfTheQuickStart(t *testing.T) {
	t.Parallel()
	cfg, err := LoadConfig(filepath.Join("examples", "quickstart"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Dir = t.TempDir()
	cost := func() (usd, calls float64) {
		p, err := PlanTraining(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range p.Forecast.Stages {
			usd += priced(st.Role, st.Input.Expected, st.Output.Expected)
		}
		return usd, p.Forecast.Calls.Expected
	}
	before, callsBefore := cost()
	sum, err := Train(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	actual := 0.0
	for _, st := range sum.Stages {
		actual += priced(st.Role, float64(st.Input), float64(st.Output))
	}
	after, callsAfter := cost()
	t.Logf("calls %d, forecast %.0f and with the record %.0f; cost %.4f, forecast %.4f (%+.1f %%) and with the record %.4f (%+.1f %%)",
		sum.Calls.Total, callsBefore, callsAfter, actual, before, 100*(before/actual-1), after, 100*(after/actual-1))
	if off := math.Abs(before/actual - 1); off > 0.2 {
		t.Errorf("the forecast is off by %.0f %%", 100*off)
	}
	if off := math.Abs(after/actual - 1); off > 0.2 {
		t.Errorf("with the record the forecast is off by %.0f %%", 100*off)
	}
}
