package similar

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// long is an instruction of forty words.
var long = strings.Repeat("Read the report with care and answer in one word only. ", 4)

func TestFind(t *testing.T) {
	t.Parallel()
	type item = struct{ prompt, rest, wants, part string }
	for name, c := range map[string]struct {
		items []item
		want  string // the number of the group of each, 0: of none
	}{
		"equal but for case and space":       {[]item{{"What is  2?", "", "two", ""}, {"what IS 2?", "", "Two ", ""}, {"What is 3?", "", "three", ""}}, "110"},
		"other gold":                         {[]item{{"What is 2?", "", "two", ""}, {"What is 2?", "", "a pair", ""}}, "00"},
		"other rest":                         {[]item{{"What is it?", "a.png", "a cat", ""}, {"What is it?", "b.png", "a cat", ""}}, "00"},
		"short prompts":                      {[]item{{"Name a fruit", "", "apple", ""}, {"Name the fruit", "", "apple", ""}}, "00"},
		"one word of forty":                  {[]item{{long, "", "yes", ""}, {"Please " + long, "", "yes", "test"}, {strings.Replace(long, "care", "zeal", 3), "", "yes", ""}}, "111"},
		"four words of forty":                {[]item{{long, "", "yes", ""}, {strings.ReplaceAll(long, "care", "zeal"), "", "yes", ""}}, "00"},
		"a template":                         {[]item{{long + "Paris?", "", "yes", ""}, {long + "Rome?", "", "no", ""}, {long + "Oslo?", "", "yes", ""}}, "000"},
		"equal ones in a template":           {[]item{{long + "Paris?", "", "yes", ""}, {long + "Rome?", "", "no", ""}, {long + " paris?", "", "yes", ""}}, "101"},
		"a chain":                            {[]item{{long + "a b c", "", "x", ""}, {long + "d e f", "", "x", ""}, {long + "d e f g h i", "", "x", ""}}, "111"},
		"another alphabet":                   {[]item{{"请仔细阅读下面的句子，然后用一个词回答问题", "", "x", ""}, {"请仔细阅读上面的句子，然后用一个词回答问题", "", "x", ""}, {"请翻译这首诗", "", "x", ""}}, "110"},
		"not UTF-8":                          {[]item{{"a\xff\xfe b", "", "x", ""}, {"a\xff\xfe  b", "", "x", ""}}, "11"},
		"a template with another word, both": {twice(), "123123"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g Groups
			for _, i := range c.items {
				g.Add(Ask{Prompt: i.prompt, Rest: i.rest, Wants: i.wants, Split: i.part})
			}
			number, got := map[string]int{"": 0}, ""
			for _, k := range g.Find() {
				if _, known := number[k.Group]; !known {
					number[k.Group] = len(number)
				}
				got += fmt.Sprint(number[k.Group])
			}
			if got != c.want {
				t.Errorf("groups %s, want %s", got, c.want)
			}
		})
	}
}

// twice are three tasks of a template, and the same in another split with another word.
func twice() (out []struct{ prompt, rest, wants, part string }) {
	for _, part := range []string{"train", "test"} {
		for i, city := range []string{"Paris", "Rome", "Oslo"} {
			text := long
			if part == "test" {
				text = strings.Replace(long, "report", "paper", 1)
			}
			out = append(out, struct{ prompt, rest, wants, part string }{text + city + "?", "", fmt.Sprint(i), part})
		}
	}
	return out
}

// What the index of rare words finds is what comparing all with all finds.
func TestFindIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		var g Groups
		for range rapid.IntRange(2, 8).Draw(t, "n") {
			g.Add(Ask{Prompt: strings.Join(rapid.SliceOfN(word, 8, 14).Draw(t, "words"), " ")})
		}
		all := g.Find()
		plain := newForest(len(all))
		for i := range all {
			for j := range i {
				if Near(all[i].Words, all[j].Words) {
					plain.join([]int{j, i})
				}
			}
		}
		for i := range all {
			for j := range i {
				if same := all[i].Group != "" && all[i].Group == all[j].Group; same != (plain.root(i) == plain.root(j)) {
					t.Fatalf("tasks %d and %d: one group %v", j, i, same)
				}
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]func(i int) string{
		"template": func(i int) string { return fmt.Sprintf("%s %d times %d", long, i%97, i%89) },
		"two slots": func(i int) string {
			return fmt.Sprintf("%s %d %d %d %d %d %d", long, i%7, i%11, i%13, i%17, i%19, i%23)
		},
		"unlike": func(i int) string { return strings.Repeat(fmt.Sprintf("w%d ", i), 4) + long },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var g Groups
				for i := range 30_000 {
					g.Add(Ask{Prompt: text(i), Wants: fmt.Sprint(i % 3)})
				}
				g.Find()
			}
		})
	}
}

// Words from few numbers share bits of their masks; those from many differ in most of them.
func TestNearPromptsMayBeNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint32{3, 20, 300, 1 << 31}).Draw(t, "most")
		words := rapid.SliceOfN(rapid.Uint32Max(most), 0, 60)
		a := words.Draw(t, "a")
		b := slices.Concat(a[min(len(a), rapid.IntRange(0, 4).Draw(t, "left out")):], rapid.SliceOfN(rapid.Uint32Max(most), 0, 4).Draw(t, "added"))
		slices.Sort(a)
		slices.Sort(b)
		if ma, mb := NewMask(a), NewMask(b); Near(a, b) && !ma.MayBeNear(&mb) {
			t.Fatalf("%v and %v are near, and their masks say they cannot be", a, b)
		}
	})
}
