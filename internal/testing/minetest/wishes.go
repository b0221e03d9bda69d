package minetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// wishes makes 60 sessions with a task: of 41 wishes, two of which come up in eight sessions
// each, in other words, and five in two; and four pairs of files under one rule.
func (g *garden) wishes() {
	due, commit := g.dueDate(), g.commitMessage()
	for range 8 {
		g.grow(due)
		g.grow(commit)
	}
	for range 4 { // two files under one house rule are two wishes
		a, b := g.conversion()
		g.grow(a)
		g.grow(b)
	}
	for _, again := range []seedling{g.net(), g.decimals(), g.query(), g.repair(), g.section()} {
		g.grow(again)
		g.grow(again)
	}
	for range 4 {
		g.grow(g.dueDate())
		g.grow(g.net())
		g.grow(g.repair())
	}
	for range 3 {
		g.grow(g.letter())
		g.grow(g.section())
		g.grow(g.decimals())
	}
	for range 3 {
		g.grow(g.query())
	}
	g.grow(g.commitMessage())
	g.grow(g.repair())
}

// seedling is a wish: how it is asked, in other words each time.
type seedling struct {
	family, wish string
	trust        wish.Trust
	ask          func() string
	wrong        func() string
	say          func() string // what is rejected about it
	right        func() string
	gold         func() string // stands in right
	input        string
	checks       func(gold string) []any
	rubric       string
	quote        string
	work         func(*seedling) []turn // where files come out
}

// grow makes a session of a wish.
func (g *garden) grow(s seedling) {
	var turns []turn
	ask := s.ask()
	prompt := ask
	if s.input != "" {
		prompt = strings.TrimSpace(strings.Split(ask, "\n")[0])
	}
	var proposed map[string]any
	switch {
	case s.work != nil && s.trust == wish.ByCommand:
		turns = s.work(&s)
		turns[0].user = ask
		proposed = task([]int{0}, nil, len(turns)-1, prompt, "", "", nil, "", "")
	case s.work != nil:
		turns = s.work(&s)
		turns[0].user = ask
		proposed = task([]int{0}, 0, 1, prompt, "", "", nil, s.rubric, s.quote)
	default:
		say := s.say()
		turns = []turn{{user: ask, agent: s.wrong()}, {user: say, agent: s.right()}}
		gold := ""
		var checks []any
		if s.gold != nil {
			gold = s.gold()
			checks = s.checks(gold)
			gold = g.widened(gold, turns[1].agent)
		}
		last := 1
		switch g.IntN(5) {
		case 0: // the user stopped the agent
			turns[0].stopped = true
			turns[0].agent = turns[0].agent[:len(turns[0].agent)*2/3]
		case 1: // it took two corrections
			turns = []turn{turns[0], {user: say, agent: s.wrong()}, {user: pick(g, "No, still not. As I said.", "It still is not what I asked for.", "Wrong again: as before."), agent: turns[1].agent}}
			last = 2
		case 2: // the server failed in between
			turns = []turn{turns[0], {user: say, failed: "overloaded"}, {user: "Please go on", agent: turns[1].agent}}
			last = 2
		}
		proposed = task([]int{0}, 0, last, prompt, s.input, gold, checks, s.rubric, s.quote)
		if s.quote != "" && !strings.Contains(say, s.quote) {
			proposed["quote"] = say
		}
	}
	tasks := []map[string]any{proposed}
	turns = g.around(turns, tasks)
	gold := ""
	if s.gold != nil {
		gold = s.gold()
	}
	g.plants = append(g.plants, Plant{Session: g.session(turns...), Family: s.family, Wish: s.wish, Trust: s.trust, Gold: gold, tasks: tasks, sloth: g.Uint64()})
}

// widened is an expected answer with, now and then, the word before it.
func (g *garden) widened(gold, answer string) string {
	before, _, _ := strings.Cut(answer, gold)
	words := strings.Fields(before)
	if len(words) == 0 || g.IntN(3) > 0 {
		return gold
	}
	return words[len(words)-1] + " " + gold
}

// dueDate wants dates as ISO 8601 has them.
func (g *garden) dueDate() seedling {
	no, days := g.number(100, 9999), pick(g, 10, 14, 21, 30, 45, 60)
	issued := time.Date(2026, time.Month(g.number(1, 9)), g.number(1, 28), 0, 0, 0, 0, time.UTC)
	due := issued.AddDate(0, 0, days)
	on := issued.Format("2 January 2006")
	return seedling{
		family: "date", wish: fmt.Sprintf("due %d", no), trust: wish.ByCorrection,
		ask: func() string {
			return fmt.Sprintf(pick(g,
				"Invoice %[1]d was issued on %[2]s and is payable within %[3]d days. When is it due?",
				"When do I have to pay invoice %[1]d? Issued %[2]s, %[3]d days net.",
				"Please work out the due date: invoice %[1]d, date of issue %[2]s, term of payment %[3]d days.",
				"%[2]s, %[3]d days to pay, invoice no. %[1]d - last day?",
				"Can you tell me by which day invoice %[1]d must be settled if it was written on %[2]s with %[3]d days?",
				"I need the payment deadline of invoice %[1]d. It is dated %[2]s and the terms say %[3]d days.",
				"invoice %[1]d / %[2]s / net %[3]d. due when",
				"What is the latest date to pay invoice %[1]d (from %[2]s, within %[3]d days)?",
				"Bis wann muss Rechnung %[1]d vom %[2]s bezahlt sein, bei %[3]d Tagen?",
			), no, on, days)
		},
		wrong: func() string {
			return fmt.Sprintf(pick(g, "Invoice %d is due on %s.", "The due date of %d is %s.", "%d: %s"), no, due.Format(pick(g, "January 2nd, 2006", "2 January 2006", "01/02/2006")))
		},
		say: func() string {
			return pick(g, "No, dates are written year first, with dashes.", "That's not how we write dates. ISO please.", "Wrong format, it has to be ISO 8601.", "Nein, bitte als ISO-Datum.", "no, iso")
		},
		right: func() string {
			return fmt.Sprintf(pick(g, "Invoice %d is due on %s.", "%d: due %s", "Sorry. For %d that is %s."), no, due.Format(time.DateOnly))
		},
		gold: func() string { return due.Format(time.DateOnly) },
		checks: func(gold string) []any {
			return []any{pick(g, checkOf("contains", gold), checkOf("regex", gold), checkOf("icontains"))}
		},
	}
}

// commitMessage wants the area first and the imperative.
func (g *garden) commitMessage() seedling {
	area := pick(g, "fetch", "parser", "auth", "cache", "queue", "index", "mailer", "router")
	verb, past := "add", "Added"
	thing := pick(g, "a retry", "a timeout", "metrics", "a limit", "tracing", "backoff", "a dry run", "paging")
	return seedling{
		family: "commit", wish: "commit " + area + " " + thing, trust: wish.ByCorrection,
		ask: func() string {
			return fmt.Sprintf(pick(g,
				"Write a commit message for this: the %[1]s module gets %[2]s.",
				"I have put %[2]s into the %[1]s module. Give me a line for the log of the repository.",
				"commit message? %[2]s for module %[1]s",
				"What should the commit say? I gave the %[1]s module %[2]s.",
				"Please name the change: %[2]s in the %[1]s module, as the subject of a commit.",
				"One line for git please: %[1]s module, %[2]s.",
				"Subject line for a commit that brings %[2]s to the %[1]s module",
				"The %[1]s module now has %[2]s; how do I describe that in the commit?",
			), area, thing)
		},
		wrong: func() string {
			return fmt.Sprintf(pick(g, "%[1]s %[2]s in the %[3]s module.", "This commit %[1]s %[2]s for the module %[3]s"), past, thing, area)
		},
		say: func() string {
			return pick(g, "No, area first, then a colon, and the imperative.", "That is not our style: area and colon, imperative.", "You forgot the area in front.")
		},
		right: func() string {
			return fmt.Sprintf("%s: %s %s", area, verb, thing) + pick(g, "", "\n\nThat has the area first.")
		},
		gold: func() string { return fmt.Sprintf("%s: %s %s", area, verb, thing) },
		checks: func(gold string) []any {
			return []any{pick(g, checkOf("contains", gold), checkOf("starts-with", gold))}
		},
	}
}

// conversion is two files under one house rule.
func (g *garden) conversion() (seedling, seedling) {
	one := func(name string) seedling {
		var rows, wrong, right []string
		rows = append(rows, "id,name,city")
		first := g.number(10, 9999)
		for i := range 3 {
			id, who, city := first+i*g.number(1, 7), pick(g, "Ann", "Bo", "Cy", "Di", "Eve", "Flo"), pick(g, "Oslo", "Rome", "Bern", "Lima")
			rows = append(rows, fmt.Sprintf("%d,%s,%s", id, who, city))
			wrong = append(wrong, fmt.Sprintf(`{"id": %d, "name": "%s", "city": "%s"}`, id, who, city))
			right = append(right, fmt.Sprintf(`{"id": "%d", "name": "%s", "city": "%s"}`, id, who, city))
		}
		csv := strings.Join(rows, "\n")
		gold := fmt.Sprintf(`"id": "%d"`, first)
		return seedling{
			family: "conversion", wish: fmt.Sprintf("convert %s %d", name, first), trust: wish.ByCorrection, input: csv,
			ask: func() string {
				return fmt.Sprintf(pick(g, "Convert %s to JSON as we do it.", "Please turn %s into JSON.", "%s as JSON, one object a row"), name) + "\n```\n" + csv + "\n```"
			},
			wrong:  func() string { return "[" + strings.Join(wrong, ",\n") + "]" },
			say:    func() string { return pick(g, "No, ids are text here.", "Wrong: ids have to be strings.") },
			right:  func() string { return "[" + strings.Join(right, ",\n") + "]" },
			gold:   func() string { return gold },
			checks: func(gold string) []any { return []any{checkOf("contains", gold)} },
		}
	}
	names := []string{"orders.csv", "clients.csv", "stock.csv", "staff.csv"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return one(names[0]), one(names[1])
}

// net wants the currency first and two decimals.
func (g *garden) net() seedling {
	gross, rate := g.number(2, 90)*119, 19
	net := float64(gross) / 1.19
	gold := fmt.Sprintf("EUR %.2f", net)
	return seedling{
		family: "net", wish: fmt.Sprintf("net %d", gross), trust: wish.ByCorrection,
		ask: func() string {
			return fmt.Sprintf(pick(g, "What is %d gross at %d %% VAT as a net amount?", "Take the VAT out of %d (rate %d percent).", "net of %d with %d%% tax?"), gross, rate)
		},
		wrong: func() string { return fmt.Sprintf(pick(g, "The net amount is %.0f.", "%.0f euros net"), net) },
		say: func() string {
			return pick(g, "No, currency in front and two decimals.", "It doesn't have the currency. Put it first, with cents.")
		},
		right: func() string { return fmt.Sprintf(pick(g, "The net amount is %s.", "%s net"), gold) },
		gold:  func() string { return gold },
		checks: func(string) []any {
			return []any{pick(g, checkOf("contains", gold), checkOf("regex", `EUR \d+\.\d\d`))}
		},
	}
}

// decimals wants a comma, in German, French or Spanish.
func (g *garden) decimals() seedling {
	n, each := g.number(3, 97), float64(g.number(101, 989))/100
	sum := fmt.Sprintf("%.2f", float64(n)*each)
	comma := strings.ReplaceAll(sum, ".", ",")
	ask := pick(g,
		[]string{"Was kosten %d Stück zu je %.2f Euro?", "%d Stück, je %.2f Euro - was macht das zusammen?", "Summe für %d mal %.2f Euro bitte"},
		[]string{"Combien coûtent %d pièces à %.2f euros ?", "Quel est le total pour %d pièces à %.2f euros ?"},
		[]string{"¿Cuánto cuestan %d piezas a %.2f euros?", "Total de %d piezas a %.2f euros"})
	say := map[byte]string{'W': "Nein, mit Komma als Dezimalzeichen.", 'C': "Non, avec une virgule.", '\xc2': "No, con coma decimal."}[ask[0][0]]
	return seedling{
		family: "decimals", wish: fmt.Sprintf("sum %d %.2f", n, each), trust: wish.ByCorrection,
		ask:    func() string { return fmt.Sprintf(pick(g, ask...), n, each) },
		wrong:  func() string { return sum + " €" },
		say:    func() string { return say },
		right:  func() string { return comma + " €" },
		gold:   func() string { return comma },
		checks: func(gold string) []any { return []any{checkOf("contains", gold)} },
	}
}

// query wants keywords of SQL in capitals.
func (g *garden) query() seedling {
	city, n := pick(g, "Oslo", "Rome", "Bern", "Lima", "Graz", "Cork"), g.number(2, 60)
	tail := fmt.Sprintf("city = '%s' AND orders > %d", city, n)
	return seedling{
		family: "query", wish: fmt.Sprintf("query %s %d", city, n), trust: wish.ByCorrection,
		ask: func() string {
			return fmt.Sprintf(pick(g, "Write a query for the names of customers in %s with more than %d orders.", "I want SQL: names of customers from %s that ordered more than %d times.", "customers in %s, more than %d orders, names only, as SQL please"), city, n)
		},
		wrong: func() string { return "select name from customers where " + strings.ReplaceAll(tail, "AND", "and") },
		say: func() string {
			return pick(g, "No, keywords in capitals.", "Wrong, we write keywords in upper case.", "do not write keywords in small letters")
		},
		right: func() string { return "SELECT name FROM customers WHERE " + tail },
		gold:  func() string { return "SELECT name FROM customers WHERE " + tail },
		checks: func(string) []any {
			return []any{pick(g, checkOf("contains", "SELECT name FROM customers"), checkOf("regex", `\bSELECT\b`))}
		},
	}
}

// letter wants a tone, which no check can tell.
func (g *garden) letter() seedling {
	who, no := pick(g, "Ms Berg", "Mr Lund", "Ms Conti", "Mr Roth"), g.number(1000, 9999)
	return seedling{
		family: "letter", wish: fmt.Sprintf("letter %d", no), trust: wish.ByRubric,
		ask: func() string { return fmt.Sprintf("Write two sentences to %s about the delay of order %d.", who, no) },
		wrong: func() string {
			return fmt.Sprintf("Dear %s, we are terribly sorry and apologise deeply for the delay of order %d, which must have been very inconvenient.", who, no)
		},
		say: func() string {
			return pick(g, "No, shorter, and do not apologise.", "That is too long, it is wrong to apologise.", "Not like this: no apology, and short.")
		},
		right:  func() string { return fmt.Sprintf("%s, order %d arrives on Friday. We keep you posted.", who, no) },
		rubric: "The text is short and does not apologise.", quote: "-",
	}
}

// section wants a style in a file.
func (g *garden) section() seedling {
	topic, file := pick(g, "installation", "logging", "releases", "backups", "testing"), pick(g, "README.md", "docs/guide.md", "HANDBOOK.md")
	rule := pick(g, "No, headings in sentence case.", "Wrong, headings in sentence case please.")
	return seedling{
		family: "section", wish: "section " + topic + " " + file, trust: wish.ByRubric,
		ask: func() string {
			return fmt.Sprintf(pick(g, "Write a section on %s in %s.", "Please add a part about %s to %s"), topic, file)
		},
		rubric: "Headings are in sentence case.", quote: "headings in sentence case",
		work: func(*seedling) []turn {
			return []turn{{agent: "I added the section.", files: []string{file}}, {user: rule, agent: "I changed the headings.", files: []string{file}}}
		},
	}
}

// repair is work that a command judges.
func (g *garden) repair() seedling {
	lang := pick(g,
		[]string{"go test ./%s", "%s/%s.go"}, []string{"python -m pytest tests/test_%s.py -q", "src/%s/%s.py"}, []string{"npm test -- %s", "lib/%s/%s.js"},
		[]string{"cargo test %s", "src/%s/%s.rs"}, []string{"make check-%s", "%s/%s.c"}, []string{"mvn -q test -pl %s", "%s/%s.java"})
	module := pick(g, "pager", "ledger", "clock", "basket", "search", "import", "ranking", "upload")
	fault := pick(g, "leaves the last row out", "counts the header", "rounds twice", "drops the time zone", "forgets empty entries")
	command, file := fmt.Sprintf(lang[0], module), fmt.Sprintf(lang[1], module, pick(g, "core", "main", "util"))
	fails, passes := 1, 0
	return seedling{
		family: "repair", wish: "repair " + command + " " + file + " " + fault, trust: wish.ByCommand,
		ask: func() string {
			return fmt.Sprintf(pick(g, "The %s %s. Fix it.", "Fix this: the %s %s."), module, fault)
		},
		work: func(*seedling) []turn {
			failed, passed := transcript.Command{Text: command, Exit: &fails}, transcript.Command{Text: command, Exit: &passes}
			look := transcript.Command{Text: "ls -la", Exit: &passes}
			if g.IntN(2) == 0 {
				return []turn{{agent: "It is fixed, the tests pass.", files: []string{file}, commands: []transcript.Command{look, failed, passed}}}
			}
			return []turn{
				{agent: "I changed the code.", files: []string{file}, commands: []transcript.Command{failed}},
				{user: "Please go on", agent: "The tests pass now.", files: []string{file}, commands: []transcript.Command{failed, passed}},
			}
		},
	}
}
