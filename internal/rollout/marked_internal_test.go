package rollout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
)

// written writes parts as one text: pictures by their bytes in <>.
func written(parts []model.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Image != nil {
			fmt.Fprintf(&b, "<%s>", p.Image.Data)
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func pictures(names ...string) []model.Image {
	var out []model.Image
	for _, name := range names {
		out = append(out, model.Image{MIME: "image/png", Data: []byte(name)})
	}
	return out
}

func TestPicturesStandWhereTheyAreMarked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		images     []model.Image
		want       string
	}{
		{"in between", "First {image#1} then {image#2}: which?", pictures("a", "b"), "First <a> then <b>: which?"},
		{"in another order", "{image#2}{image#1}", pictures("a", "b"), "<b><a>"},
		{"twice", "{image#1} and {image#1}", pictures("a"), "<a> and <a>"},
		{"out of range", "{image#3} of {image#0}", pictures("a"), "[Image #3] of [Image #0]\n[Additional Image #1]\n<a>"},
		{"without a mark", "Which?", pictures("a", "b"), "Which?\n[Additional Image #1]\n<a>\n[Additional Image #2]\n<b>"},
		{"no text", "{image#1}", pictures("a"), "<a>"},
		{"a huge number", "{image#99999}", pictures("a"), "{image#99999}\n[Additional Image #1]\n<a>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			parts := insertImages(tt.text, tt.images)
			if diff := cmp.Diff(tt.want, written(parts)); diff != "" {
				t.Error(diff)
			}
			for _, p := range parts {
				if p.Image == nil && p.Text == "" {
					t.Error("an empty part")
				}
			}
		})
	}
}

// TestNoPictureIsLost: whatever a text marks, each picture is shown, and the text without marks stays.
func TestNoPictureIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"{image#1}", "{image#2}", "{image#7}", "{image#", "x", "\n", "}", "ü"}), 0, 12).Draw(t, "text")
		got := written(insertImages(strings.Join(pieces, ""), pictures("a", "b")))
		for _, want := range []string{"<a>", "<b>"} {
			if !strings.Contains(got, want) {
				t.Fatalf("%q lacks %s", got, want)
			}
		}
		if strings.Count(got, "x") != strings.Count(strings.Join(pieces, ""), "x") {
			t.Fatalf("%q lost text", got)
		}
	})
}
