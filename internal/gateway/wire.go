package gateway

import (
	"net/url"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Wire is one of the protocols that the gateway speaks.
type Wire string

// The wires.
const (
	Chat      Wire = "chat"      // OpenAI Chat Completions
	Responses Wire = "responses" // OpenAI Responses
	Messages  Wire = "messages"  // Anthropic Messages
	Gemini    Wire = "gemini"    // Gemini generateContent
)

// codec is how one wire reads requests and writes answers.
type codec struct {
	wire   Wire
	decode func(inbound) (agentRequest, error) // its errors are *fault
	answer func(agentRequest, reply) any       // the document of an answer that is not streamed
	stream func(agentRequest, head, *events) stream
	refuse func(*fault) (status int, document any)
	sign   string                 // of life, before the first byte of the model's server
	count  func(tokens int64) any // the document of an estimate; nil if the wire has none
}

// stream writes an answer as events. The first call of any method opens it.
type stream interface {
	ping() // shows the agent that the answer is still to come
	finish(model.Response)
	fail(*fault)
}

// inbound is a request before it is read.
type inbound struct {
	body   []byte
	model  string // from the path, where the wire has it there
	stream bool   // likewise
	query  url.Values
}

// agentRequest is a request that was read: what the model is asked, and what the
// form of the answer depends on.
type agentRequest struct {
	req     model.Request
	asked   string    // the model as the agent named it, which answers repeat
	stream  bool      // the answer is wanted as events
	list    bool      // Gemini: as one JSON list of them
	usage   bool      // Chat: counts are wanted at the end of a stream
	stop    []string  // the answer ends before any of these
	leftOut []LeftOut // what the translated request has no place for
	body    node      // as it was read
	// passage is the same in the agent's words, nil if only the translation can be
	// sent; taken is what was taken out of it.
	passage *model.Passage
	taken   []LeftOut
	// tools holds those tools, by the name that the model knows, whose calls the
	// agent takes in another form.
	tools map[string]agentTool
}

// agentTool is a tool of Responses as the agent knows it.
type agentTool struct {
	space, name string // its namespace, "" if it has none
	kind        string // custom or tool_search; "" for a function
}

// head identifies an answer.
type head struct {
	id string // random, without a prefix
	at time.Time
}

// reply is an answer with its head.
type reply struct {
	head
	resp model.Response
}

// cut ends the answer before the first of the stop sequences, as a server does
// it that knows them: model.Request has no place for them. Calls and reasoning
// after the cut are dropped.
func (q agentRequest) cut(resp model.Response) model.Response {
	if len(q.stop) == 0 {
		return resp
	}
	if len(resp.Parts) == 0 {
		if text, sequence := cutAtStop(resp.Text, q.stop); sequence != "" {
			resp.Text, resp.Finish, resp.StopSequence = text, model.FinishStop, sequence
		}
		return resp
	}
	for i, p := range resp.Parts {
		text, sequence := cutAtStop(p.Text, q.stop)
		if sequence == "" {
			continue
		}
		resp.Parts = append(append([]model.Part(nil), resp.Parts[:i]...), model.Part{Text: text})
		resp.Text, resp.Finish = resp.Message().Text(), model.FinishStop
		resp.StopSequence = sequence
		if len(resp.Calls()) > 0 {
			resp.Finish = model.FinishTools // those before the cut want their results
		}
		break
	}
	return resp
}
