package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// clerk replaces a language model, so that the example runs without a key.
// It keeps a convention only when the skill states it.
type clerk struct{}

var (
	productIn = regexp.MustCompile(`of the (\w+)\?`)
	cardIn    = regexp.MustCompile(`stock (\d+), weight ([\d.]+) kg, shelf (\w+)`)
)

// Generate looks the product up, then answers from its card.
func (clerk) Generate(_ context.Context, req model.Request) (model.Response, error) {
	guide, question := strings.ToLower(req.Messages[0].Content), req.Messages[1].Content
	text := "lookup " + productIn.FindStringSubmatch(question)[1]
	if c := cardIn.FindStringSubmatch(req.Messages[len(req.Messages)-1].Content); c != nil {
		text = "answer " + reply(guide, question, c)
	}
	return model.Response{Text: text, Finish: model.FinishStop}, nil
}

func reply(guide, question string, card []string) string {
	switch {
	case strings.Contains(question, "weight"):
		if strings.Contains(guide, "kg behind") {
			return card[2] + " kg"
		}
		return card[2]
	case strings.Contains(question, "shelf"):
		if strings.Contains(guide, "upper case") {
			return strings.ToUpper(card[3])
		}
		return card[3]
	}
	if strings.Contains(guide, "in stock: ") {
		return fmt.Sprintf("in stock: %s", card[1])
	}
	return card[1]
}
