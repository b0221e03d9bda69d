package modeltest_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func TestTable(t *testing.T) {
	t.Parallel()
	got := modeltest.Table([]modeltest.Adapter{
		{Name: "One", Abilities: []modeltest.Ability{{Name: "images", Supported: true}, {Name: "seed", Supported: true}}},
		{Name: "Two", Abilities: []modeltest.Ability{{Name: "seed"}}},
	})
	want := "| | One | Two |\n|---|---|---|\n| images | yes | – |\n| seed | yes | – |\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if got := modeltest.Table(nil); got != "" {
		t.Errorf("a table of nothing is %q", got)
	}
}

func TestAbilities(t *testing.T) {
	t.Parallel()
	modeltest.Golden(t, filepath.Join("testdata", "abilities.json"), toyHarness(""))
	all, err := modeltest.ReadAbilities(filepath.Join("testdata", "abilities.json"))
	if err != nil {
		t.Fatal(err)
	}
	lacks := map[string]bool{"reasoning effort": true, "refusals distinguished": true, "reasoning tokens": true, "fingerprint": true}
	for _, a := range all {
		if a.Supported == lacks[a.Name] {
			t.Errorf("%s: supported is %v", a.Name, a.Supported)
		}
	}
	if _, err := modeltest.ReadAbilities("testdata/none.json"); err == nil {
		t.Error("a missing file is no error")
	}
}
