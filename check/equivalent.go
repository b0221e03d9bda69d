package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/mcq"
)

// buildEquivalent compiles llm-equivalent: does the answer say what gold says?
func buildEquivalent(s *spec, n *node) {
	n.needs.Judge = true
	fixed := s.operands(true)
	n.gold = fixed == nil
	votes := s.votes()
	field := s.text("choices", "choices")
	n.judgeCalls = votes
	set := newOperandSet(fixed, func(t string) string { return t })
	n.holds = "says the same as " + set.describe()
	n.look = func(ctx context.Context, w *subject, id string) (verdict, error) {
		references, _ := set.of(w.task.Gold)
		switch {
		case w.dry:
			return verdict{broken: true, reason: "was not asked"}, nil
		case len(references) == 0:
			return verdict{}, errors.New("there is nothing to compare with: the task has no gold answer")
		case strings.TrimSpace(w.Answer) == "":
			return verdict{broken: true, reason: mismatch("", references)}, nil
		}
		replies, err := poll(ctx, w, id, votes, equivalence(w, references, choicesShown(w.task, field)))
		if err != nil {
			return verdict{}, err
		}
		return equivalentVerdict(replies, w.Answer, references)
	}
}

func equivalence(w *subject, references []string, choices []mcq.Choice) JudgeRequest {
	m := newMaterial(map[string]string{
		"task": shortenText(taskText(w, choices)), "answer": shortenText(w.Answer), "reference": shortenText(strings.Join(withTexts(references, choices), "\n")),
	})
	m.values["reply"] = `Reply with one JSON object and nothing else: {"reason": "<one sentence: what is the same, or what differs>", "equivalent": true or false}`
	return JudgeRequest{
		System: m.render("equivalent_system.md"), User: m.render("equivalent_user.md"), Name: "equivalence",
		Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"equivalent":{"type":"boolean"}},"required":["reason","equivalent"],"additionalProperties":false}`),
		Usable: func(reply string) error {
			_, _, err := parseEquivalence(reply)
			return err
		},
	}
}

func parseEquivalence(reply string) (same bool, why string, err error) {
	object, err := jsonx.UniqueObject(reply)
	if err != nil {
		return false, "", err
	}
	same, ok := object["equivalent"].(bool)
	if !ok {
		return false, "", errors.New("equivalent is not true or false")
	}
	why, _ = object["reason"].(string) // a verdict without a reason is a verdict
	return same, oneLine(why), nil
}

// equivalentVerdict counts the votes: the score is the share that says yes, and
// most of them decide.
func equivalentVerdict(replies []string, answer string, references []string) (verdict, error) {
	yes, against := 0, ""
	for _, reply := range replies {
		same, why, err := parseEquivalence(reply)
		if err != nil {
			return verdict{}, err
		}
		if same {
			yes++
		} else if against == "" {
			against = why
		}
	}
	v := verdict{score: float64(yes) / float64(len(replies)), pass: 2*yes > len(replies), saw: fmt.Sprintf("%d of %d votes", yes, len(replies))}
	if !v.pass {
		v.reason = fmt.Sprintf("not the same as %s%s", quoteTexts(references), got(answer))
		if against != "" {
			v.reason += ": " + excerpt(against, 400)
		}
	}
	return v, nil
}
