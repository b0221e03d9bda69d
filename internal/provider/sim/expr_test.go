package sim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func testScope() scope {
	return scope{
		names: map[string]value{
			"a":      scalar("2.5"),
			"word":   scalar("ok"),
			"none":   scalar(""),
			"rows.n": {items: []string{"1", "20", "3"}, list: true},
			"rows.p": {items: []string{"0.1", "0.2", "10"}, list: true},
			"rows.s": {items: []string{"x", "y", "x"}, list: true},
			"two.n":  {items: []string{"1", "2"}, list: true},
			"no.n":   {list: true},
		},
		tables: map[string]map[string]string{"long": {"x": "ex", "y": "why"}},
	}
}

func known(name string) bool {
	_, ok := testScope().names[name]
	return ok
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"a", "2.5"},
		{"1 + 2 * 3", "7"},
		{"(1 + 2) * 3", "9"},
		{"7 - 2 - 1", "4"},
		{"1 / 3", "0.333333333"},
		{"0.1 + 0.2", "0.3"},
		{"1 - 1.0000000001", "0"},
		{"'it is ' ", "it is "},
		{"cat('n=', a)", "n=2.5"},
		{"sum(rows.n * rows.p)", "34.1"},
		{"count(rows.n)", "3"},
		{"count(no.n)", "0"},
		{"sum(no.n)", "0"},
		{"min(rows.n)", "1"},
		{"max(rows.n)", "20"},
		{"first(rows.s)", "x"},
		{"last(rows.n)", "3"},
		{"pick(rows.n, rows.s == 'x')", "1, 3"},
		{"pick(rows.s, rows.n >= 3)", "y, x"},
		{"join(rows.s, '+')", "x+y+x"},
		{"fixed(2.675, 2)", "2.68"},
		{"fixed(rows.n, 1)", "1.0, 20.0, 3.0"},
		{"lookup('long', rows.s)", "ex, why, ex"},
		{"else(none, word)", "ok"},
		{"else(word, 'no')", "ok"},
		{"else(pick(rows.s, rows.n > 99), 'nothing')", "nothing"},
		{"word != 'no'", "1"},
		{"2 < 10", "1"},
		{"2 <= 2", "1"},
		{"2 > 10", "0"},
		{"1.0 == 1", "1"},
		{"1.0 != 1", "0"},
		{"rows.n + 1", "2, 21, 4"},
		{"1 - rows.n", "0, -19, -2"},
	}
	for _, tt := range tests {
		e, err := compile(tt.text, known)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		v, err := e.eval(testScope())
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := v.text(); got != tt.want {
			t.Errorf("%s = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestExpressionsThatCannotBeComputed(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"word + 1", `"ok" is no decimal number`},
		{"1 < word", `"ok" is no decimal number`},
		{"a / 0", "divided by zero"},
		{"rows.n + two.n", "lists of 3 and 2"},
		{"max(no.n)", "the list is empty"},
		{"min(rows.s)", "no decimal number"},
		{"sum(rows.s)", "no decimal number"},
		{"first(no.n)", "the list is empty"},
		{"fixed(word, 1)", "no decimal number"},
		{"fixed(a, 99)", "allowed are 0 to 9"},
		{"lookup('short', word)", `there is no table "short"`},
		{"lookup('long', word)", `no entry "ok"`},
		{"sum(word * 1)", "no decimal number"},
		{"1 + word", "no decimal number"},
	}
	for _, tt := range tests {
		e, err := compile(tt.text, known)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if _, err = e.eval(testScope()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := reference("gone").eval(testScope()); err == nil {
		t.Error("a name without a value was computed")
	}
}

func TestExpressionsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", "ends too early"},
		{"1 +", "ends too early"},
		{"(1", "closing parenthesis"},
		{"1 2", `"2" is not expected`},
		{"sum(a", "a comma or a closing"},
		{"sum(a b)", "a comma or a closing"},
		{"sum()", "takes 1 arguments, found 0"},
		{"sum(a, a)", "takes 1 arguments, found 2"},
		{"'open", "no closing quote"},
		{"a # b", "not expected in an expression"},
		{"1.2.3", "no decimal number"},
		{"*", `"*" is not expected`},
		{"b", "the name b is unknown"},
		{strings.Repeat("(", 100) + "1", "levels of nesting"},
	}
	for _, tt := range tests {
		if _, err := compile(tt.text, known); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"sum(rows.n * rows.p)", "else(pick(rows.s, rows.n > 99), 'x')", "1/3<2", "fixed(a,2)", "((", "'", "a!=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := compile(text, known)
		if err != nil {
			return
		}
		first, err := e.eval(testScope())
		if err != nil {
			return
		}
		second, err := e.eval(testScope())
		if err != nil || first.text() != second.text() {
			t.Errorf("%q gives %q, then %q, %v", text, first.text(), second.text(), err)
		}
	})
}

func TestDecimalsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-1e12, 1e12).Draw(t, "n")
		r, err := number(decimal(toRat(float64(n) / 1000)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := decimal(r), decimal(toRat(float64(n)/1000)); got != want {
			t.Fatalf("%s read back as %s", want, got)
		}
	})
}

func TestNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "1e5", "0x10", "1/2", "1_000", strings.Repeat("9", 61)} {
		if r, err := number(text); err == nil {
			t.Errorf("%q was read as %v", text, r)
		}
	}
	if diff := cmp.Diff("-12.5", decimal(toRat(-12.5))); diff != "" {
		t.Error(diff)
	}
}
