package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRegionsEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		want       bool
	}{
		{"same", withRegions, withRegions, true},
		{"none", "a", "b", true},
		{"another body", withRegions, strings.Replace(withRegions, "- a", "- z", 1), true},
		{"another tail", withRegions, strings.Replace(withRegions, "tail", "end", 1), true},
		{"another name", withRegions, strings.Replace(withRegions, "name: t", "name: u", 1), false},
		{"another guidance", withRegions, strings.Replace(withRegions, "guidance", "guide", 1), false},
		{"another note", withRegions, strings.Replace(withRegions, "- note", "* note", 1), false},
		{"another line end", withRegions, strings.Replace(withRegions, "guidance\n", "guidance\r\n", 1), false},
		{"a region less", withRegions, StripAppendix(withRegions), false},
		{"a region more", "a", "a" + SlowStart + SlowEnd, false},
		{"front matter less", "---\na: b\n---\nx", "x", false},
		{"front matter or region", "---\n---\n", SlowStart + SlowEnd, false},
		{"regions swapped", SlowStart + SlowEnd + AppendixStart + AppendixEnd, AppendixStart + AppendixEnd + SlowStart + SlowEnd, false},
		{"line break after front matter", "---\na: b\n---", "---\na: b\n---\nx", true},
		{"lone markers protect nothing", "a" + SlowStart, "a", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := RegionsEqual(tt.a, tt.b); got != tt.want {
				t.Errorf("RegionsEqual = %v, want %v", got, tt.want)
			}
			if got := RegionsEqual(tt.b, tt.a); got != tt.want {
				t.Errorf("RegionsEqual, swapped = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWithoutRegions(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff("# T\n\n- a\n- b\n\ntail", WithoutRegions(withRegions)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	// Blank lines elsewhere stay.
	text := "a\n\n\n\nb\n\n" + SlowStart + SlowEnd + "\n\nc"
	if diff := cmp.Diff("a\n\n\n\nb\n\nc", WithoutRegions(text)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestWithSlow(t *testing.T) {
	t.Parallel()
	region := SlowStart + "\nnew\n" + SlowEnd
	tests := []struct{ name, text, content, want string }{
		{"first content", "# T\n\n\n", " new ", "# T\n\n" + region + "\n"},
		{"in its place", withRegions, "new", strings.Replace(withRegions, "guidance", "new", 1)},
		{"without markers", "a\n", "n" + SlowEnd + "ew", "a\n\n" + region + "\n"},
		{"CRLF", "# T\r\n", "x\ny", "# T\r\n\r\n" + SlowStart + "\r\nx\r\ny\r\n" + SlowEnd + "\r\n"},
		{"several become one", "a\n\n" + SlowStart + "x" + SlowEnd + "\n\nb\n\n" + SlowStart + "y" + SlowEnd, "new", "a\n\nb\n\n" + region + "\n"},
		{"an unclosed one", "a\n\n" + SlowStart + "\n\nb\n", "new", "a\n\nb\n\n" + region + "\n"},
		{"after front matter", "---\nname: x\n---\n", "new", "---\nname: x\n---\n\n" + region + "\n"},
		{"no front matter by content", "---\n", "---", "---\n\n" + SlowStart + "\n---\n" + SlowEnd + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, New(tt.text).WithSlow(tt.content).Text()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlowOnText(t *testing.T) {
	t.Parallel()
	text := InjectSlow("a")
	if !HasSlow(text) || SlowText(text) != "" || text != InjectSlow(text) {
		t.Errorf("injected: %q", text)
	}
	text = ReplaceSlow(text, "\nx\n")
	if SlowText(text) != "x" || StripSlow(text) != "a" {
		t.Errorf("replaced: %q", text)
	}
	if got := SlowText(SlowEnd + "x" + SlowStart); got != "" {
		t.Errorf("content between reversed markers: %q", got)
	}
}

func TestWithNotes(t *testing.T) {
	t.Parallel()
	block := AppendixStart + "\n" + appendixTitle + "\n- x\n- y z\n" + AppendixEnd
	notes := []string{" x ", "X.", "y\n  z", "...", AppendixEnd}
	tests := []struct {
		name, text string
		notes      []string
		want       string
	}{
		{"first notes", "# T\n", notes, "# T\n\n" + block + "\n"},
		{"in its place", AppendixStart + "\n- old\n" + AppendixEnd + "\n\ntail  \n", notes, block + "\n\ntail  \n"},
		{"CRLF", "# T\r\n", []string{"x"}, "# T\r\n\r\n" + AppendixStart + "\r\n" + appendixTitle + "\r\n- x\r\n" + AppendixEnd + "\r\n"},
		{"no notes, no appendix", "# T\n\n\n", []string{" ", "-"}, "# T\n\n\n"},
		{"no notes any more", "# T\n\n" + block + "\n", nil, "# T\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, New(tt.text).WithNotes(tt.notes).Text()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendixOnText(t *testing.T) {
	t.Parallel()
	text := InjectAppendix("a")
	if !HasAppendix(text) || Notes(text) != nil || InjectAppendix(text) != text {
		t.Errorf("injected: %q", text)
	}
	text = AppendNotes(text, []string{"Check  units.", "- straße"})
	text = AppendNotes(text, []string{"check units", "- STRASSE", "third"})
	want := []string{"Check units.", "- straße", "third"}
	if diff := cmp.Diff(want, Notes(text)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if got := StripAppendix(text); got != "a" {
		t.Errorf("stripped: %q", got)
	}
}

// TestStripStartMarkers: what stands before the last start marker of an appendix is
// no part of it and stays. SkillOpt's slow update begins at the first.
func TestStripStartMarkers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, appendix, slow string }{
		{"a S b E c", "a  c", "a  c"},
		{"a S b S c E d", "a  b  d", "a  d"},
		{"S a S b S c E d", "a  b  d", " d"},
		{"a S b S c E d E e", "a  e", "a  d  e"},
		{"a S b S c E d S e S f E g", "a  b  d  e  g", "a  d  g"},
		{"a S b", "a  b", "a  b"},
		{"a S b S c", "a  b  c", "a  b  c"},
		{"a E b S c E d", "a  b  d", "a  b  d"},
		{"a\n\nS\nb\n\nS\nc\nE\n\nd", "a\n\nb\n\nd", "a\n\nd"},
	} {
		marked := func(start, end string) string {
			return strings.NewReplacer("S", start, "E", end).Replace(tt.text)
		}
		if got := StripAppendix(marked(AppendixStart, AppendixEnd)); strings.TrimLeft(got, " ") != tt.appendix {
			t.Errorf("%q without its appendix: %q, want %q", tt.text, got, tt.appendix)
		}
		if got := StripSlow(marked(SlowStart, SlowEnd)); got != tt.slow {
			t.Errorf("%q without its slow update: %q, want %q", tt.text, got, tt.slow)
		}
	}
}

func TestDensity(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		words      []string
		want       float64
	}{
		{"no words", " !\n", nil, 0},
		{"built-in list", "You MUST check. Never guess", nil, 0.4},
		{"own list", "You MUST check. Never guess", []string{"Guess"}, 0.2},
		{"empty list", "must", []string{}, 0},
		{"front matter and regions", "---\nname: must\n---\nalways x " + SlowStart + "must" + SlowEnd + AppendixStart + "must" + AppendixEnd, nil, 0.5},
	}
	for _, tt := range tests {
		if got := Density(tt.text, tt.words); got != tt.want {
			t.Errorf("%s: Density = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLineEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": lf, "a": lf, "a\nb": lf, "a\r\nb": crlf, "a\r\nb\n": lf, "a\r\nb\r\nc\n": crlf, "a\rb": lf,
	} {
		if got := LineEnd(text); got != want {
			t.Errorf("LineEnd(%q) = %q, want %q", text, got, want)
		}
	}
	if got := WithLineEnd("a\r\nb\nc", crlf); got != "a\r\nb\r\nc" {
		t.Errorf("to CRLF: %q", got)
	}
	if got := WithLineEnd("a\r\nb\nc", lf); got != "a\nb\nc" {
		t.Errorf("to LF: %q", got)
	}
}
