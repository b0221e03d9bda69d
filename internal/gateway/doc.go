// Package gateway is a model server on the loopback interface that coding
// agents are pointed at. It speaks the server side of four protocols (wires):
// Chat Completions and Responses of OpenAI, Messages of Anthropic, and Gemini's
// generateContent. Whatever an agent asks becomes a model.Request, and the
// model.Client of its session answers it, so that any provider serves any agent
// while the real key, the meter and the record stay with that client. Where the
// client's server speaks the agent's wire, request and answer pass as they are
// (model.Passage), but for what passage.go and hosted.go take out.
//
// One file a wire reads requests (chat.go, responses.go, messages.go,
// gemini.go), one writes answers (…_answer.go). What all share is in
// serve.go (the life of a request), handle.go (a session), fault.go (failures)
// and conversation.go (messages). Requests are read by node.go.
// docs/agents.md has the tables of what is passed on, translated or left out.
//
// It knows nothing about providers, prices, retries or the record, and nothing
// about what an agent is asked to do.
package gateway
