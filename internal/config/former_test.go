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
	old := Default()
	old.Reflect.View = ViewTask
	if diff := cmp.Diff(AsEver(old.Fingerprint(nil, nil)), AsEver(Default().Fingerprint(nil, nil))); diff != "" {
		t.Errorf("what is named by the identity has another name (-then +now):\n%s", diff)
	}
}
