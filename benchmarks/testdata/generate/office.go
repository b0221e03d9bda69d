package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// bulletin is one of an invented bureau of harbours: six months of eight ports.
type bulletin struct {
	name   string
	number int // of the bulletin, from 0
	year   int // that its months are of
	months []string
}

func bulletins() (list []bulletin) {
	months := strings.Fields("January February March April May June July August September October November December")
	for n := range 4 {
		year := 1931 + n/2
		name := fmt.Sprintf("harbour_bulletin_%d_%02d", year+n%2, 7-6*(n%2))
		list = append(list, bulletin{name: name, number: n, year: year, months: months[6*(n%2) : 6*(n%2)+6]})
	}
	return list
}

func ports() []string {
	return strings.Fields("Aldwick Brenmouth Corrie Dunholm Estwater Fennport Gullhaven Hythe")
}

// The figures of a port.
func (b bulletin) receipts(port, month int) int { return 118 + 37*port + 11*month*(b.number+2)%97 }

func (b bulletin) cargo(port, month int) int { return 41 + 13*port + 7*month + 5*b.number }

func (b bulletin) pilots(port int) int { return 12 + 3*port + b.number }

func (b bulletin) tide(port int) (month string, height string) {
	at := (port*5 + b.number) % 6
	return b.months[at], fmt.Sprintf("%d.%d", 3+port%3, (7*port+b.number)%10)
}

// text returns a bulletin as a text with tables.
func (b bulletin) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "BULLETIN OF THE HARBOUR BUREAU\n%s to %s %d\n\nAll figures are as the ports have reported them. The bureau has not revised them.\n", b.months[0], b.months[5], b.year)
	fmt.Fprintf(&s, "\nTABLE 1. RECEIPTS OF THE PORTS, BY MONTH (crowns)\n\n| Port and month | Crowns |\n| --- | --- |\n")
	for p, port := range ports() {
		for m, month := range b.months {
			fmt.Fprintf(&s, "| Receipts of %s, %s | %d |\n", port, month, b.receipts(p, m))
		}
	}
	s.WriteString("\nReceipts are dues and fees together. Fines are not among them.\n\nTABLE 2. CARGO LANDED, BY MONTH (tons)\n\n| Port and month | Tons |\n| --- | --- |\n")
	for p, port := range ports() {
		for m, month := range b.months {
			fmt.Fprintf(&s, "| Cargo landed at %s, %s | %d,000 |\n", port, month, b.cargo(p, m))
		}
	}
	s.WriteString("\nCargo is counted where it is landed, and fish is not counted.\n\nTABLE 3. PILOTS AND TIDES\n\n| Port | Figure |\n| --- | --- |\n")
	for p, port := range ports() {
		month, height := b.tide(p)
		fmt.Fprintf(&s, "| Pilots at %s | %d |\n| Highest tide at %s | %d %s, %s fathoms |\n", port, b.pilots(p), port, b.year, month, height)
	}
	s.WriteString("\nPilots are those with a licence on the last day of the half-year.\n")
	return s.String()
}

// pages returns the parsed pages of a bulletin: a title, and the third table on page 3.
func (b bulletin) pages() map[string]any {
	var rows strings.Builder
	for p, port := range ports() {
		month, height := b.tide(p)
		fmt.Fprintf(&rows, "<tr><td>%s</td><td>%d</td><td>%d %s</td><td>%s</td></tr>", port, b.pilots(p), b.year, month, height)
	}
	on := func(page int) []map[string]any {
		return []map[string]any{{"page_id": page, "coord": []int{0, 0, 10, 10}}}
	}
	return map[string]any{"document": map[string]any{"elements": []map[string]any{
		{"type": "title", "content": "BULLETIN OF THE HARBOUR BUREAU", "bbox": on(1)},
		{"type": "caption", "content": "Pilots &amp; tides", "bbox": on(3)},
		{"type": "table", "content": "<table><tr><th>Port</th><th>Pilots</th><th>Highest tide</th><th>Fathoms</th></tr>" + rows.String() + "</table>", "bbox": on(3)},
	}}}
}

// question asks for one figure of a port.
func (b bulletin) question(kind, port, month int) (question, answer string) {
	name := ports()[port]
	switch kind {
	case 0:
		sum := 0
		for m := range b.months {
			sum += b.receipts(port, m)
		}
		return fmt.Sprintf("According to %s.txt, what were the receipts of the port %s from %s to %s %d?", b.name, name, b.months[0], b.months[5], b.year), fmt.Sprint(sum)
	case 1:
		return fmt.Sprintf("According to %s.txt, how much cargo was landed at the port %s in %s %d?", b.name, name, b.months[month], b.year), fmt.Sprint(b.cargo(port, month))
	case 2:
		at, _ := b.tide(port)
		return fmt.Sprintf("According to %s.txt, when was the highest tide at the port %s?", b.name, name), fmt.Sprintf("%s %d", at, b.year)
	}
	return fmt.Sprintf("According to %s.txt, how many pilots did the port %s have?", b.name, name), fmt.Sprint(b.pilots(port))
}

// officeqa writes bulletins of an invented bureau, and questions about figures in them.
func officeqa(f folder) error {
	list := bulletins()
	for _, b := range list {
		if err := f.write("docs/transformed/"+b.name+".txt", []byte(b.text())); err != nil {
			return err
		}
	}
	if err := f.json("docs/jsons/"+list[0].name+".json", list[0].pages()); err != nil {
		return err
	}
	rows := [][]string{{"uid", "question", "answer", "source_docs", "source_files", "difficulty"}}
	var ids []string
	for i := range 30 {
		b := list[(i/4+i)%4]
		question, answer := b.question(i%4, (3*i+i/4)%8, i%6)
		files := b.name + ".txt"
		if i%10 == 9 { // a second file that the answer is not in
			files += "\r\n" + list[(b.number+1)%4].name + ".txt"
		}
		id := fmt.Sprintf("HB%04d", i+1)
		docs := fmt.Sprintf("https://example.org/harbour/%s?page=3", strings.TrimPrefix(b.name, "harbour_bulletin_"))
		rows, ids = append(rows, []string{id, question, answer, docs, files, pick(i/2, "easy", "hard")}), append(ids, id)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	if err := f.write("rows/officeqa_full.csv", b.Bytes()); err != nil {
		return err
	}
	for name, part := range map[string][]string{"train": ids[:12], "selection": ids[12:20], "test": ids[20:]} {
		if err := f.write("ids/"+name+".txt", []byte(strings.Join(part, "\n")+"\n")); err != nil {
			return err
		}
	}
	return f.write("world.yaml", []byte(worldHead+officeWorld))
}

const officeWorld = `name: officeqa
seed: 11
reply: |-
  The table says it.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
kinds:
  - type: receipts
    match: 'According to (?P<file>\S+\.txt), what were the receipts of the port (?P<port>\w+)'
    acts: [{tool: grep, arguments: {pattern: 'Receipts of {{port}},', path: '{{file}}'}, shell: "grep -in 'Receipts of {{port}},' docs/{{file}}"}]
    find: {rows: 'Receipts of \w+, (?P<month>\w+) \| (?P<n>\d+) \|'}
    answer: cat(cat(last(rows.n), ' in the last month and in all '), sum(rows.n))
  - type: cargo
    match: 'According to (?P<file>\S+\.txt), how much cargo was landed at the port (?P<port>\w+) in (?P<month>\w+)'
    acts: [{tool: grep, arguments: {pattern: 'Cargo landed at {{port}}, {{month}}', path: '{{file}}'}, shell: "grep -in 'Cargo landed at {{port}}, {{month}}' docs/{{file}}"}]
    find: {rows: 'Cargo landed at \w+, \w+ \| (?P<n>[\d,]+) \|'}
    answer: cat(first(rows.n), ' tons')
  - type: tide
    match: 'According to (?P<file>\S+\.txt), when was the highest tide at the port (?P<port>\w+)'
    acts: [{tool: grep, arguments: {pattern: 'Highest tide at {{port}} ', path: '{{file}}'}, shell: "grep -in 'Highest tide at {{port}} ' docs/{{file}}"}]
    find: {rows: 'Highest tide at \w+ \| (?P<year>\d+) (?P<month>\w+),'}
    answer: cat(cat(first(rows.year), ' '), first(rows.month))
  - type: pilots
    match: 'According to (?P<file>\S+\.txt), how many pilots did the port (?P<port>\w+) have'
    acts: [{tool: grep, arguments: {pattern: 'Pilots at {{port}} ', path: '{{file}}'}, shell: "grep -in 'Pilots at {{port}} ' docs/{{file}}"}]
    find: {rows: 'Pilots at \w+ \| (?P<n>\d+) \|'}
    answer: first(rows.n)
rules:
  - id: all-months
    task_types: [receipts]
    states: [[sum|total|add, month]]
    say: ['For a span of months, give the sum of all months, not the last one.', Add up the months that the question spans.]
    transform: {kind: replace, pattern: '^.* in all ', with: ''}
  - id: thousands
    task_types: [cargo]
    states: [[cargo|tons, thousand]]
    say: ['Give cargo in thousands of tons, as a whole number alone.', 'Write tons in thousands: the number and nothing else.']
    transform: {kind: replace, pattern: ',000 tons$', with: ''}
  - id: month-first
    task_types: [tide]
    states: [[month, before|first, year]]
    say: [Write a date with the month before the year., 'In a date the month comes first, then the year.']
    transform: {kind: replace, pattern: '^(\d+) (\w+)$', with: '$2 $1'}
  - id: about
    harmful: true
    task_types: [pilots]
    states: [approximate|roughly]
    say: [Mark a count as approximate.]
    transform: {kind: prefix, text: 'about '}
notes: [Read the head of a table before its rows.]
`
