package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/score"
)

// maxCriteria is the most criteria of one check.
const maxCriteria = 20

// criterion is one thing that a judge looks for.
type criterion struct {
	text   string
	weight float64
}

// rubric is a compiled llm-rubric.
type rubric struct {
	criteria  []criterion
	votes     int
	average   bool // of the votes; else the median
	threshold float64
	files     []string
	reference bool // the judge is shown gold
}

// grade is one reply of a judge: a score for each criterion, and why.
type grade struct {
	scores  []float64 // within 0 and 1
	reasons []string
}

func buildRubric(s *spec, n *node) {
	n.needs.Judge = true
	r := &rubric{
		criteria: s.criteria(), votes: s.votes(), average: s.choice("combine", "median", "mean") == "mean",
		threshold: s.number("threshold", 0.5, 0, 1), reference: s.flag("reference", false), files: s.paths("files"),
	}
	n.judgeCalls = r.votes
	n.needs.Workspace = len(r.files) > 0
	n.gold = r.reference
	n.holds = "meets the criteria"
	n.look = func(ctx context.Context, w *subject, id string) (verdict, error) {
		if w.dry {
			return verdict{broken: true, reason: "was not asked"}, nil
		}
		if strings.TrimSpace(w.Answer) == "" && len(r.files) == 0 {
			return verdict{broken: true, reason: "the answer is empty"}, nil
		}
		q, err := r.request(w)
		if err != nil {
			return verdict{}, err
		}
		replies, err := poll(ctx, w, id, r.votes, q)
		if err != nil {
			return verdict{}, err
		}
		return r.verdict(replies)
	}
}

// criteria reads a text, or a list of texts and of objects with text and weight.
func (s *spec) criteria() []criterion {
	v, ok := s.get("criteria")
	list, isList := v.([]any)
	if ok && !isList {
		list = []any{v}
	}
	if len(list) == 0 || len(list) > maxCriteria {
		s.fail("criteria", "what the judge looks for is missing; a text, or a list of up to %d, is needed", maxCriteria)
		return nil
	}
	var out []criterion
	total := 0.0
	for i, item := range list {
		c := s.criterion(fmt.Sprintf("criteria[%d]", i), item)
		out = append(out, c)
		total += c.weight
	}
	if total == 0 {
		s.fail("criteria", "every weight is 0, so nothing counts")
	}
	return out
}

func (s *spec) criterion(key string, item any) criterion {
	if m, ok := item.(map[string]any); ok {
		inner := &spec{path: join(s.path, key), m: m, kind: "a criterion"}
		c := criterion{text: inner.text("text", ""), weight: inner.number("weight", 1, 0, maxWeight)}
		if strings.TrimSpace(c.text) == "" {
			inner.fail("text", "is missing")
		}
		if err := inner.finish(); err != nil {
			s.errs = append(s.errs, err)
		}
		return c
	}
	text, ok := item.(string)
	if !ok || strings.TrimSpace(text) == "" {
		s.fail(key, "a text expected, found %s", describe(item))
	}
	return criterion{text: text, weight: 1}
}

// paths reads a list of paths within the workspace, nil when it is absent.
func (s *spec) paths(key string) []string {
	v, ok := s.get(key)
	if !ok {
		return nil
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	var out []string
	for i, item := range list {
		text, ok := item.(string)
		if !ok || text == "" {
			s.fail(key, "entry %d: a path expected, found %s", i+1, describe(item))
			continue
		}
		s.checkLocal(key, text)
		out = append(out, text)
	}
	return out
}

// request shows the judge the task, the criteria and what was submitted. What
// is not ours is put between marks.
func (r *rubric) request(w *subject) (JudgeRequest, error) {
	values := map[string]string{"task": shortenText(taskText(w, choicesShown(w.task, "choices"))), "answer": shortenText(w.Answer)}
	gold := ""
	if r.reference {
		gold = shortenText(strings.Join(w.task.Gold, "\n"))
		values["gold"] = gold
	}
	for i, path := range r.files {
		text, err := w.show(path)
		if err != nil {
			return JudgeRequest{}, err
		}
		values[fmt.Sprintf("file %d", i)] = text
	}
	m := newMaterial(values)
	m.values["reference"], m.values["files"] = "", ""
	if r.reference {
		m.values["reference"] = "\n" + m.block("reference answer", gold) + "\n"
	}
	for i, path := range r.files {
		m.values["files"] = fmt.Sprintf("%s\n%s\n", m.values["files"], m.block(fmt.Sprintf("handed in, file %q", path), values[fmt.Sprintf("file %d", i)]))
	}
	m.values["criteria"], m.values["reply"] = r.list(), r.reply()
	return JudgeRequest{
		System: m.render("rubric_system.md"), User: m.render("rubric_user.md"), Name: "grade", Schema: r.schema(),
		Usable: func(reply string) error {
			_, err := r.parse(reply)
			return err
		},
	}, nil
}

// show returns a file as a judge sees it. The error is one of the machine.
func (s *subject) show(path string) (string, error) {
	text, err := s.read(path)
	switch {
	case ours(err):
		return "", err
	case errors.Is(err, fs.ErrNotExist):
		return "(there is no such file)", nil
	case err != nil:
		return "(" + reason(err) + ")", nil
	}
	return shortenText(strings.ToValidUTF8(text, "\uFFFD")), nil
}

func (r *rubric) list() string {
	if len(r.criteria) == 1 {
		return "The criterion:\n" + r.criteria[0].text
	}
	var b strings.Builder
	b.WriteString("The criteria:")
	for i, c := range r.criteria {
		fmt.Fprintf(&b, "\n%d. %s", i+1, c.text)
	}
	return b.String()
}

func (r *rubric) reply() string {
	if len(r.criteria) == 1 {
		return `Reply with one JSON object and nothing else: {"reason": "<one or two sentences: what in the material decides>", "score": <number from 0 to 1>}`
	}
	return fmt.Sprintf(`Reply with one JSON object and nothing else, with an entry for each of the %d criteria by its number: `+
		`{"1": {"reason": "<one or two sentences: what in the material decides>", "score": <number from 0 to 1>}, "2": ...}`, len(r.criteria))
}

func (r *rubric) schema() json.RawMessage {
	const one = `{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"number"}},"required":["reason","score"],"additionalProperties":false}`
	if len(r.criteria) == 1 {
		return json.RawMessage(one)
	}
	var properties, required []string
	for i := range r.criteria {
		properties = append(properties, fmt.Sprintf(`"%d":%s`, i+1, one))
		required = append(required, fmt.Sprintf(`"%d"`, i+1))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` +
		strings.Join(required, ",") + `],"additionalProperties":false}`)
}

// parse reads a reply. Every criterion must have a number from 0 to 1: a score beyond is of another
// scale, and what it would be on this one is not known.
func (r *rubric) parse(reply string) (grade, error) {
	object, err := jsonx.UniqueObject(reply)
	if err != nil {
		return grade{}, err
	}
	var g grade
	for i := range r.criteria {
		entry := object
		if len(r.criteria) > 1 {
			nested, ok := object[fmt.Sprint(i+1)].(map[string]any)
			if !ok {
				return grade{}, fmt.Errorf("the entry for criterion %d is missing", i+1)
			}
			entry = nested
		}
		raw, ok := entry["score"]
		if _, isBool := raw.(bool); !ok || isBool {
			return grade{}, fmt.Errorf("the score of criterion %d is missing", i+1)
		}
		f, err := score.Value(raw)
		if err != nil {
			return grade{}, fmt.Errorf("criterion %d: %w", i+1, err)
		}
		if f < 0 || f > 1 {
			return grade{}, fmt.Errorf("the score of criterion %d is %v, and goes from 0 to 1", i+1, f)
		}
		why, _ := entry["reason"].(string) // a grade without a reason is a grade
		g.scores, g.reasons = append(g.scores, f), append(g.reasons, oneLine(why))
	}
	return g, nil
}

// total returns the mean of a grade, by the weights of the criteria.
func (r *rubric) total(g grade) float64 {
	var sum, weights float64
	for i, c := range r.criteria {
		sum += float64(c.weight * g.scores[i]) // rounded, as in program.run
		weights += c.weight
	}
	return sum / weights
}

func (r *rubric) verdict(replies []string) (verdict, error) {
	grades, totals := make([]grade, len(replies)), make([]float64, len(replies))
	for i, reply := range replies {
		g, err := r.parse(reply)
		if err != nil {
			return verdict{}, err
		}
		grades[i], totals[i] = g, r.total(g)
	}
	combined := median(totals)
	if r.average {
		combined = mean(totals)
	}
	v := verdict{score: combined, pass: combined >= r.threshold, saw: "votes " + formatNumbers(totals)}
	if !v.pass {
		v.reason = fmt.Sprintf("the judge gives %.3g, %.3g is needed%s", combined, r.threshold, r.why(grades[nearestTo(totals, combined)]))
	}
	return v, nil
}

// formatNumbers writes numbers in a row.
func formatNumbers(values []float64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf("%.3g", v)
	}
	return strings.Join(texts, ", ")
}

// why gives the judge's reasons for what was not met in full.
func (r *rubric) why(g grade) string {
	var reasons []string
	for i, c := range r.criteria {
		if g.scores[i] == 1 || g.reasons[i] == "" || c.weight == 0 {
			continue
		}
		text := excerpt(g.reasons[i], 400)
		if len(r.criteria) > 1 {
			text = fmt.Sprintf("%s (%.3g): %s", excerpt(oneLine(c.text), 60), g.scores[i], text)
		}
		reasons = append(reasons, text)
	}
	if len(reasons) == 0 {
		return ""
	}
	return ": " + firstFew(reasons)
}
