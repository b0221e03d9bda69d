package gateway

import (
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/model"
)

// What an estimate reckons with.
const (
	charsPerToken  = 4
	tokensPerImage = 1600
	tokensPerPiece = 4 // what frames a message, a tool, a call
)

// estimate returns about how many tokens a request has. No tokenizer is at hand that fits every
// model, and agents use the count only to see how full a context is.
func estimate(req model.Request) int64 {
	var chars, tokens int
	add := func(s string) { chars += utf8.RuneCountInString(s) }
	for _, m := range req.Messages {
		tokens += tokensPerPiece
		add(m.Content)
		for _, p := range m.Parts {
			add(p.Text)
			switch {
			case p.Image != nil:
				tokens += tokensPerImage
			case p.Call != nil:
				tokens += tokensPerPiece
				add(p.Call.Name)
				add(string(p.Call.Arguments))
			case p.Result != nil:
				tokens += tokensPerPiece + tokensPerImage*len(p.Result.Images)
				add(p.Result.Content)
			case p.Reasoning != nil:
				add(p.Reasoning.Text)
			}
		}
	}
	for _, t := range req.Tools {
		tokens += tokensPerPiece
		add(t.Name + t.Description)
		add(string(t.Parameters))
	}
	if req.Schema != nil {
		add(string(req.Schema.JSON))
	}
	return int64(tokens + (chars+charsPerToken-1)/charsPerToken)
}
