package certificate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quick is an experiment that takes a moment.
func quick() Study { return Study{Runs: 400, Seed: 5, Sizes: []int{8, 100}} }

// The certificate keeps what docs/certificate.md says of it, in short.
func TestCertificatesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	r, err := quick().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if !f.Holds {
			t.Errorf("%s: %s", f.Claim, f.Why)
		}
	}
	for _, row := range r.Rows {
		if row.Tasks == 100 && !row.Clustered && row.First.Mean < 0.35 {
			t.Errorf("%s: a skill that is better by 10 points is certified in %.2f of cases", row.name(), row.First.Mean)
		}
	}
}

// Siblings that each spend what there is for all of them err too often: the experiment
// would notice.
func TestLevelsThatDoNotAddUpAreNoticed(t *testing.T) {
	t.Parallel()
	e := quick()
	e.Sizes = []int{100}
	e.level = func(alpha float64, _ int) float64 { return 2 * alpha }
	r, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Findings[0].Holds {
		t.Errorf("%s, at twice the level each: %s", r.Findings[0].Claim, r.Findings[0].Why)
	}
}

func TestCertificateReportsAreReproducible(t *testing.T) {
	t.Parallel()
	one, two, other := quick(), quick(), quick()
	one.Runs, two.Runs, other.Runs = 20, 20, 20
	one.Workers, two.Workers, other.Seed = 1, 2, 6
	want, err := one.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := two.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("1 and 2 workers (-1 +2):\n%s", diff)
	}
	if third, err := other.Run(t.Context()); err != nil || cmp.Equal(want.Rows, third.Rows) {
		t.Errorf("another seed gives the same results (%v)", err)
	}
	var csv strings.Builder
	if err := got.CSV(&csv); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got.Text(), got.Markdown("command"), csv.String()} {
		if strings.Contains(text, "%!") || !strings.Contains(text, "rare losses") {
			t.Errorf("the report:\n%s", text)
		}
	}
}
