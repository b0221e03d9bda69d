package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nested is a type within itself, whose texts stand behind that.
type nested struct {
	Inner []nested
	Text  string
	Texts []string
	Marks map[string]float64
}

// TestStringsShareWhatNeedsNoMask: long lists without a secret are not copied, and secrets are
// found at any depth; what was handed in stays as it is.
func TestStringsShareWhatNeedsNoMask(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
	in := nested{Texts: []string{"a", secret, "b"}, Inner: []nested{{Text: secret, Inner: []nested{{Texts: []string{"c"}, Text: secret}}}}, Marks: map[string]float64{"a": 1}}
	out := Strings(Text, in)
	masked := New().Text(secret)
	want := nested{Texts: []string{"a", masked, "b"}, Inner: []nested{{Text: masked, Inner: []nested{{Texts: []string{"c"}, Text: masked}}}}, Marks: map[string]float64{"a": 1}}
	if diff := cmp.Diff(want, out); diff != "" || masked == secret {
		t.Errorf("masked %q (-want +got):\n%s", masked, diff)
	}
	if in.Texts[1] != secret || in.Inner[0].Text != secret {
		t.Error("what was handed in has changed")
	}
	if &out.Inner[0].Inner[0].Texts[0] != &in.Inner[0].Inner[0].Texts[0] {
		t.Error("a list without a secret was copied")
	}
}
