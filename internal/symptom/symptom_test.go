package symptom_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/symptom"
)

// shop is a task whose fix has a name of its own and a line that a message can quote.
func shop() symptom.Source {
	return symptom.Source{
		Path:     "shop.py",
		BaseText: "def slug(title):\n    return title.replace(' ', '_')\n",
		TestText: "def make_title(n):\n    return 'A' * n\n\ndef test_slug():\n    assert shop.slug('A b', dash_style='short') == 'a-b'\n",
		Diff:     "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,4 @@\n-    return title.replace(' ', '_')\n+    # every space of a sentence\n+    lowered = title.lower()\n+    return join_words(lowered.split(), Separator.DASH)\n",
		Failing:  []symptom.Failing{{Name: "tests/test_shop.py::test_slug", Message: "AssertionError: assert 'A_b' == 'a-b'"}},
	}
}

func TestLeaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"values are no secret":             {"slug('A b') is 'A_b', and should be 'a-b'", nil},
		"a function of the fix":            {"slug should call join_words", []string{"join_words"}},
		"in another case":                  {"JOIN_WORDS is needed", []string{"JOIN_WORDS"}},
		"a plain word that is assigned":    {"it should be lowered", []string{"lowered"}},
		"a word of a comment":              {"a sentence has a space", nil},
		"a member":                         {"use DASH", []string{"DASH"}},
		"a class":                          {"the Separator is wrong", []string{"Separator"}},
		"a helper of the tests":            {"make_title(3) fails", []string{"make_title"}},
		"a line of the fix":                {"write lowered = title.lower() first", []string{"lowered", "lowered=title.lower()"}},
		"a line spread over two":           {"return title\n.replace(' ',\n '_') is wrong", []string{"returntitle.replace('','_')"}},
		"hidden by characters of no width": {"call join\u200b_words", []string{"join_words"}},
		"a name that begins so":            {"join_words_fast is something else", nil},
		"a keyword of tests":               {"with dash_style it is short", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := symptom.Leaks(c.text, shop())
			if len(got) == 0 && len(c.want) == 0 {
				return
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestWhatTestsNeedMayBeNamed(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Undefined = []string{"join_words"}
	if got := symptom.Leaks("add join_words", s); len(got) > 0 {
		t.Errorf("refused %q, which the tests need", got)
	}
}

func TestWriteKeepsTheFixOut(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"a message that quotes the fix": "wanted: return join_words(lowered.split(), Separator.DASH)",
		"one that quotes the old line":  "see:     return title.replace(' ', '_')",
		"one that names the fix":        "NotImplementedError: join_words is to do it",
		"a line of the test":            "assert shop.slug('A b', dash_style='short') == 'a-b'",
		"a part of a line of the test":  "The expression evaluated to a falsy value:\n\n  shop.slug('A b', dash_style='short')",
		"a frame with the line":         "Traceback (most recent call last):\n  File \"/x/shop.py\", line 3, in slug\n    return join_words(lowered.split(), Separator.DASH)\n           ^^^^",
		"nothing but a place":           "/repo/shop/tests/test_shop.py:4: AssertionError",
		"nothing":                       "",
		"nothing but that it is not so": "AssertionError: assert False",
		"escapes and nothing":           "\x1b[31m\x1b[0m\x00\u202e",
		"what is not there yet":         "AttributeError: module 'shop' has no attribute 'join_words'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop()
			s.Failing[0].Message = message
			text, ok := symptom.Write(s)
			if ok {
				t.Errorf("a symptom without anything that says what goes wrong:\n%s", text)
			}
			for _, bad := range []string{"join_words(", "lowered", "title.replace", "dash_style", "shop.py"} {
				if strings.Contains(text, bad) {
					t.Errorf("the text has %q:\n%s", bad, text)
				}
			}
		})
	}
}

func TestMessagesOfCommits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		subject, body string
		want          string // "" where the message is not used
	}{
		"what is wanted":      {"Slugs of titles have dashes (#12)", "Signed-off-by: A B <a@example.org>", "Slugs of titles have dashes"},
		"with a body":         {"slug: titles keep no capitals", "Readers type addresses by hand.\n\nFixes #7", "slug: titles keep no capitals\n\nReaders type addresses by hand."},
		"only the subject":    {"slug: titles keep no capitals", "Done by join_words.", "slug: titles keep no capitals"},
		"the name of the fix": {"Add join_words for slugs of titles", "", ""},
		"how":                 {"slug: use - instead of _ between words", "", ""},
		"an operator":         {"slug: compare length with <= not <", "", ""},
		"a file":              {"Correct the dashes in shop.py again", "", ""},
		"nothing":             {"fix test", "", ""},
		"too long":            {strings.Repeat("many words ", 300), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop()
			s.Subject, s.Body = c.subject, c.body
			text, _ := symptom.Write(s)
			_, got, _ := strings.Cut(text, "What is wanted:\n\n")
			got, _, _ = strings.Cut(got, "\n\nWhat goes wrong")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNamesOfTests(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"example.org/shop/v2.TestSlug/two_words/a.b":   "TestSlug/two_words/a.b",
		"tests/test_a.py::TestC::test_x[1-/tmp/a.py]":  "TestC::test_x[]",
		"src/a.test.ts > cart > adds up":               "cart > adds up",
		"cart > adds up":                               "cart > adds up",
		"shop::cart::tests::adds_up":                   "cart::adds_up",
		"tests/test_shop.py::test_join_words_of_title": "test_join_words_of_title",
	} {
		s := shop()
		s.Failing = []symptom.Failing{{Name: name, Message: "want 3, got 4"}}
		text, _ := symptom.Write(s)
		_, got, _ := strings.Cut(text, "\n- ")
		if got, _, _ = strings.Cut(got, "\n"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestUndefined(t *testing.T) {
	t.Parallel()
	for output, want := range map[string][]string{
		"./a_test.go:3:44: c.Total undefined (type Cart has no field or method Total)\n./a_test.go:3:53: undefined: Clamp\n./a_test.go:4:1: undefined: shop.Open\n": {"Clamp", "Open", "Total"},
		"a.go:1:1: unknown field Limit in struct literal of type Cart\n":                                                                                            {"Limit"},
		"a.go:1:1: too many arguments in call to Slug\n\thave (string, string)\n":                                                                                   {"Slug"},
		"a.go:1:1: assignment mismatch: 2 variables but shop.Third returns 1 value\n":                                                                               {"Third"},
		"a.go:1:1: cannot use \"x\" (untyped string constant) as []int value in argument to shop.Third\n":                                                           {"Third"},
		"E   ImportError: cannot import name 'clamp_value' from 'shop' (/x/shop.py)\n":                                                                              {"clamp_value"},
		"E   ModuleNotFoundError: No module named 'shop.cart'\n":                                                                                                    {"cart"},
		"E   AttributeError: type object 'Cart' has no attribute 'empty'\n":                                                                                         {"empty"},
		"E   NameError: name 'größe' is not defined\n":                                                                                                              {"größe"},
		"E   TypeError: slug() got an unexpected keyword argument 'sep'\n":                                                                                          {"sep"},
		"E       fixture 'cart_factory' not found\n":                                                                                                                {"cart_factory"},
		"SyntaxError: The requested module '../shop.js' does not provide an export named 'clampValue'\n":                                                            {"clampValue"},
		"TypeError: shop.clamp is not a function\n":                                                                                                                 {"clamp"},
		"TypeError: (0 , _shop.clamp) is not a function\n":                                                                                                          {"clamp"},
		"Error: Failed to load url ../nothere.js (resolved id: ../nothere.js) in /x/v/broken.test.js.\n":                                                            {"nothere"},
		"a.ts(3,1): error TS2305: Module '\"./a\"' has no exported member 'Total'.\n":                                                                               {"Total"},
		"error[E0432]: unresolved import `shop::clamp`\n --> tests/a.rs:1:5\n  |     ^^^ no `clamp` in the root\n":                                                  {"clamp"},
		"error[E0425]: cannot find function `clamp` in this scope\n":                                                                                                {"clamp"},
		"error[E0599]: no method named `total` found for struct `Cart` in the current scope\n":                                                                      {"total"},
		"error[E0560]: struct `Cart` has no field named `limit`\n":                                                                                                  {"limit"},
		"a.go:9:2: missing return\n":                                                                                                                                nil,
		"":                                                                                                                                                          nil,
	} {
		if d := cmp.Diff(want, symptom.FindUndefined(output)); d != "" {
			t.Errorf("%s-want +got:\n%s", output, d)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		names []string
		want  bool
	}{
		{"Add Clamp(lo, hi) to Cart.", []string{"Cart", "Clamp"}, true},
		{"Add Clamping to Cart.", []string{"Clamp"}, false},
		{"add clamp", []string{"Clamp"}, false},
		{"anything", nil, false},
	} {
		if got := symptom.Names(c.text, c.names); got != c.want {
			t.Errorf("%q names %q: %v", c.text, c.names, got)
		}
	}
}

func TestReportsOfModels(t *testing.T) {
	t.Parallel()
	s := shop()
	system, user, schema := symptom.Request(s)
	if !strings.Contains(system, "no line of fix or tests") || !strings.Contains(user, "join_words") || !strings.Contains(string(schema), "report") || symptom.Prompts() == "" {
		t.Errorf("an incomplete request: %s\n%s\n%s", system, user, schema)
	}
	text, err := symptom.Read(`{"report": "slug('A b') gives 'A_b'. It should give 'a-b'."}`, s)
	if err != nil || !strings.Contains(text, "It should give 'a-b'.") {
		t.Errorf("%q, %v", text, err)
	}
	for reply, want := range map[string]string{
		`nothing`:        "no JSON",
		`{"report": ""}`: "says nothing",
		`{"report": "slug('A b') needs join_words to work well"}`:   "join_words",
		`{"report": "` + strings.Repeat("many words ", 1000) + `"}`: "longer",
		`{"report": 7}`: "says nothing",
	} {
		if _, err := symptom.Read(reply, s); err == nil || want != "no JSON" && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", reply, err, want)
		}
	}
	s.Undefined = []string{"join_words"}
	if _, err := symptom.Read(`{"report": "slug('A b') gives 'A_b', and should give 'a-b'."}`, s); err == nil {
		t.Error("a report that does not name what the tests need was taken")
	}
}

// A message of any size costs no more than its two ends.
func TestHugeMessages(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Failing[0].Message = strings.Repeat("got 3 of "+strings.Repeat("x", 100)+"\n", 200_000) + "AttributeError: module 'shop' has no attribute 'join_words'\n"
	text, ok := symptom.Write(s)
	if !ok || len(text) > 2000 || !slices.Equal(symptom.FindUndefined(s.Failing[0].Message), []string{"join_words"}) {
		t.Errorf("%v, %d bytes:\n%.2000s", ok, len(text), text)
	}
}

// TestLaws holds what is so for all tasks: a text names nothing that the fix alone has, is bounded, and is
// the same each time.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{
			"join_words", "lowered = title.lower()", "got 3, want 4\n", "\n", "    at f (/x/a.js:1:2)\n", "Traceback (most recent call last):\n", "  File \"a.py\", line 2, in f\n", "ValueError: bad\n",
			"E   ", "+ 'a'\n", "goroutine 7 [running]:\n", "shop_test.go:8: ", "Separator", "\x1b[31m", "é\u200b", "thread 'a' panicked at src/a.rs:1:2:\n", strings.Repeat("x", 900), "  left: 1\n right: 2\n", "assert ", "{", "\"",
		})
		s := shop()
		s.Failing = nil
		for range rapid.IntRange(0, 14).Draw(t, "tests") {
			s.Failing = append(s.Failing, symptom.Failing{
				Name: strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "name"), ""), Message: strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "message"), ""),
			})
		}
		s.Subject = strings.Join(rapid.SliceOfN(part, 0, 3).Draw(t, "subject"), " ")
		verify(t, s)
	})
}

// verify reports where a text of a task is not as it must be.
func verify(t interface{ Fatalf(string, ...any) }, s symptom.Source) {
	text, ok := symptom.Write(s)
	again, _ := symptom.Write(s)
	switch leaks := symptom.Leaks(text, s); {
	case text != again:
		t.Fatalf("two texts:\n%s\n%s", text, again)
	case len(text) > 80_000:
		t.Fatalf("a text of %d bytes", len(text))
	case len(leaks) > 0:
		t.Fatalf("it gives away %q:\n%s", leaks, text)
	case strings.ContainsAny(text, "\x1b\x00\u202e"):
		t.Fatalf("characters that steer:\n%q", text)
	case ok && len(s.Failing) == 0 && s.Subject+s.Body == "":
		t.Fatalf("a symptom of nothing:\n%s", text)
	}
	undefined := symptom.FindUndefined(text)
	if !slices.IsSorted(undefined) {
		t.Fatalf("not sorted: %q", undefined)
	}
}

func FuzzWrite(f *testing.F) {
	s := shop()
	f.Add(s.Failing[0].Name, s.Failing[0].Message, s.Diff, s.TestText, "Slugs have dashes")
	f.Add("a.TestB", "E   x\n\x1b]0;\ngoroutine 1 [", "+\"\n+'''\n+`", "f\"{x", "#")
	f.Fuzz(func(t *testing.T, name, message, diff, tests, subject string) {
		s := shop()
		s.Failing = []symptom.Failing{{Name: name, Message: message}}
		s.Diff, s.TestText, s.Subject = diff, tests, subject
		verify(t, s)
	})
}
