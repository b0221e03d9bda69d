package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// steering is text of a model that could steer what shows it.
const steering = "- a\x1b[2Jb\x00\u009b31m\u202ec\u200b\rd\u2028e\x7f\tf"

const steered = "- a[2Jb31mc\nd\ne\tf"

func TestWhatModelsWriteIsPlain(t *testing.T) {
	t.Parallel()
	const seed = "# T\x1b[1m\n- a\u202e rule\r\n- last"
	for _, c := range []struct {
		name string
		got  Skill
		want string
	}{
		{"append", applied(seed, Edit{Op: Append, Content: steering}), seed + "\n\n" + steered + "\n"},
		{"insert", applied(seed, Edit{Op: InsertAfter, Target: "# T", Content: steering}), "# T\x1b[1m\n\n" + steered + "\n- a\u202e rule\r\n- last"},
		{"replace", applied(seed, Edit{Op: Replace, Target: "- last", Content: steering}), "# T\x1b[1m\n- a\u202e rule\r\n" + steered},
		{"replace where the user has such characters", applied(seed, Edit{Op: Replace, Target: "a\u202e rule", Content: "b"}), "# T\x1b[1m\n- b\r\n- last"},
		{"slow update", New(seed + "\n").WithSlow(steering), seed + "\n\n" + SlowStart + "\n" + steered + "\n" + SlowEnd + "\n"},
		{"notes", New("x\n").WithNotes([]string{steering}), "x\n\n" + AppendixStart + "\n" + appendixTitle + "\n- - a[2Jb31mc d e f\n" + AppendixEnd + "\n"},
		{
			"notes of the user stay", New(AppendixStart + "\n- u\x1b \n" + AppendixEnd).WithNotes([]string{"u\x1b", "v\x1b"}),
			AppendixStart + "\n" + appendixTitle + "\n- u\x1b\n- v\n" + AppendixEnd,
		},
		{"a marker in pieces", applied("x", Edit{Op: Append, Content: "a <!-- SLOW_UP\x00DATE_START --> b"}), "x\n\na  b\n"},
		{"a marker in pieces, slow update", New("x").WithSlow("<!-- APPENDIX_\u200bEND -->y"), "x\n\n" + SlowStart + "\ny\n" + SlowEnd + "\n"},
	} {
		if diff := cmp.Diff(c.want, c.got.Text()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func applied(text string, e Edit) Skill {
	s, _ := Apply(New(text), []Edit{e}, ApplyOptions{})
	return s
}

func TestPlainLines(t *testing.T) {
	t.Parallel()
	const before = "# T\x1b[1m\n- a\u202e rule\r\n- c\rd\n"
	for in, want := range map[string]string{
		before:                         before,
		"# T\x1b[1m\n- new\x1b\n":      "# T\x1b[1m\n- new\n",
		"# T\x1b[1m!\n- a\u202e rule":  "# T[1m!\n- a\u202e rule",
		"- c\rd\r\n- d\rc\n- e\u2028f": "- c\rd\r\n- d\nc\n- e\nf",
		"":                             "",
	} {
		if got := PlainLines(before, in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Edits add no character that steers: what is there was there before. Half of a
// line's end can be left of a document, so carriage returns are not looked at.
func TestEditsAddNothingThatSteers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		out, _ := Apply(New(text), drawEdits(t, text), ApplyOptions{})
		if had, has := steers(text), steers(out.Text()); has > had {
			t.Fatalf("%d characters that steer became %d: %q", had, has, out.Text())
		}
	})
}

func steers(text string) int {
	return len(strings.Map(func(r rune) rune {
		if r != '\r' && wording.Steers(r) {
			return 'x'
		}
		return -1
	}, text))
}
