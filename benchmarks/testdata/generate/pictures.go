package main

import (
	"fmt"
	"strings"
)

// docvqa writes slips of paper. A table of the world knows their text.
func docvqa(f folder) error {
	type img struct {
		Bytes []byte `parquet:"bytes"`
		Path  string `parquet:"path"`
	}
	type row struct {
		QuestionID    string   `parquet:"questionId"`
		Question      string   `parquet:"question"`
		QuestionTypes []string `parquet:"question_types,list"`
		Image         img      `parquet:"image"`
		DocID         int64    `parquet:"docId"`
		UCSF          string   `parquet:"ucsf_document_id"`
		Page          string   `parquet:"ucsf_document_page_no"`
		Answers       []string `parquet:"answers,list"`
		Split         string   `parquet:"data_split"`
	}
	var rows []row
	var ids []string
	var shown [][2]string
	for i := range 44 {
		no := 4100 + 7*i
		r := row{
			QuestionID: fmt.Sprint(90000 + i), DocID: int64(700 + i), UCSF: fmt.Sprintf("fixt%04d", i), Page: fmt.Sprint(1 + i%3), Split: "val",
			Image: img{Bytes: picture(i + 1), Path: ""},
		}
		var text string
		switch i % 3 {
		case 0:
			r.Question, r.QuestionTypes = fmt.Sprintf("What is the date on slip %d?", no), []string{"form"}
			text = fmt.Sprintf("%d %s %d", 1+i%28, pick(i, "March", "July", "October"), 1950+i)
			r.Answers = []string{fmt.Sprintf("%02d/%02d/%d", []int{3, 7, 10}[i%3], 1+i%28, 1950+i)}
		case 1:
			r.Question, r.QuestionTypes = fmt.Sprintf("What is the total on slip %d?", no), []string{"table/list"}
			text = fmt.Sprintf("%d.50 dollars", 100+i)
			r.Answers = []string{fmt.Sprintf("$%d.50", 100+i)}
		default:
			r.Question, r.QuestionTypes = fmt.Sprintf("Who signed slip %d?", no), []string{"handwritten", "form"}
			text = names()[i%44] + " Marlow"
			r.Answers = []string{text, strings.ToLower(text)}
		}
		rows, ids = append(rows, r), append(ids, r.QuestionID)
		shown = append(shown, [2]string{fmt.Sprint(no), text})
	}
	if err := rowsOf(f, "rows/DocVQA/validation-00000-of-00001.parquet", rows); err != nil {
		return err
	}
	if err := f.ids(ids); err != nil {
		return err
	}
	return f.write("world.yaml", []byte(worldHead+`name: docvqa
seed: 2
reply: |-
  The slip shows it.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
tables:
`+table("slips", shown)+`kinds:
  - {type: form, match: 'What is the date on slip (?P<no>\d+)', answer: "lookup('slips', no)"}
  - {type: table/list, match: 'What is the total on slip (?P<no>\d+)', answer: "lookup('slips', no)"}
  - {type: handwritten, match: 'Who signed slip (?P<no>\d+)', answer: "lookup('slips', no)"}
rules:
  - id: date-as-printed
    task_types: [form]
    states: [mm/dd/yyyy]
    say: ['Copy dates as they are printed, MM/DD/YYYY.']
    transform: {kind: date, from: [2 January 2006], to: 01/02/2006}
  - id: amount-as-printed
    task_types: [table/list]
    states: [dollar sign|currency sign]
    say: [Copy amounts with the dollar sign in front., 'An amount keeps its currency sign, as printed.']
    transform: {kind: replace, pattern: '^([0-9.]+) dollars$', with: '$$$1'}
  - id: greeting
    harmful: true
    task_types: [handwritten, form]
    states: [courtesy]
    say: [Add a courtesy to names.]
    transform: {kind: prefix, text: 'Dear '}
notes: [Look at the whole page first.]
`))
}

// babyvision writes pictures of dots, with questions that ask for a number or a choice.
func babyvision(f folder) error {
	var rows []map[string]any
	var dots [][2]string
	for i := range 60 {
		id := 300 + i
		n := 2 + i%11
		image := fmt.Sprintf("baby_%d.png", id)
		if err := f.write("rows/images/"+image, picture(1000+i)); err != nil {
			return err
		}
		row := map[string]any{"taskId": id, "type": "fine-grained discrimination", "image": image, "coT": "Go row by row and mark what was counted."}
		if i%2 == 0 {
			row["subtype"], row["question"], row["ansType"], row["blankAns"] = "count dots", fmt.Sprintf("How many dots does picture %d show?", id), "blank", fmt.Sprint(n)
			dots = append(dots, [2]string{fmt.Sprint(id), word(n)})
		} else {
			row["subtype"], row["question"], row["ansType"] = "odd one out", fmt.Sprintf("Which tile of picture %d differs?", id), "choice"
			row["options"], row["choiceAns"] = []string{"the upper left", "the upper right", "the lower left", "the lower right"}, i%4
			dots = append(dots, [2]string{fmt.Sprint(id), string(rune('A' + i%4))})
		}
		rows = append(rows, row)
	}
	if err := f.jsonl("rows/meta_data.jsonl", rows); err != nil {
		return err
	}
	var digits [][2]string
	for n := range 13 {
		digits = append(digits, [2]string{word(n), fmt.Sprint(n)})
	}
	return f.write("world.yaml", []byte(worldHead+`name: babyvision
seed: 9
reply: |-
  I have looked at every part.
  \boxed{{{answer}}}
rates: {harm: 0.2, fooled: 0.4}
tables:
`+table("seen", dots)+table("digits", digits)+`kinds:
  - {type: count, match: 'How many dots does picture (?P<id>\d+)', answer: "lookup('seen', id)"}
  - {type: odd, match: 'Which tile of picture (?P<id>\d+)', answer: "cat(lookup('seen', id), ' or another one: B, C')"}
rules:
  - id: digits
    task_types: [count]
    states: [digit|numeral]
    say: [Write counts in digits., 'A count is given as a numeral, not as a word.']
    transform: {kind: lookup, table: digits}
  - id: decide
    task_types: [odd]
    states: [[one|single, label|letter]]
    say: [Decide for one label and write nothing behind it., A single letter is the whole answer.]
    transform: {kind: replace, pattern: ' or another one.*$', with: ''}
  - id: guess
    harmful: true
    task_types: [count]
    states: [approximate]
    say: [An approximate count is enough.]
    transform: {kind: prefix, text: 'about '}
notes: [Count twice.]
`))
}

// mathverse writes figures, with the question in several versions.
func mathverse(f folder) error {
	var rows []map[string]any
	var known [][2]string
	for i := range 60 {
		image := fmt.Sprintf("images_version_1-4/image_%d.png", i+1)
		if err := f.write("rows/images/"+image, picture(2000+i)); err != nil {
			return err
		}
		base := map[string]any{
			"problem_index": fmt.Sprint(i + 1), "image": image,
			"metadata": map[string]any{"split": "testmini", "source": "fixture", "subject": pick(i, "Plane Geometry", "Functions"), "subfield": pick(i, "Length", "Angle")},
		}
		half := 3 + i
		stem := fmt.Sprintf("Figure %d: in the triangle the half side is known. How long is the side?", i+1)
		if i%2 == 0 {
			base["question_type"], base["answer"] = "free-form", fmt.Sprint(2*half)
			known = append(known, [2]string{fmt.Sprint(i + 1), fmt.Sprint(half)})
		} else {
			stem = fmt.Sprintf("Figure %d: how large is the marked angle?\nChoices:\nA:%d°\nB:%d°\nC:%d°\nD:%d°", i+1, 20+i, 30+i, 40+i, 50+i)
			base["question_type"], base["answer"] = "multi-choice", string(rune('A'+i%4))
			known = append(known, [2]string{fmt.Sprint(i + 1), string(rune('A' + i%4))})
		}
		for v, version := range []string{"Text Dominant", "Text Lite"} {
			row := map[string]any{"sample_index": fmt.Sprint(2*i + v + 1), "problem_version": version, "question": stem}
			if version == "Text Dominant" {
				row["question"] = "The base is drawn thick. " + stem
			}
			for k, v := range base {
				row[k] = v
			}
			rows = append(rows, row)
		}
	}
	if err := f.json("rows/testmini.json", rows); err != nil {
		return err
	}
	return f.write("world.yaml", []byte(worldHead+`name: mathverse
seed: 4
reply: |-
  From the figure it follows.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
tables:
`+table("figures", known)+`kinds:
  - {type: side, match: 'Figure (?P<no>\d+): in the triangle', answer: "lookup('figures', no)"}
  - {type: angle, match: 'Figure (?P<no>\d+): how large', answer: "cat(lookup('figures', no), ' or C or D')"}
rules:
  - id: whole-side
    task_types: [side]
    states: [[whole|full, side]]
    say: ['Give the whole side, not its half.', The full side is asked for; double what the figure marks.]
    transform: {kind: scale, factor: 2}
  - id: decide
    task_types: [angle]
    states: [[one|single, choice|letter]]
    say: [Decide for one choice., The answer is a single letter.]
    transform: {kind: replace, pattern: ' or .*$', with: ''}
  - id: words
    harmful: true
    task_types: [side]
    states: [approximate]
    say: [Approximate lengths are enough.]
    transform: {kind: prefix, text: 'roughly 1'}
notes: [Read the figure before the text.]
`))
}

// mmrb writes questions with two pictures each, marked in the text of the question.
func mmrb(f folder) error {
	sets := map[string][]map[string]any{}
	var known [][2]string
	for i := range 60 {
		set := pick(i, "scenes", "sequences")
		var images []string
		for k := range 2 {
			name := fmt.Sprintf("images/%d_%d.png", i, k)
			if err := f.write("rows/"+set+"/"+name, picture(4000+2*i+k)); err != nil {
				return err
			}
			images = append(images, name)
		}
		row := map[string]any{
			"source": "fixture", "subtask": set, "index": i, "image_paths": images, "annotation_time": 30,
			"reasoning_steps": []any{[]any{map[string]any{"reasoning step": 1, "reasoning type": "look", "rationale": "The second picture shows more."}}},
		}
		if set == "scenes" {
			row["question"] = fmt.Sprintf("Scene %d. In {image#1} a door is closed, in {image#2} it is open. Where does the cat stand?", i)
			row["options"], row["answer"] = []string{"(A) by the door", "(B) on the roof", "(C) under the table"}, string(rune('A'+i/2%3))
			known = append(known, [2]string{fmt.Sprint(i), string(rune('A' + i/2%3))})
		} else {
			row["question"] = fmt.Sprintf("Row %d. Between {image#1} and {image#2} lamps were added. How many are there now?", i)
			row["options"], row["answer"] = []string{}, fmt.Sprint(2*(3+i))
			known = append(known, [2]string{fmt.Sprint(i), fmt.Sprint(3 + i)})
		}
		sets[set] = append(sets[set], row)
	}
	for set, rows := range sets {
		if err := f.json(fmt.Sprintf("rows/%s/%s_human.json", set, set), rows); err != nil {
			return err
		}
	}
	return f.write("world.yaml", []byte(worldHead+`name: mmrb
seed: 6
reply: |-
  Both pictures count.
  <answer>{{answer}}</answer>
rates: {harm: 0.2, fooled: 0.4}
tables:
`+table("scenes", known)+`kinds:
  - {type: scene, match: 'Scene (?P<no>\d+)\.', answer: "cat(lookup('scenes', no), ' or B or C')"}
  - {type: lamps, match: 'Row (?P<no>\d+)\.', answer: "lookup('scenes', no)"}
rules:
  - id: decide
    task_types: [scene]
    states: [[one|single, option|letter]]
    say: [Decide for one option., The answer is a single letter.]
    transform: {kind: replace, pattern: ' or .*$', with: ''}
  - id: both-pictures
    task_types: [lamps]
    states: [[both|second, picture|image]]
    say: [Count over both pictures., 'The second image doubles what the first one shows.']
    transform: {kind: scale, factor: 2}
  - id: hedge
    harmful: true
    task_types: [lamps]
    states: [range]
    say: [Give a range in place of a number.]
    transform: {kind: prefix, text: 'from 1 to '}
notes: [Mind the order of the pictures.]
`))
}
