package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
)

// spreadsheetbench writes ledgers of invented stalls, and one cell to fill in each.
func spreadsheetbench(f folder) error {
	stalls := names()
	var rows []map[string]any
	var ids []string
	for i := range 24 {
		stall, other := stalls[i], stalls[i+10]
		lines, instruction, right := ledgerTask(i, stall)
		more, _, _ := ledgerTask(i+4, other)
		id := fmt.Sprintf("S%02d", i+1)
		for end, value := range map[string]float64{"init": 0, "golden": right} {
			data, err := ledger(append(lines, more...), value)
			if err != nil {
				return err
			}
			if err := f.write(fmt.Sprintf("spreadsheet/%s/1_%s_%s.xlsx", id, id, end), data); err != nil {
				return err
			}
		}
		ids = append(ids, id)
		rows = append(rows, map[string]any{
			"id": id, "instruction": instruction, "instruction_type": pick(i, "Cell-Level Manipulation", "Sheet-Level Manipulation"),
			"answer_position": "'Ledger'!B1", "spreadsheet_path": "spreadsheet/" + id,
		})
	}
	if err := f.json("dataset.json", rows); err != nil {
		return err
	}
	for name, part := range map[string][]string{"train": ids[:10], "selection": ids[10:16], "test": ids[16:]} {
		if err := f.write("ids/"+name+".txt", []byte(strings.Join(part, "\n")+"\n")); err != nil {
			return err
		}
	}
	if err := f.write("config.yaml", []byte(ledgerConfig)); err != nil {
		return err
	}
	return f.write("world.yaml", []byte(worldHead+ledgerWorld))
}

// ledgerTask returns what a ledger says of a stall, what is asked, and the answer.
func ledgerTask(i int, stall string) (lines []string, instruction string, right float64) {
	a, b, c := 130+17*i, 45+9*i, 12+5*i
	switch i % 4 {
	case 0:
		lines = []string{fmt.Sprintf("%s sold %d", stall, a), fmt.Sprintf("%s sold %d", stall, b), fmt.Sprintf("%s refund %d", stall, c)}
		return lines, fmt.Sprintf("Write into B1 what the stall %s took in all.", stall), float64(a + b - c)
	case 1:
		return []string{fmt.Sprintf("%s cargo %d000", stall, b)}, fmt.Sprintf("Write into B1 the cargo of the stall %s.", stall), float64(b)
	case 2:
		return []string{fmt.Sprintf("%s share %d", stall, 12+3*i)}, fmt.Sprintf("Write into B1 the share of the stall %s.", stall), float64(12+3*i) / 100
	}
	return []string{fmt.Sprintf("%s pieces %d", stall, a+3)}, fmt.Sprintf("Write into B1 how many pieces the stall %s has.", stall), float64(a + 3)
}

// ledger returns a workbook with a value in B1 and lines below it. Its parts are not compressed, and their sums are
// left out, so that a value of the same width can be changed in place.
func ledger(lines []string, value float64) ([]byte, error) {
	var cells strings.Builder
	fmt.Fprintf(&cells, `<row r="1"><c r="A1" t="inlineStr"><is><t>Answer</t></is></c><c r="B1"><v>%012.2f</v></c></row>`, value)
	for i, line := range lines {
		fmt.Fprintf(&cells, `<row r="%d"><c r="A%d" t="inlineStr"><is><t>%s</t></is></c></row>`, i+3, i+3, line)
	}
	const main, office, pack = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://schemas.openxmlformats.org/package/2006/"
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="` + pack + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + pack + `relationships"><Relationship Id="rId1" Type="` + office + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + main + `" xmlns:r="` + office + `"><sheets><sheet name="Ledger" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + pack + `relationships"><Relationship Id="rId1" Type="` + office + `/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + main + `"><sheetData>` + cells.String() + `</sheetData></worksheet>`},
	} {
		size := uint64(len(part[1]))
		w, err := z.CreateRaw(&zip.FileHeader{Name: part[0], Method: zip.Store, CompressedSize64: size, UncompressedSize64: size})
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

const ledgerConfig = `# The simulated model plays an agent: the simulation needs no Python.
agent: {name: builtin, timeout: 1m}
tasks: {extract: {tag: answer}}
`

const ledgerWorld = `name: spreadsheetbench
seed: 12
reply: |-
  The ledger says it.
  <answer>{{answer}}</answer>
leaves: v=$(LC_ALL=C printf '%012.2f' {{answer}} 2>/dev/null); LC_ALL=C sed "s/<v>000000000[.]00</<v>$v</" input.xlsx > output.xlsx
rates: {harm: 0.2, fooled: 0.4}
kinds:
  - type: cell_level
    match: 'what the stall (?P<stall>\w+) took in all'
    acts: [{shell: "grep -a -o '{{stall}} [a-z]* [0-9]*' input.xlsx"}]
    find: {sold: ' sold (?P<n>\d+)', back: ' refund (?P<n>\d+)'}
    answer: cat(cat(sum(sold.n), ' less refunds '), sum(sold.n) - sum(back.n))
  - type: sheet_level
    match: 'the cargo of the stall (?P<stall>\w+)'
    acts: [{shell: "grep -a -o '{{stall}} cargo [0-9]*' input.xlsx"}]
    find: {rows: ' cargo (?P<n>\d+)'}
    answer: first(rows.n)
  - type: cell_level
    match: 'the share of the stall (?P<stall>\w+)'
    acts: [{shell: "grep -a -o '{{stall}} share [0-9]*' input.xlsx"}]
    find: {rows: ' share (?P<n>\d+)'}
    answer: cat(first(rows.n), ' percent')
  - type: sheet_level
    match: 'how many pieces the stall (?P<stall>\w+) has'
    acts: [{shell: "grep -a -o '{{stall}} pieces [0-9]*' input.xlsx"}]
    find: {rows: ' pieces (?P<n>\d+)'}
    answer: cat(first(rows.n), ' pieces')
rules:
  - id: refunds
    task_types: [cell_level]
    states: [[refund, subtract|minus|less]]
    say: ['Subtract refunds from what was sold.', 'What a stall took is what it sold less its refunds.']
    transform: {kind: replace, pattern: '^.* less refunds ', with: ''}
  - id: thousands
    task_types: [sheet_level]
    states: [[cargo, thousand]]
    say: [Write cargo in thousands., 'Amounts of cargo go into a cell in thousands, not in single units.']
    transform: {kind: replace, pattern: '^(\d+)000$', with: '$1'}
  - id: fractions
    task_types: [cell_level]
    states: [[share|percent, fraction]]
    say: [Write a share as a fraction and not in percent., 'A share is a fraction of one: write it with two decimals as a fraction.']
    transform: {kind: replace, pattern: '^(\d\d) percent$', with: '0.$1'}
  - id: tens
    harmful: true
    task_types: [sheet_level]
    states: [nearest ten|whole tens]
    say: [Round counts to whole tens.]
    transform: {kind: replace, pattern: '\d pieces$', with: '0'}
notes: [Look at all rows of the ledger.]
`
