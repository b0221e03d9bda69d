package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A key that a manifest lacks has the value of the program that wrote it.
func TestAsBegunWithoutAKey(t *testing.T) {
	t.Parallel()
	begun := map[string]string{"train.seed": "42"}
	for _, tt := range []struct {
		name    string
		origins map[string]string
		want    string
	}{
		{"a default", nil, ViewTask},
		{"chosen", map[string]string{"reflect.view": "--set"}, ViewAgent},
	} {
		c := Default()
		l := &Loaded{Config: c, Origins: tt.origins}
		l.AsBegun(&c, begun)
		if c.Reflect.View != tt.want {
			t.Errorf("%s: the view is %q, want %q", tt.name, c.Reflect.View, tt.want)
		}
		_, kept := l.AsBegunIdentity(Default().Fingerprint(nil, nil), begun)["reflect.view"]
		if kept != (tt.want == ViewAgent) {
			t.Errorf("%s: the identity has the key: %v", tt.name, kept)
		}
	}
	c := Default()
	if (&Loaded{Config: c}).AsBegun(&c, begun); c.Edits.Tidy {
		t.Error("a run that began before edits were tidy goes on with tidy ones")
	}
	old := Default()
	old.Reflect.View, old.Edits.Tidy = ViewTask, false
	if diff := cmp.Diff(AsEver(old.Fingerprint(nil, nil)), AsEver(Default().Fingerprint(nil, nil))); diff != "" {
		t.Errorf("what is named by the identity has another name (-then +now):\n%s", diff)
	}
}

// A cassette of an earlier build names the keys whose default had changed by then. One that
// has changed since is not among them, and counts as it was.
func TestWhatACassetteDoesNotNameCountsAsItWas(t *testing.T) {
	t.Parallel()
	said := Begun(Default().Fingerprint(nil, nil))
	delete(said, "gate.risk")
	delete(said, "train.warm.drafts")
	c, l := Default(), &Loaded{}
	if l.AsBegun(&c, said); c.Gate.Risk != 0.5 || c.Train.Warm.Drafts != 0 || c.Gate.Confirm != "measured" || c.Edits.Budget != AutoCount {
		t.Errorf("risk %v, drafts %d, confirm %s, budget %v", c.Gate.Risk, c.Train.Warm.Drafts, c.Gate.Confirm, c.Edits.Budget)
	}
	c = Default()
	if l.AsBegun(&c, Begun(Default().Fingerprint(nil, nil))) {
		t.Errorf("today's defaults are changed to %+v", c)
	}
}
