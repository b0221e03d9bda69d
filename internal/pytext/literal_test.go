package pytext

import "testing"

func TestLiteral(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{`['a', "b c"]`, `['a', 'b c']`},
		{`{'k': 1}`, `{'k': 1}`},
		{`{'z': 1, 'a': [2, None]}`, `{'z': 1, 'a': [2, None]}`},
		{"[['n']]", "[['n']]"},
		{"0x10", "16"},
		{"1e3", "1000.0"},
		{"1_000", "1000"},
		{"-5", "-5"},
		{"- 5", "-5"},
		{"+.5", "0.5"},
		{"1.", "1.0"},
		{"3j", "3j"},
		{"None", "None"},
		{"('t',)", "('t',)"},
		{"('t')", "'t'"},
		{"1,234", "(1, 234)"},
		{"'a', 'b'", "('a', 'b')"},
		{"'a' 'b'", "'ab'"},
		{"[b'x', b'\\xff']", `[b'x', b'\xff']`},
		{"{1, 2}", "{1, 2}"},
		{"[]", "[]"},
		{"()", "()"},
		{"[1,\n 2, # two\n]", "[1, 2]"},
		{`"it's"`, `"it's"`},
		{`'\u00e9\x41\n\101'`, `'éA\nA'`},
		{`r'\n'`, `'\\n'`},
		{"'''a\nb'''", `'a\nb'`},
		{"1e999", "inf"},
		{"[True, False]", "[True, False]"},
	}
	for _, tt := range tests {
		v, err := Literal(tt.text)
		if err != nil || Notation(v) != tt.want {
			t.Errorf("%s: got %s (%v), want %s", tt.text, Notation(v), err, tt.want)
		}
	}
	for _, bad := range []string{
		"", "plain", "[", "[1 2]", "1/8/93", "1+2", "3-4", "--5", "007", "01", "[a]", "'a", `'a\`, "1__0", "1_", "0x", "f'x'", "ITC Ltd", "5 6", "{1: 2", "{1: 2, 3}", "[1,,2]", "[,]", "'a' b'c'", "b'é'", "1.2.3", "5;", "nan", "Nonesuch", "5\n6",
	} {
		if v, err := Literal(bad); err == nil {
			t.Errorf("%q is read as %s", bad, Notation(v))
		}
	}
}

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"[1, 'a']", "{'k': (1,)}", "b'x'", "1e5", "'\\x41'", "[[[", "-1_0.5j"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Literal(text)
		if err != nil {
			return
		}
		again, err := Literal(Notation(v))
		if err == nil && Notation(again) != Notation(v) {
			t.Fatalf("%q: %s, then %s", text, Notation(v), Notation(again))
		}
	})
}
