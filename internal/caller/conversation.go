package caller

import (
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// Conversation is a recorded call: what a model was sent, and its reply.
type Conversation struct {
	Model    string            `json:"model,omitempty"` // as the config names it
	Sampling model.Sampling    `json:"sampling"`
	Messages []RecordedMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools,omitempty"`  // definitions, as they were sent
	Schema   json.RawMessage   `json:"schema,omitempty"` // of the reply
	Reply    model.Response    `json:"reply"`
	Limit    model.Code        `json:"limit,omitempty"` // of the task, that the reply ran into
	Message  string            `json:"message,omitempty"`
}

// RecordedReply is the reply of a recorded call.
type RecordedReply struct {
	model.Response
	Limit model.Code // of the task, that the request ran into; "": none
}

// ReadReply reads the reply of a recorded call.
func ReadReply(result []byte) (RecordedReply, error) {
	var rep reply
	if err := json.Unmarshal(result, &rep); err != nil {
		return RecordedReply{}, fmt.Errorf("read a recorded reply: %w", err)
	}
	return RecordedReply{Response: rep.Response, Limit: rep.Limit}, nil
}

// RecordedMessage is a message of a recorded call. Of images it has the hashes.
type RecordedMessage struct {
	Role string `json:"role"`
	Text string `json:"text"` // or the JSON of its parts, where it has several
}

// ReadConversation reads a recorded call. It is a call with a model: what an episode depends on is
// no conversation.
func ReadConversation(in journal.Input, result []byte) (Conversation, error) {
	stored, err := restore(in)
	if err != nil {
		return Conversation{}, err
	}
	var rep reply
	if err := json.Unmarshal(result, &rep); err != nil {
		return Conversation{}, fmt.Errorf("read a recorded reply: %w", err)
	}
	out := Conversation{Model: stored.Model, Sampling: stored.Sampling, Reply: rep.Response, Limit: rep.Limit, Message: rep.Message}
	for _, m := range stored.Messages {
		out.Messages = append(out.Messages, RecordedMessage{m.Role, m.Content})
	}
	if stored.Tools != nil {
		out.Tools = stored.Tools.JSON
	}
	if stored.Schema != nil {
		out.Schema = stored.Schema.JSON
	}
	return out, nil
}
