package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// rowsOf writes rows as Parquet.
func rowsOf[T any](f folder, name string, rows []T) error {
	var b strings.Builder
	w := parquet.NewGenericWriter[T](&writer{&b}, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.write(name, []byte(b.String()))
}

type writer struct{ *strings.Builder }

// searchqa writes passages about ships, and a question about one of them.
func searchqa(f folder) error {
	type row struct {
		Context  string   `parquet:"context"`
		Question string   `parquet:"question"`
		Answers  []string `parquet:"answers,list"`
		Key      string   `parquet:"key"`
	}
	var rows []row
	var ids []string
	list := names()
	ports := []string{"Brenton", "Old Haven", "Saltmere", "Kingsdock", "Farholt"}
	builders := []string{"Ada Brandt", "Jonas Weir", "Mira Stone", "Piet Halder", "Vera Lund"}
	for i, name := range list[:44] {
		facts := func(n int) string {
			return fmt.Sprintf("[DOC] [TLE] Ship registry [PAR] The %s was launched in the port of %s in %d. Its builder was %s.", list[n], ports[n%5], 1801+3*n, builders[n/3%5])
		}
		other := (i + 17) % 44
		context := facts(other) + " " + facts(i)
		if i%11 == 5 { // longer than what is shown: what is asked for is in front
			context = facts(i) + " " + facts(other) + " [DOC] [TLE] Tides [PAR] " + strings.Repeat("High water comes twice a day, and low water between. ", 130)
		}
		r := row{Context: context}
		switch i % 4 {
		case 0:
			r.Question, r.Answers = fmt.Sprintf("In which year was the %s launched", name), []string{fmt.Sprint(1801 + 3*i)}
		case 1:
			r.Question, r.Answers = fmt.Sprintf("In which port was the %s launched", name), []string{ports[i%5]}
		case 2:
			r.Question, r.Answers = fmt.Sprintf("Who built the %s", name), []string{turned(builders[i/3%5]), "shipwright " + turned(builders[i/3%5])}
		default:
			r.Question, r.Answers = fmt.Sprintf("Which ship was launched in %d", 1801+3*i), []string{name}
		}
		sum := md5.Sum([]byte("fixture " + name))
		r.Key = hex.EncodeToString(sum[:])
		rows, ids = append(rows, r), append(ids, r.Key)
	}
	if err := rowsOf(f, "rows/train-00000-of-00001.parquet", rows); err != nil {
		return err
	}
	if err := f.ids(ids); err != nil {
		return err
	}
	return f.write("world.yaml", []byte(worldHead+`name: searchqa
seed: 3
reply: |-
  One of the passages says it.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
kinds:
  - type: year
    match: 'In which year was the (?P<ship>\w+) launched'
    find: {facts: 'The (?P<ship>\w+) was launched in the port of (?P<port>[A-Z][A-Za-z ]*) in (?P<year>\d+)\.'}
    answer: cat(cat('the ', first(pick(facts.year, facts.ship == ship))), 'th year')
  - type: port
    match: 'In which port was the (?P<ship>\w+) launched'
    find: {facts: 'The (?P<ship>\w+) was launched in the port of (?P<port>[A-Z][A-Za-z ]*) in (?P<year>\d+)\.'}
    answer: first(pick(facts.port, facts.ship == ship))
  - type: builder
    match: 'Who built the (?P<ship>\w+)'
    find: {facts: 'The (?P<ship>\w+) was launched in the port of [A-Z][A-Za-z ]* in \d+\. Its builder was (?P<name>\w+ \w+)\.'}
    answer: first(pick(facts.name, facts.ship == ship))
  - type: ship
    match: 'Which ship was launched in (?P<year>\d+)'
    find: {facts: 'The (?P<ship>\w+) was launched in the port of (?P<port>[A-Z][A-Za-z ]*) in (?P<year>\d+)\.'}
    answer: first(pick(facts.ship, facts.year == year))
rules:
  - id: year-alone
    task_types: [year]
    states: [[year, digits|number]]
    say: [Give a year as its four digits and nothing else., 'A year is answered by the number alone, four digits.']
    transform: {kind: replace, pattern: '^the (\d+)th year$', with: '$1'}
  - id: family-name-first
    task_types: [builder]
    states: [family name|surname]
    say: ['Name a person with the family name first, then the given name.', 'The surname of a person comes first, a comma behind it.']
    transform: {kind: replace, pattern: '^(\w+) (\w+)$', with: '$2, $1'}
  - id: capitals
    harmful: true
    task_types: [port, ship, builder]
    states: [full sentence]
    say: [Answer in a full sentence.]
    transform: {kind: prefix, text: 'The answer that is asked for is '}
notes: [Read every passage before you answer.]
`))
}

// turned returns a name with the family name in front.
func turned(name string) string {
	first, family, _ := strings.Cut(name, " ")
	return family + ", " + first
}

// livemath writes problems with four choices. A table of the world knows the right one.
func livemath(f folder) error {
	months := map[string][]map[string]any{"202601": nil, "202602": nil}
	var ids []string
	var truth [][2]string
	kinds := []string{"number theory", "graph theory", "analysis"}
	for i := range 44 {
		month := pick(i, "202601", "202602")
		no := i/2 + 1
		n := i + 2
		texts := []string{
			fmt.Sprintf("Every prime below %d*k divides it, for all k.", n), fmt.Sprintf("Exactly %d of its residues are squares.", n),
			fmt.Sprintf("No residue modulo %d is a square.", n+1), fmt.Sprintf("It holds for k below %d alone.", n),
		}
		right := i % 4
		question := fmt.Sprintf("Problem %s-%d. Which statement about the family F(%d) of %s follows?", month, no, n, kinds[i%3])
		row := map[string]any{
			"no": no, "month": month, "paper_link": fmt.Sprintf("https://example.org/%s.%05d", month, no),
			"theorem": fmt.Sprintf("The family F(%d) has the property P(%d).", n, right), "sketch": "By induction on k.", "theorem_type": []string{kinds[i%3]},
		}
		mcq := map[string]any{"question": question}
		switch i % 3 { // the forms that the source has
		case 0:
			var list []map[string]any
			for j, text := range texts {
				list = append(list, map[string]any{"label": string(rune('A' + j)), "text": text})
			}
			mcq["choices"], mcq["correct_choice"] = list, map[string]any{"label": string(rune('A' + right)), "text": texts[right]}
		case 1:
			mcq["choices"], mcq["correct_choice"] = texts, string(rune('A'+right))
		default:
			mcq["choices"], mcq["correct_choice"] = map[string]any{"A": texts[0], "B": texts[1], "C": texts[2], "D": texts[3]}, string(rune('A'+right))+"."
		}
		row["mcq"] = mcq
		months[month] = append(months[month], row)
		ids = append(ids, fmt.Sprintf("%s:%d", month, no))
		truth = append(truth, [2]string{fmt.Sprintf("%s-%d", month, no), texts[right]})
	}
	for month, rows := range months {
		if err := f.json(fmt.Sprintf("rows/%s/qa_%s_final.json", month, month), rows); err != nil {
			return err
		}
	}
	if err := f.ids(ids); err != nil {
		return err
	}
	world := worldHead + `name: livemath
seed: 5
reply: |-
  The other statements fail for small k.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
tables:
` + table("truth", truth) + "kinds:\n"
	for i, kind := range kinds {
		answer := []string{`cat(cat('(', first(pick(choices.label, choices.text == lookup('truth', no)))), ')')`, `cat(first(pick(choices.label, choices.text == lookup('truth', no))), ', as only this holds')`, `cat('Choice ', first(pick(choices.label, choices.text == lookup('truth', no))))`}[i]
		world += fmt.Sprintf("  - type: %s\n    match: 'Problem (?P<no>[0-9]+-[0-9]+)\\. Which statement about the family F.\\d+. of %s'\n    find: {choices: '(?m)^(?P<label>[A-D])\\. (?P<text>.+)$'}\n    answer: %s\n", strings.ReplaceAll(kind, " ", "-"), kind, answer)
	}
	return f.write("world.yaml", []byte(world+`rules:
  - id: no-brackets
    task_types: [number-theory]
    states: [bracket|parenthes]
    say: [Give the letter without brackets around it., 'No parentheses around the letter of a choice.']
    transform: {kind: replace, pattern: '^\((.)\)$', with: '$1'}
  - id: no-reason
    task_types: [analysis, graph-theory]
    states: [[reason|explanation, no|without|never]]
    say: [The answer holds the letter and no reason., Put no explanation behind the letter.]
    transform: {kind: replace, pattern: ',.*$', with: ''}
  - id: no-word
    task_types: [analysis]
    states: [[word, before|in front]]
    say: [Write no word before the letter., 'Nothing stands in front of the letter, no word either.']
    transform: {kind: replace, pattern: '^Choice ', with: ''}
  - id: all-labels
    harmful: true
    task_types: [number-theory, graph-theory]
    states: [second best]
    say: [Name the second best choice as well.]
    transform: {kind: suffix, text: ' or D'}
notes: [Compare quantifiers one by one.]
`))
}

// sealqa writes questions whose search results disagree.
func sealqa(f folder) error {
	type row struct {
		ID            string   `parquet:"question_id"`
		Question      string   `parquet:"question"`
		Answer        string   `parquet:"answer"`
		Topic         string   `parquet:"topic"`
		URLs          []string `parquet:"urls,list"`
		SearchResults string   `parquet:"search_results"`
		Freshness     string   `parquet:"freshness"`
		QuestionTypes []string `parquet:"question_types,list"`
		Canary        string   `parquet:"canary"`
	}
	var rows []row
	for i := range 60 {
		town := names()[i%44]
		n := 12 + i
		old, recent := fmt.Sprintf("%d bridges", n), fmt.Sprintf("%d bridges", n+3)
		r := row{
			ID: fmt.Sprintf("seal-%03d", i+1), Topic: pick(i, "towns", "people"), Freshness: pick(i, "slow-changing", "never-changing"), QuestionTypes: []string{"advanced reasoning"},
			URLs: []string{"https://example.org/" + strings.ToLower(town)}, Canary: "fixture-canary-0f3a",
		}
		if i%2 == 0 {
			r.Question = fmt.Sprintf("How many bridges does the town %s-%d have today?", town, i)
			r.SearchResults = fmt.Sprintf("Page of 1990: %s-%d has %s. Page of 2024: %s-%d has %s.", town, i, old, town, i, recent)
			r.Answer = fmt.Sprint(n + 3)
		} else {
			r.Question = fmt.Sprintf("Who is the mayor of %s-%d?", town, i)
			r.SearchResults = fmt.Sprintf("Forum: the mayor of %s-%d is Nils Odd. Town hall: the mayor of %s-%d is Berta Even-%d.", town, i, town, i, i)
			r.Answer = fmt.Sprintf("Berta Even-%d", i)
		}
		rows = append(rows, r)
	}
	if err := rowsOf(f, "rows/seal-0.parquet", rows); err != nil {
		return err
	}
	return f.write("world.yaml", []byte(worldHead+`name: sealqa
seed: 7
reply: |-
  The results disagree.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
kinds:
  - type: towns
    match: 'How many bridges does the town (?P<town>\S+) have'
    find: {pages: 'Page of (?P<year>\d+): (?P<town>\S+) has (?P<n>\d+) bridges'}
    answer: cat(last(pages.n), ' bridges, by the newest page')
  - type: people
    match: 'Who is the mayor of'
    find: {says: '(?P<who>Forum|Town hall): the mayor of \S+ is (?P<name>\w+ [A-Za-z0-9-]+)\.'}
    answer: cat(join(says.name, ' or '), '')
rules:
  - id: number-alone
    task_types: [towns]
    states: [[count|number, alone|only|nothing else]]
    say: [Give a count as the number alone., 'When a number is asked for, answer with nothing else.']
    transform: {kind: replace, pattern: ' bridges.*$', with: ''}
  - id: official
    task_types: [people]
    states: [official|town hall]
    say: ['Where sources disagree, the official one counts.', Trust the town hall before any forum.]
    transform: {kind: replace, pattern: '^.* or ', with: ''}
  - id: oldest
    harmful: true
    task_types: [towns]
    states: [oldest]
    say: [The oldest page is the most reliable.]
    transform: {kind: prefix, text: 'formerly '}
notes: [Look at the dates of the pages.]
`))
}
