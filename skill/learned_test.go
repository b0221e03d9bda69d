package skill

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const memory = "# House rules\n\nTabs, not spaces.\n\n" + LearnedStart + "\n- Dates are ISO.\n- Sums have two decimals.\n" + LearnedEnd + "\n\n## Later\n\nDates are ISO.\n"

func TestLearnedText(t *testing.T) {
	t.Parallel()
	region := LearnedStart + "\n- a\n" + LearnedEnd + "\n"
	tests := []struct{ name, text, want, err string }{
		{"between text", memory, "- Dates are ISO.\n- Sums have two decimals.\n", ""},
		{"empty", LearnedStart + "\n" + LearnedEnd, "", ""},
		{"CRLF", WithLineEnd(memory, crlf), "- Dates are ISO.\r\n- Sums have two decimals.\r\n", ""},
		{"behind a byte order mark", byteOrderMark + region, "- a\n", ""},
		{"white space behind the markers", LearnedStart + " \t\n- a\n" + LearnedEnd + " \r\n", "- a\n", ""},
		{"behind front matter", "---\nname: x\n---\n" + region, "- a\n", ""},
		{"right behind a list", "- x\n- y\n" + region, "- a\n", ""},
		{"with another region", strings.Replace(region, "- a\n", SlowStart+"\nx\n"+SlowEnd+"\n", 1), SlowStart + "\nx\n" + SlowEnd + "\n", ""},
		{"none", "# T\n", "", "there is no learned region"},
		{"start alone", "a\n" + LearnedStart + "\nb\n", "", "line 2: the learned region begins and does not end"},
		{"end alone", "a\n\n" + LearnedEnd, "", "line 3: the learned region ends and does not begin"},
		{"reversed", "a\n" + LearnedEnd + "\n" + LearnedStart + "\n", "", "line 2: the learned region ends before it begins, in line 3"},
		{"two starts", LearnedStart + "\n" + LearnedStart + "\n" + LearnedEnd, "", "line 2: the learned region begins a second time, after line 1"},
		{"two ends", region + LearnedEnd + "\n", "", "line 4: the learned region ends a second time, after line 3"},
		{"two regions", region + "x\n" + region, "", "line 5: there is a second learned region, the first begins in line 1"},
		{"in a fence", "```\n" + region + "```\n", "", "line 2: a marker of the learned region is in code"},
		{"end in a fence", LearnedStart + "\n~~~\n" + LearnedEnd + "\n", "", "line 3: a marker of the learned region is in code"},
		{"in indented code", "a\n\n    " + region, "", "line 3: a marker of the learned region is in code"},
		{"in a comment", "<!--\n" + region, "", "line 2: a marker of the learned region is in code, a comment"},
		{"in a sentence", "The marker " + LearnedStart + " begins it.\n" + region, "", "line 1: a marker of the learned region has to be alone"},
		{"in an item", "- x\n  " + region, "", "line 2: a marker of the learned region has to be alone on its line, at the beginning, and in no list"},
		{"other letters", "<!-- skillopt-sleep:learned start -->\n- a\n" + LearnedEnd, "", "line 1: \"<!-- skillopt-sleep:learned start -->\" is not written as a marker"},
		{"other white space", LearnedStart + "\n- a\n<!--  SKILLOPT-SLEEP:LEARNED END-->", "", "line 3: "},
		{"slow region across its end", LearnedStart + "\n" + SlowStart + "\nx\n" + LearnedEnd + "\n" + SlowEnd, "", "line 2: the region of " + SlowStart + " holds a marker"},
		{"within an appendix", AppendixStart + "\n" + region + AppendixEnd, "", "line 1: the region of " + AppendixStart + " holds a marker"},
		{"in what looks like front matter", "---\n# " + LearnedStart + "\n---\n" + region, "", "line 2: a marker of the learned region has to be alone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := LearnedText(tt.text)
			if got != tt.want || err == nil != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
			// What cannot be told is changed by nothing.
			edits := []Edit{{Op: Append, Content: "- new"}, {Op: Replace, Target: "- a", Content: "- new"}, {Op: Delete, Target: LearnedEnd}}
			after, reports := Apply(New(tt.text), edits, ApplyOptions{Only: LearnedRegion})
			for i, r := range reports {
				if tt.err != "" && r.Status != SkippedOutsideRegion {
					t.Errorf("edit %d: %s", i+1, r.Status)
				}
			}
			if tt.err != "" && after.Text() != tt.text {
				t.Errorf("%q became %q", tt.text, after.Text())
			}
		})
	}
}

func TestInjectLearned(t *testing.T) {
	t.Parallel()
	empty := LearnedStart + "\n" + LearnedEnd + "\n"
	tests := []struct{ name, text, want, err string }{
		{"nothing", "", empty, ""},
		{"a byte order mark", byteOrderMark, byteOrderMark + empty, ""},
		{"text", "# T\n", "# T\n\n" + empty, ""},
		{"a blank line is there", "# T\n\n", "# T\n\n" + empty, ""},
		{"no line end", "# T", "# T\n\n" + empty, ""},
		{"CRLF", "# T\r\n", "# T\r\n\r\n" + WithLineEnd(empty, crlf), ""},
		{"front matter alone", "---\nname: x\n---\n", "---\nname: x\n---\n\n" + empty, ""},
		{"a line at the beginning", "---\n", "---\n\n" + empty, ""},
		{"behind other regions", "a\n" + SlowStart + "\nx\n" + SlowEnd, "a\n" + SlowStart + "\nx\n" + SlowEnd + "\n\n" + empty, ""},
		{"one is there", memory, memory, ""},
		{"a broken one", "a\n" + LearnedStart, "", "line 2: the learned region begins and does not end"},
		{"an open fence", "a\n```\nb\n", "", "line 3: the text ends within code"},
		{"an open comment", "a\n<!-- b\n", "", "line 2: the text ends within code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := InjectLearned(tt.text)
			if got != tt.want || err == nil != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestReplaceLearned(t *testing.T) {
	t.Parallel()
	with := func(content string) string {
		from, to, _ := LearnedRange(memory)
		return memory[:from] + content + memory[to:]
	}
	tests := []struct{ name, text, content, want, err string }{
		{"another", memory, "- b\n", with("- b\n"), ""},
		{"none", memory, "", with(""), ""},
		{"without a line end", memory, "- b", with("- b\n"), ""},
		{"blank lines and dashes stay", memory, "\n\n--flag\n\n  x \n\n", with("\n\n--flag\n\n  x \n\n"), ""},
		{"a thematic break is no front matter", memory, "---\na: b\n---\n", with("---\na: b\n---\n"), ""},
		{"no region", "# T\n", "x", "", "there is no learned region"},
		{"a marker", memory, "a\n" + LearnedEnd + "\nb", "", "line 2 of the content is a marker"},
		{"what looks like one", memory, "<!-- skillopt-sleep:learned END -->", "", "line 1 of the content is a marker"},
		{"an open fence", memory, "```\nx\n", "", "the content leaves code"},
		{"an open comment", memory, "<!-- x\n", "", "the content leaves code"},
		{"half a region that the text has the other half of", memory + SlowEnd, SlowStart, "", "the content leaves code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ReplaceLearned(tt.text, tt.content)
			if got != tt.want || err == nil != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestRegionErrorIsTyped(t *testing.T) {
	t.Parallel()
	var bad *RegionError
	if _, err := LearnedText("a\n" + LearnedEnd); !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("error %v", err)
	}
	if _, err := LearnedText("a"); !errors.Is(err, ErrNoRegion) {
		t.Errorf("error %v", err)
	}
}

// Trap 14: rules with line breaks, leading dashes and text of markers, in a CRLF document
// with text behind the region, round trip exactly over three nights.
func TestTrap14RegionRoundTrip(t *testing.T) {
	t.Parallel()
	text := WithLineEnd(byteOrderMark+"# T\n\n\n\nkept\n\n"+LearnedStart+"\n"+LearnedEnd+"\n\n\n\nbehind  \n", crlf)
	from, to, err := LearnedRange(text)
	if err != nil {
		t.Fatal(err)
	}
	head, tail := text[:from], text[to:]
	opts := ApplyOptions{Only: LearnedRegion, Scope: Scope{}.WithTidy(true)}
	nights := [][]Edit{
		{{Op: Append, Content: "- pass --flag\n  and no other"}},
		{{Op: Append, Content: "--flag comes last " + LearnedEnd}},
		{{Op: Replace, Target: "- pass --flag\n  and no other", Content: "- never pass --flag"}},
	}
	for n, edits := range nights {
		next, reports := Apply(New(text), edits, opts)
		if !reports[0].Status.Applied() {
			t.Fatalf("night %d: %+v", n+1, reports[0])
		}
		text = next.Text()
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("night %d changed text outside of the region: %q", n+1, text)
		}
	}
	got, err := LearnedText(text)
	if diff := cmp.Diff("- never pass --flag\r\n\r\n--flag comes last\r\n", got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// drawLearned draws a document with a learned region, and sometimes with damaged ones.
func drawLearned(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "- b", "  c", "```", "~~~", "<!-- x", "-->", "---", "\n", "\r\n", "\n\n", "    d", SlowStart, SlowEnd, AppendixStart, LearnedStart, LearnedEnd, "\ufeff"})
	part := func(name string) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, name), rapid.SampledFrom([]string{"", "\n"}).Draw(t, name+" between"))
	}
	return part("head") + "\n" + LearnedStart + "\n" + part("inner") + "\n" + LearnedEnd + "\n" + part("tail")
}

func TestLearnedLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Custom(drawLearned), rapid.Custom(drawDocument)).Draw(t, "text")
		checkLearnedLaws(t, text, drawText(t, "content"))
	})
}

// checkLearnedLaws holds what is true of every text and content.
func checkLearnedLaws(t failer, text, content string) {
	t.Helper()
	if out, err := InjectLearned(text); err == nil {
		if inner, err := LearnedText(out); !strings.HasPrefix(out, text) || err != nil || out != text && inner != "" {
			t.Fatalf("%q with a region is %q, which holds %q (%v)", text, out, inner, err)
		}
		if again, err := InjectLearned(out); err != nil || again != out {
			t.Fatalf("%q with a second region is %q (%v)", out, again, err)
		}
		text = out
	}
	from, to, err := LearnedRange(text)
	if err != nil {
		if _, err := ReplaceLearned(text, content); err == nil {
			t.Fatalf("%q has no region, and one was replaced", text)
		}
		return
	}
	if same, err := ReplaceLearned(text, text[from:to]); err != nil || same != text {
		t.Fatalf("%q with what it holds is %q (%v)", text, same, err)
	}
	out, err := ReplaceLearned(text, content)
	if err != nil {
		return
	}
	got, err := LearnedText(out)
	if err != nil || got != content && got != content+LineEnd(text) || !strings.HasPrefix(out, text[:from]) || !strings.HasSuffix(out, text[to:]) {
		t.Fatalf("%q with %q is %q, which holds %q (%v)", text, content, out, got, err)
	}
	if back, err := ReplaceLearned(out, text[from:to]); err != nil || back != text {
		t.Fatalf("%q and back is %q, not %q (%v)", out, back, text, err)
	}
}

func FuzzLearned(f *testing.F) {
	f.Add(memory, "- x")
	f.Add("```\n"+LearnedStart, "---\n---")
	f.Add(byteOrderMark+LearnedStart+"\r\n"+LearnedEnd, SlowStart)
	f.Fuzz(func(t *testing.T, text, content string) { checkLearnedLaws(t, text, content) })
}
