package report

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// aWeek has one of everything.
func aWeek() *result.Week {
	at := time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC)
	three, cost, better, worse := 3, 0.25, 4.5, 0.25
	since := &result.NightAdopted{Number: 1, Target: "memory:CLAUDE.md", Verdict: result.AdoptedOpen, Reason: "won 5 and lost 1 of 7 new tasks", Pairs: 7, Wins: 5, Losses: 1, Better: &better, Worse: &worse, Needs: 20}
	return &result.Week{
		Format: result.WeekFormat, From: at.AddDate(0, 0, -7), To: at, Days: 7,
		Nights: []result.WeekNight{
			{Night: "20261124-200000", Project: "/srv/u/shop", Started: at, Ended: &at, Exploratory: true, Sessions: 9, NewTasks: 8, Skipped: 1, Notes: []string{"a note"}, Targets: []result.WeekTarget{
				{Target: "memory:CLAUDE.md", Outcome: result.NightSupported, Reason: "better on these tasks: won 9, lost 0 of 9", Proposal: result.ProposedWaits, Rules: []result.WeekRule{{Text: "- Be brief.", Tasks: &three, Won: &three}, {Text: "- Be kind.", Tasks: &three}, {Text: "- Be."}}},
			}, Spent: result.NightSpent{Calls: 70, Input: 29_000, Output: 1_000, CostUSD: &cost}},
			{Night: "20261123-200000", Project: "/srv/u/shop", Started: at, Targets: []result.WeekTarget{{Outcome: result.NightBudget, Reason: "limits.calls", Rules: []result.WeekRule{}}}, Spent: result.NightSpent{Calls: 2, Input: 10, Output: 1}},
		},
		Waits: result.WeekWaits{Review: 4, Held: 1, Proposals: []result.WeekProposal{{Night: "20261124-200000", Project: "/srv/u/shop", Target: "memory:CLAUDE.md", Outcome: result.NightSupported, Reason: "better"}}, Intents: []result.WeekIntent{{Number: 9, Kind: "adopted", Began: at}}, Nights: []string{"20261123-200000"}},
		Adoptions: []result.WeekAdoption{
			{Number: 2, Kind: "rolled_back", Of: 1, Project: "/srv/u/shop", At: at, Target: "memory:CLAUDE.md"},
			{Number: 1, Kind: "adopted", BackBy: 2, Project: "/srv/u/shop", Night: "20261120-200000", At: at, Target: "memory:CLAUDE.md", Claim: "supported", Reason: "better", Merged: true, Rules: []result.WeekRule{{Text: "- Be."}}, Since: since},
		},
		Spent: result.WeekSpent{Calls: 72, Input: 29_010, Output: 1_001, KnownUSD: 0.25, Unknown: 1},
		Next:  []result.WeekStep{{Why: "it waits", Command: "skillopt sleep adopt 20261124-200000"}}, Problems: []string{"night 1 cannot be read"},
	}
}

func weekPages(t *testing.T, w *result.Week) (page, md string) {
	t.Helper()
	data, err := WeekHTML(w)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), string(Week(w))
}

// What is known of a week stands in both reports; what is not known is no 0.
func TestWeekSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	page, md := weekPages(t, aWeek())
	checkInert(t, page)
	for _, want := range []string{
		"2 nights in 7 days; 0 adopted texts are in force, 1 taken back; 1 proposal waits.", "u/shop", "supported", "better on these tasks: won 9, lost 0 of 9",
		"Be brief. (asked for by the failures of 3 tasks, of which it has won 3 on fresh answers)", "Be kind. (asked for by the failures of 3 tasks)", "taken back by number 2; before that: won 5 and lost 1 of 7 new tasks",
		"evidence that it is better 4.5, that it is worse 0.25; 20 shows either", "number 1 taken back", "merged with what had changed", "4 tasks to review, of which 1 are not used", "number 9 (adopted) has begun",
		"$0.2500, and what 1 night cost, which is not known", "not known", "skillopt sleep adopt 20261124-200000", "night 1 cannot be read", "u/shop, not over", "budget", "a ceiling was reached", "1 group of tasks without a document", "a note", "30 011 tokens",
	} {
		for name, text := range map[string]string{"page": strings.ReplaceAll(page, "\u202f", " "), "md": strings.ReplaceAll(md, `\`, "")} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not say %q:\n%s", name, want, text)
			}
		}
	}
	if strings.Contains(md, "/srv/u") || strings.Contains(page, "/srv/u") {
		t.Error("a report tells where projects lie")
	}
	none, nothing := weekPages(t, &result.Week{Days: 7})
	for _, text := range []string{none, nothing} {
		if !strings.Contains(text, "There was no night in these days.") || !strings.Contains(text, "Nothing was adopted.") || !strings.Contains(text, "no model was asked") {
			t.Error(text)
		}
	}
}

// Trap 59: texts of models, tasks and users stay texts in the report of a week, however long they are.
func TestTrap59HostileWeekStaysText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"hostile": hostile, "long": strings.Repeat("x", 1<<20), "long with blanks": strings.Repeat("- x | ", 1<<18)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := aWeek()
			poisonTexts(reflect.ValueOf(w).Elem(), text)
			page, md := weekPages(t, w)
			checkInert(t, page)
			checkMarkdown(t, md)
			for _, shown := range []string{page, md} {
				if at := strings.IndexFunc(shown, wording.Steers); at >= 0 {
					t.Errorf("%q steers whoever shows it", shown[max(0, at-40):min(len(shown), at+20)])
				}
				if len(shown) > 100_000 {
					t.Errorf("%d bytes", len(shown))
				}
			}
			if name == "hostile" && !strings.Contains(page, "&lt;script&gt;alert(1)") {
				t.Error("the texts are not shown")
			}
		})
	}
}

// poisonTexts puts a text behind every text that the report does not branch by.
func poisonTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poisonTexts(v.Elem(), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Kind" && name != "Proposal" && name != "Verdict" {
				poisonTexts(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poisonTexts(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(v.String() + text)
	}
}

// Ten years of nights are a bounded page, which says what it leaves out.
func TestWeekOfTenYears(t *testing.T) {
	t.Parallel()
	w := aWeek()
	for range 3650 {
		w.Nights = append(w.Nights, w.Nights[0])
	}
	page, md := weekPages(t, w)
	if len(page) > 2<<20 || len(md) > 2<<20 || !strings.Contains(page, "3152 older nights are left out") || !strings.Contains(md, "3152 older nights are left out") {
		t.Errorf("%d and %d bytes", len(page), len(md))
	}
	if data, err := json.Marshal(w); err != nil || len(data) == 0 {
		t.Error(err)
	}
}
