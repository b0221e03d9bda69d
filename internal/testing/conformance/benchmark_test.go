package conformance

import (
	"encoding/json"
	"testing"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/convert"
	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestDocVQAAnswers(t *testing.T) {
	t.Parallel()
	run(t, "docvqa_answers", func(in, out map[string]any) string {
		raw, _ := in["raw"].(string)
		return diffRecorded(listOf(convert.DocVQAAnswers(raw, true)), nil, out)
	})
}

// listOf is never nil.
func listOf(texts []string) []string { return append([]string{}, texts...) }

func TestDocVQARow(t *testing.T) {
	t.Parallel()
	run(t, "docvqa_row", func(in, out map[string]any) string {
		row, _ := in["row"].(map[string]any)
		got, err := convert.DocVQA(row, convert.Options{Reference: true})
		field := func(name string) string {
			s, _ := got.Fields[name].(string)
			return s
		}
		paths := []string{}
		for _, image := range got.Images {
			paths = append(paths, image.Path)
		}
		return diffRecorded(map[string]any{
			"id": got.ID, "question": field("question"), "answer": headOf(got.Gold), "answers": listOf(got.Gold), "task_type": got.Type, "subtask": got.Type,
			"image_path": headOf(paths), "image_paths": paths, "questionId": field("questionId"), "docId": field("docId"), "source_split": field("source_split"),
			"ucsf_document_id": field("ucsf_document_id"), "ucsf_document_page_no": field("ucsf_document_page_no"),
		}, err, out)
	})
}

func headOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// extractorOf compiles where an answer is.
func extractorOf(t *testing.T, rule map[string]any) *check.Extractor {
	t.Helper()
	e, err := check.ParseExtract(rule)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEvalDocVQA holds the extraction, gold of any shape, and the check anls.
func TestEvalDocVQA(t *testing.T) {
	t.Parallel()
	extractor := extractorOf(t, map[string]any{"tag": "answer", "form": "docvqa", "fallback": map[string]any{"last_line": true, "form": "reference"}})
	suite, err := check.Compile([]any{"anls"}, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, "eval_docvqa", func(in, out map[string]any) string {
		prediction, _ := in["prediction"].(string)
		answer, err := extractor.Answer(prediction)
		gold := convert.GoldAnswers(in["gold"])
		got := suite.Score(answer, task.Task{Gold: gold})
		return diffRecorded(map[string]any{"anls": got.Soft, "gold_answers": gold, "predicted_answer": answer}, err, out)
	})
}

// TestEvalLiveMath holds the reference form of mcq, and the check where gold is a choice.
func TestEvalLiveMath(t *testing.T) {
	t.Parallel()
	extractor := extractorOf(t, map[string]any{"tag": "answer", "form": "reference", "fallback": map[string]any{"last_line": true, "form": "reference"}})
	suite, err := check.Compile([]any{map[string]any{"type": "mcq", "form": "reference"}}, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, "eval_livemath", func(in, out map[string]any) string {
		c := recordedAs[struct {
			Choices    []mcq.Choice `json:"choices"`
			Correct    mcq.Choice   `json:"correct"`
			Prediction string       `json:"prediction"`
		}](t, in)
		answer, err := extractor.Answer(c.Prediction)
		correct := mcq.Normal(c.Correct.Label)
		label, _ := mcq.Parse("reference", answer, correct, c.Choices)
		em := 0.0
		if label == correct {
			em = 1
		}
		asked := task.Task{Gold: []string{c.Correct.Label}, Data: map[string]any{"choices": in["choices"]}}
		if got := suite.Score(answer, asked); suite.Check(asked) == nil && got.Hard != em {
			return got.Reason
		}
		predicted := label
		if predicted == "" {
			predicted = answer
		}
		return diffRecorded(map[string]any{
			"em": em, "f1": em, "sub_em": em, "predicted_answer": predicted, "predicted_label": label, "predicted_text": mcq.Text(label, c.Choices),
			"correct_label": correct, "correct_text": mcq.Text(correct, []mcq.Choice{{Label: correct, Text: c.Correct.Text}}),
		}, err, out)
	})
}

func TestLiveMathItem(t *testing.T) {
	t.Parallel()
	run(t, "livemath_item", func(in, out map[string]any) string {
		item, _ := in["item"].(map[string]any)
		index, _ := in["row_idx"].(json.Number).Int64()
		m, err := convert.ReadLiveMath(item, int(index))
		return diffRecorded(map[string]any{
			"id": m.ID, "month": m.Month, "no": m.No, "paper_link": m.PaperLink, "theorem": m.Theorem, "sketch": m.Sketch, "theorem_type": listOf(m.Types),
			"question": m.Question, "choices": append([]mcq.Choice{}, m.Choices...), "correct_choice": m.Correct, "source_path": "src.json",
		}, err, out)
	})
}

func TestLiveMathChoiceShuffle(t *testing.T) {
	t.Parallel()
	run(t, "livemath_choice_shuffle", func(in, out map[string]any) string {
		c := recordedAs[struct {
			Item struct {
				ID      string       `json:"id"`
				Choices []mcq.Choice `json:"choices"`
				Correct mcq.Choice   `json:"correct_choice"`
			} `json:"item"`
			Seed json.Number `json:"seed"`
		}](t, in)
		m, err := convert.LiveMath{ID: c.Item.ID, Choices: c.Item.Choices, Correct: c.Item.Correct}.Shuffled(c.Seed.String())
		return diffRecorded(map[string]any{
			"choices": m.Choices, "correct_choice": m.Correct, "seed": convert.ShuffleSeed(c.Seed.String(), m.ID),
		}, err, out)
	})
}

func TestSearchQATruncate(t *testing.T) {
	t.Parallel()
	run(t, "searchqa_truncate", func(in, out map[string]any) string {
		context, _ := in["context"].(string)
		limit, _ := in["max"].(json.Number).Int64()
		return diffRecorded(convert.ReferenceCut(context, int(limit)), nil, out)
	})
}
