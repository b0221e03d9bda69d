package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What a narrow terminal is given has the words of the text, and no line is wider than it
// unless it is one word.
func TestPageBreaksNoWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`( {0,30}[a-zäö]{1,12}( {1,4}[a-z.]{1,12}){0,20})?`)
		text := strings.Join(rapid.SliceOfN(line, 1, 8).Draw(t, "lines"), "\n") + "\n"
		columns := rapid.IntRange(30, 100).Draw(t, "columns")
		for _, print := range []func(a *app){
			func(a *app) { a.stdoutPrinter().page(text) },
			func(a *app) { fmt.Fprint(a.tablePrinter(), text) },
		} {
			var out bytes.Buffer
			print(&app{Streams: Streams{Out: &out, Shown: true, Width: columns}})
			if got, want := strings.Fields(out.String()), strings.Fields(text); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("%d columns\ngot  %q\nwant %q", columns, got, want)
			}
			for l := range strings.Lines(out.String()) {
				if l = strings.TrimSuffix(l, "\n"); utf8.RuneCountInString(l) >= columns {
					t.Fatalf("%q has %d columns of %d", l, utf8.RuneCountInString(l), columns)
				}
			}
		}
	})
}

// A line whose last column begins in the middle of the terminal continues there no more.
func TestPageBreaksAtTheMiddle(t *testing.T) {
	t.Parallel()
	line := "        aaa  ...........   .......... ..... ..........."
	if got := laidOut(line, 54); !strings.Contains(got, "\n") {
		t.Errorf("%q has %d columns of 54", got, len(got))
	}
}

func TestPageKeepsWhatFits(t *testing.T) {
	t.Parallel()
	const text = "Running text\nof two lines.\n\nFlags:\n  --a   one\n  --bb  two\n"
	for _, streams := range []Streams{{Width: 20}, {Shown: true, Width: 80}, {Shown: true}} {
		var out bytes.Buffer
		streams.Out = &out
		a := &app{Streams: streams}
		a.stdoutPrinter().page(text)
		fmt.Fprint(a.tablePrinter(), text)
		if out.String() != text+text {
			t.Errorf("%+v: %q", streams, out.String())
		}
	}
}

func TestPageLaysOut(t *testing.T) {
	t.Parallel()
	const text = "A text that was filled for wide\nscreens.\n\n  --flag  what the flag is good for here\n"
	const want = "A text that was filled\nfor wide screens.\n\n  --flag  what the flag\n    is good for here\n"
	var out bytes.Buffer
	(&app{Streams: Streams{Out: &out, Shown: true, Width: 25}}).stdoutPrinter().page(text)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// Help and the list of keys fit terminals of 40, 60 and 80 columns, and are as ever without one.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"train", "--help"}, {"runs", "--help"}, {"eval", "--help"}, {"tasks", "lint", "--help"}, {"config", "explain"}} {
		plain := printed(t, args, Streams{})
		for _, columns := range []int{40, 60, 80} {
			got := printed(t, args, Streams{Shown: true, Width: columns})
			for l := range strings.Lines(got) {
				l = strings.TrimSuffix(l, "\n")
				if words := strings.Fields(l); len(words) > 1 && utf8.RuneCountInString(l) >= columns && utf8.RuneCountInString(words[0]) < columns/2 {
					t.Errorf("%v: %q does not fit %d columns", args, l, columns)
				}
			}
			if args[0] != "config" && strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(plain), " ") {
				t.Errorf("%v has other words with %d columns", args, columns)
			}
		}
	}
}

func printed(t *testing.T, args []string, s Streams) string {
	t.Helper()
	var out, errs bytes.Buffer
	s.In, s.Out, s.Err, s.Dir = strings.NewReader(""), &out, &errs, t.TempDir()
	if code := Main(t.Context(), args, s, "dev"); code != 0 {
		t.Fatalf("%v: %d, %s", args, code, errs.String())
	}
	return out.String()
}
