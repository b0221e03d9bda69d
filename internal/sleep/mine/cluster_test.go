package mine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/task"
)

// made is a task of a correction, as it is clustered.
func made(t testing.TB, id, ask, gold string) wish.Task {
	t.Helper()
	s := session(id, ask, "-", "No, not so.", "It is "+gold)
	e := &evidence{t: &s}
	w := &weighing{evidence: e, clean: redact.New()}
	d := &draftedTask{proposal: proposal{asked: []int{0}, accepted: 1, prompt: ask, gold: []string{gold}}, trust: wish.ByCorrection}
	return wish.Task{Task: task.Task{ID: id, Prompt: ask}, Trust: d.trust, Input: w.inputSignature(d), Outcome: w.outcomeSignature(d)}
}

// paraphrases are eight ways to say one wish.
var paraphrases = []struct{ ask, gold string }{
	{"What is the net amount of 119 EUR at 19 % VAT?", "EUR 100.00"},
	{"Take the 19 percent tax out of 119 for me", "EUR 100.00 net"},
	{"119 gross, VAT rate 19. Net?", "100.00"},
	{"Please compute how much remains of 119 once VAT of 19% is gone.", "EUR 100.00"},
	{"I paid 119 including 19% value added tax; before tax that was how much", "the net amount is EUR 100.00"},
	{"Netto von 119 bei 19 Prozent?", "EUR 100,00"},
	{"Strip VAT (19 %) from 119.00", "EUR 100"},
	{"how much is 119 w/o the tax", "EUR 100.00"},
}

func TestTrap81EightParaphrasesAreOneCluster(t *testing.T) {
	t.Parallel()
	var tasks []wish.Task
	for i, p := range paraphrases {
		tasks = append(tasks, made(t, fmt.Sprint("p", i), p.ask, p.gold))
	}
	other := made(t, "other", "What is the net amount of 238 EUR at 19 % VAT?", "EUR 200.00")
	names := Clusters(append(slices.Clone(tasks), other))
	if len(slices.Compact(slices.Clone(names[:8]))) != 1 || names[8] == names[0] {
		t.Errorf("%q", names)
	}
	// Over eight nights each joins what is known.
	known := []Known{{"first", tasks[0]}, {"second", other}}
	for _, one := range tasks[1:] {
		got := Clusters([]wish.Task{one}, known...)[0]
		if got != "first" {
			t.Errorf("%q joins %q", one.Task.Prompt, got)
		}
		known = append(known, Known{got, one})
	}
}

// TestOneFigureJoinsNothing: a request that has a figure in common with many does not make them
// one.
func TestOneFigureJoinsNothing(t *testing.T) {
	t.Parallel()
	names := Clusters([]wish.Task{
		made(t, "a", "What is the net amount of 119 EUR at 19 % VAT?", "EUR 100.00"), made(t, "b", "Take 19 percent tax out of 238", "EUR 200.00"),
		made(t, "c", "Explain VAT of 19 %", "a tax on what is sold"),
	})
	if names[0] == names[1] || names[0] == names[2] || names[1] == names[2] {
		t.Errorf("%q", names)
	}
}

func TestTwoFilesUnderOneRuleAreTwoClusters(t *testing.T) {
	t.Parallel()
	orders := "```\nid,name,city\n1,Ann,Oslo\n2,Bo,Rome\n```"
	staff := "```\nid,name,city\n1,Eve,Bern\n2,Flo,Lima\n```"
	for name, pair := range map[string][2]wish.Task{
		"pasted":          {made(t, "a", "Convert this to JSON\n"+orders, `"id": "1"`), made(t, "b", "Convert this to JSON\n"+staff, `"id": "1"`)},
		"named":           {made(t, "a", "Convert orders.csv to JSON as we do it", "ids are strings"), made(t, "b", "Convert staff.csv to JSON as we do it", "ids are strings")},
		"named and alike": {made(t, "a", "Is data/orders.csv tidy?", "no"), made(t, "b", "Is data/staff.csv tidy?", "no")},
	} {
		if got := Clusters([]wish.Task{pair[0], pair[1]}); got[0] == got[1] {
			t.Errorf("%s: one cluster", name)
		}
		again := pair[0]
		again.Task.ID, again.Task.Prompt = "c", "In other words: "+again.Task.Prompt
		if got := Clusters([]wish.Task{pair[0], again}); got[0] != got[1] {
			t.Errorf("%s: the same file twice is two clusters", name)
		}
	}
}

// TestClustersDoNotDependOnOrder: whatever tasks there are, in whatever order they come, the same
// are together, under the same names.
func TestClustersDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var tasks []wish.Task
		for i := range rapid.IntRange(1, 12).Draw(r, "tasks") {
			ask := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"net", "of", "119", "238", "19", "orders.csv", "staff.csv", "Oslo", "total", "please"}), 1, 6).Draw(r, "ask"), " ")
			gold := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"100", "200", "EUR", "yes", "no", "due", "late"}), 1, 3).Draw(r, "gold"), " ")
			tasks = append(tasks, made(t, fmt.Sprintf("t%02d", i), ask, gold))
		}
		want := map[string]string{}
		for i, name := range Clusters(tasks) {
			want[tasks[i].Task.ID] = name
		}
		seed := rapid.Uint64().Draw(r, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		got := map[string]string{}
		for i, name := range Clusters(tasks) {
			got[tasks[i].Task.ID] = name
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
	})
}

// TestWordsOfRequestsDoNotMatter: a request that names the same figures, and wants the same
// figure, is the same wish in whatever words.
func TestWordsOfRequestsDoNotMatter(t *testing.T) {
	t.Parallel()
	words := []string{"what", "please", "compute", "sum", "bills", "gross", "tell", "me", "quickly", "the", "rest", "of", "it"}
	rapid.Check(t, func(r *rapid.T) {
		figures := rapid.SliceOfNDistinct(rapid.IntRange(100, 9999), 1, 4, rapid.ID[int]).Draw(r, "figures")
		gold := fmt.Sprint(rapid.IntRange(10000, 99999).Draw(r, "gold"))
		asked := func(name string) string {
			list := rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(r, name)
			for _, f := range figures {
				list = append(list, fmt.Sprint(f))
			}
			return strings.Join(rapid.Permutation(list).Draw(r, name), " ")
		}
		a, b := made(t, "a", asked("a"), gold), made(t, "b", asked("b"), gold+" "+rapid.SampledFrom(words).Draw(r, "said"))
		if got := Clusters([]wish.Task{a, b}); got[0] != got[1] {
			r.Fatalf("%q\n%q", a.Task.Prompt, b.Task.Prompt)
		}
	})
}

// TestSignaturesAreRead: what is written is read as it was, and what is none does no harm.
func TestSignaturesAreRead(t *testing.T) {
	t.Parallel()
	one := made(t, "a", "Convert orders.csv for Oslo, 3 rows\n> a line", "EUR 5")
	if got := parseSignature(one.Input).String(); got != one.Input {
		t.Errorf("%s\n%s", one.Input, got)
	}
	for _, text := range []string{"", ";", ":", "f:", "no signature", "sha256:abc", ";;f:1;"} {
		parseSignature(text)
	}
	old := []wish.Task{{Task: task.Task{ID: "x"}, Input: "abc", Outcome: "def"}, {Task: task.Task{ID: "y"}}}
	if got := Clusters(old); got[0] == got[1] {
		t.Errorf("tasks of which nothing is known are one cluster: %q", got)
	}
}

// TestAlmostEqualTasksMerge: what was asked twice in almost the same words is one task, that was
// seen twice.
func TestAlmostEqualTasksMerge(t *testing.T) {
	t.Parallel()
	late := dueDate("s2")
	for i := range late.Turns {
		late.Turns[i].Started, late.Turns[i].Ended = late.Turns[i].Started.AddDate(0, 0, 1), late.Turns[i].Ended.AddDate(0, 0, 1)
	}
	m := mined(t, replyOf(t, dueTask()), late, dueDate("s1"))
	if len(m.Tasks) != 1 || m.Funnel.Merged != 1 || m.Funnel.Kept != 1 {
		t.Fatalf("%+v", m)
	}
	got := m.Tasks[0]
	if want := []wish.Ref{{Source: "claude", Session: "s1", Turn: "s1-1"}, {Source: "claude", Session: "s2", Turn: "s2-1"}}; !cmp.Equal(got.Seen, want) || !got.At.Equal(late.Turns[1].Ended) {
		t.Errorf("%+v at %s", got.Seen, got.At)
	}
	var twice []transcript.Transcript
	for i := range 20 {
		twice = append(twice, dueDate(fmt.Sprint(i)))
	}
	if m := mined(t, replyOf(t, dueTask()), twice...); len(m.Tasks) != 1 || len(m.Tasks[0].Seen) != 20 {
		t.Errorf("%+v", m.Funnel)
	}
}

func BenchmarkClusters(b *testing.B) {
	var tasks []wish.Task
	var known []Known
	for i := range 300 {
		one := made(b, fmt.Sprint(i), fmt.Sprintf("Compute %d and %d of part %d for region %d\n> line %d\n> line %d", i, i+1, i*7, i%9, i, i*3), fmt.Sprint(i*13))
		if i%2 == 0 {
			tasks = append(tasks, one)
		} else {
			known = append(known, Known{fmt.Sprint(i), one})
		}
	}
	for b.Loop() {
		Clusters(tasks, known...)
	}
}
