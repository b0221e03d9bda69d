package latex

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer, gold string
		want         bool
	}{
		{"3", "3", true},
		{"7", "17", false},
		{"17", "7", false},
		{`$5\sqrt{3}$`, `5\sqrt3`, true},
		{`5√3`, `5\sqrt{3}`, true},
		{`\sqrt{75}`, `5\sqrt{3}`, true},
		{`\frac{1}{2}`, "0.5", true},
		{`\dfrac12`, "1/2", true},
		{`\tfrac{2}{4}`, "½", true},
		{"0.333", `\frac{1}{3}`, false},
		{`-\frac{3}{4}`, "\u22120.75", true},
		{"\u22125", "-5", true},
		{"5", "-5", false},
		{`2\frac{1}{2}`, "2.5", true},
		{`2\pi`, "6.283185307179586", true},
		{"2π", `2\pi`, true},
		{"3.14", `\pi`, false},
		{"x = 3", "x=3", true},
		{"x = 3", "3", true},
		{"x=3", "y=3", false},
		{`\angle ABC = 30^\circ`, "30", true},
		{"30°", `30^{\circ}`, true},
		{"30 degrees", "30°", true},
		{"30 rad", "30°", false},
		{`20~\mathrm{cm}`, "20 cm", true},
		{`20\text{ cm}`, "20 centimetres", true},
		{"20", "20 cm", false},
		{"20 cm", "20", true},
		{"20 m", "20 cm", false},
		{"3m", "3", false},
		{"3m", "3 m", true},
		{"3 m", "3", true},
		{`3\mathrm{m}`, "3 m", true},
		{"2s^2", "2", false},
		{"3!", "3", false},
		{"3x", "3", false},
		{"x > 3", "3", false},
		{"1,2", "1.2", false},
		{`12\,\mathrm{cm}^2`, "12 cm^{2}", true},
		{"12 square cm", "12 cm^2", true},
		{"12 cm", "12 cm^2", false},
		{"90 km/h", "90 km per hour", true},
		{"5 million", "5 billion", false},
		{"5 million", "5,000,000", true},
		{"5 million", "5", false},
		{"5", "5 million", false},
		{"5 dozen", "60", true},
		{"5 pairs", "5", false},
		{"50%", "0.5", true},
		{`50\%`, "50", true},
		{"50", "50%", false},
		{"1,234", "1234", true},
		{"1 2", "12", false},
		{"12", "1 2", false},
		{"(1, 2)", "(1,2)", true},
		{"(2, 1)", "(1, 2)", false},
		{`\left(\frac12, 3\right)`, "(0.5, 3)", true},
		{"[1, 2]", "(1, 2)", false},
		{"[1, 2)", "[1,2)", true},
		{`\{2, 1\}`, `\{1, 2\}`, true},
		{"1, 2", "2, 1", true},
		{"1 and 2", "1, 2", true},
		{"x = 1 or x = 2", "x=2 or x=1", true},
		{`x=1 \text{ or } x=2`, "1, 2", true},
		{"1, 2, 3", "1, 2", false},
		{"1, 1", "1, 2", false},
		{`\pm 3`, "3, -3", true},
		{"±3", `x = \pm 3`, true},
		{"2^10", "1024", true},
		{"2^{10}", "1024", true},
		{"10^{-3}", "0.001", true},
		{"1.5e3", "1500", true},
		{`1.5 \times 10^3`, "1500", true},
		{"x = 10/2 = 5", "5", true},
		{"x = 10/2 = 6", "6", false},
		{`\sqrt[3]{27}`, "3", true},
		{`8^{1/3}`, "2", true},
		{`\frac{\sqrt{2}}{2}`, `\frac{1}{\sqrt{2}}`, true},
		{"(2+3)*4", "20", true},
		{"3(4)", "12", true},
		{"1/0", "1/0", true}, // the same text
		{"1/0", "0", false},
		{"y = 2x + 1", "y=2x+1", true},
		{"2x+1", "y = 2x + 1", true},
		{"2x+1", "2x-1", false},
		{`\frac{1}{2x}`, `\frac{12}{x}`, false},
		{"2R", "2r", false},
		{"Isosceles triangle", "isosceles triangle", true},
		{"Both are prime.", "both are prime", true},
		{"", "", false},
		{"", "0", false},
		{"$", "0", false},
		{"100000000001", "100000000002", false},
		{"3 is the answer", "3", false},
		{`\boxed{42}`, "42", true},
		{"9^9^9", "1", false},
	}
	for _, tt := range tests {
		got, why := Equal(tt.answer, tt.gold, Options{})
		if got != tt.want || got != (why == "") {
			t.Errorf("%q and %q: got %v (%s), want %v", tt.answer, tt.gold, got, why, tt.want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer, gold string
		o            Options
		want         bool
	}{
		{"3.14", `\pi`, Options{Rel: 1e-3}, true},
		{"0.333", "1/3", Options{Rel: 1e-2}, true},
		{"20", "20 cm", Options{Unit: "ignore"}, true},
		{"50", "50%", Options{Unit: "ignore"}, true},
		{"20 cm", "20", Options{Unit: "strict"}, false},
		{"20 cm", "20 cm", Options{Unit: "strict"}, true},
	}
	for _, tt := range tests {
		if got, why := Equal(tt.answer, tt.gold, tt.o); got != tt.want {
			t.Errorf("%q and %q with %+v: got %v (%s)", tt.answer, tt.gold, tt.o, got, why)
		}
	}
}

// TestFractionsAreExact: a fraction is itself however it is written, and no other.
func TestFractionsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(-500, 500).Draw(t, "a"), rapid.IntRange(1, 500).Draw(t, "b")
		k := rapid.IntRange(1, 9).Draw(t, "k")
		plain := fmt.Sprintf("%d/%d", a, b)
		set := fmt.Sprintf(`$\dfrac{%d}{%d}$`, a*k, b*k)
		if same, why := Equal(set, plain, Options{}); !same {
			t.Fatalf("%s and %s: %s", set, plain, why)
		}
		if same, _ := Equal(set, fmt.Sprintf("%d/%d", a+1, b), Options{}); same {
			t.Fatalf("%s is one more", set)
		}
	})
}

// TestBounds: nothing that is short takes long.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		strings.Repeat("(", 4000), strings.Repeat("9^", 2000) + "9", "9^{999999999999}", "((9^512)^512)^512", strings.Repeat("9", 4000), "1e999",
		strings.Repeat(`\frac{1}{`, 400), strings.Repeat(`\sqrt`, 800), strings.Repeat("1,", 2000), strings.Repeat("{", 4000), strings.Repeat("x=", 2000), strings.Repeat("-", 4000) + "1",
		strings.Repeat("a and ", 600), strings.Repeat("1", 1<<20), `\sqrt[511]{` + strings.Repeat("9", 390) + "}",
	} {
		Equal(s, "1", Options{})
		Equal("1", s, Options{})
	}
}

func FuzzEqual(f *testing.F) {
	for _, s := range []string{`\frac{1}{2}`, "5√3 cm", `\{1, 2\}`, "x = 1 or x = 2", "50%", `\pm 3`, "(1, 2)", "2^10", "1,234", "5 million", `\sqrt[3]{8}`, "1e5"} {
		f.Add(s, "1/2")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		same, why := Equal(a, b, Options{})
		if back, _ := Equal(b, a, Options{Unit: "strict"}); back && !same {
			t.Fatalf("%q and %q are the same one way only: %s", a, b, why)
		}
		if Says(a) && len(a) <= maxExpression {
			if ok, why := Equal(a, a, Options{}); !ok {
				t.Fatalf("%q is not itself: %s", a, why)
			}
		}
	})
}
