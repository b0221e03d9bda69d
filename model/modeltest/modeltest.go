// Package modeltest holds what tests of models need: a suite that every adapter
// of a provider must pass, run against a scripted server on the loopback
// interface, and a fake model.Client for everybody else's tests.
//
// It knows nothing about any protocol: an adapter's own test says in a Harness
// how its protocol reads and writes.
package modeltest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Harness describes one adapter and its protocol to the suite.
type Harness struct {
	// New returns a client. What it holds is released through t.Cleanup.
	New func(t *testing.T, s Settings) model.Client
	// Read says what a server of the protocol sees in a request.
	Read func(r *http.Request, body []byte) (Seen, error)
	// Write returns the body of a successful response.
	Write func(Reply) []byte
	// Stream returns the same as the events of a stream, one element for each
	// write of the server; the last one ends the stream. Nil: the protocol has none.
	Stream func(Reply) []string
	// StreamType is the content type of streams, "" for that of server-sent events.
	StreamType string
	// Endpoint is what errors name, "" for the address of the scripted server.
	Endpoint string
	// Aside answers another question of an adapter, such as what a model can do, and
	// reports that it did. Nil: there is nothing of the kind.
	Aside func(w http.ResponseWriter, r *http.Request) bool
	// KeepAlive is what a server writes into a stream so that it is not taken for
	// dead. "" means the comment that all server-sent events know.
	KeepAlive string
	// Refuse returns the body of an error that gives message as its reason.
	Refuse func(message string) []byte
	// Faults are responses of this protocol and the class each must get, beyond
	// those that follow from the status alone.
	Faults []Fault
	// StreamFaults are errors that arrive as events of a stream.
	StreamFaults []StreamFault
	// Lacks names what the protocol cannot express.
	Lacks Lacks
}

// Settings are what a client is made from.
type Settings struct {
	URL        string // of the scripted server, without a path
	Key        string // "" sends no credential
	Headers    map[string]string
	Structured bool  // the server takes a JSON Schema
	MaxBody    int64 // bytes of a response, 0 for the adapter's default

	Stream bool          // answers are asked for as streams
	Idle   time.Duration // how long a stream may be silent, 0 for the adapter's default
}

// Lacks names abilities that a protocol does not have.
type Lacks struct {
	Seed        bool
	Schema      bool
	Refusal     bool
	Cached      bool // counts of cached tokens
	Reasoning   bool // counts of reasoning tokens
	Effort      bool // a field for the reasoning effort
	Fingerprint bool
	Vision      bool
	Tools       bool
	Traces      bool // reasoning that goes back to the model with the next request
	Opaque      bool // a place for what of the reasoning is not readable
	CallIDs     bool // ids of calls: results find their calls by name and order
	CacheWrite  bool // counts of tokens written to a cache
	TopP        bool // a top_p in addition to a temperature, which alone is sent then
	// TextArguments says that the arguments of calls are JSON values of the
	// response and not text in it, so that they cannot be broken by themselves.
	TextArguments bool
	// TokenDefault says that the protocol demands a limit of output tokens, so
	// that the adapter sends one of its own.
	TokenDefault bool
}

// Seen is a request as the server understands it.
//
// In Messages, system messages are first, wherever the protocol puts them. A
// message of text alone has it in Content, any other has Parts. Results of tools
// are in messages of model.ToolRole, in as many as the protocol needs. A
// Reasoning holds what the server got: its text, and in Opaque the string that
// was in the protocol's place for it, as JSON; Provider may be left empty, as
// may the Name of a result where the protocol does not send it.
type Seen struct {
	Model       string
	Messages    []model.Message
	Temperature *float64
	TopP        *float64
	MaxTokens   int
	Effort      string
	Seed        *int64
	Schema      json.RawMessage
	Tools       []model.Tool
	ToolChoice  string // as in model.Request
	Stream      bool
	Key         string      // the credential
	Header      http.Header // filled in by the suite
}

// Reply is a successful answer to be written in the protocol's form. Where the
// protocol has no place for something, it is left out.
type Reply struct {
	Text       string
	Refusal    string // the model declines in these words; Text is then ""
	Finish     model.Finish
	Input      int64
	Output     int64
	Cached     int64
	Reasoning  int64
	CacheWrite int64
	// Calls follow the text. Arguments are to be written as they are, also
	// if they are no JSON; nil represents the protocol's form of no arguments.
	Calls []model.ToolCall
	// Trace precedes the text. Opaque is nil or a JSON string, to be put where
	// the protocol has its signature or encrypted content.
	Trace       *model.Reasoning
	NoUsage     bool // leave out all counts
	Model       string
	Fingerprint string
}

// Fault is a response and what the adapter must make of it.
type Fault struct {
	Name   string
	Status int
	Header map[string]string
	Body   string
	Want   model.Code
	Wait   time.Duration // wanted RetryAfter
}

// StreamFault is an error within a stream and the class it must get.
type StreamFault struct {
	Name  string
	Event func(message string) string // the write that carries the error; message is its text for people
	Want  model.Code
}

// Run runs the suite: one subtest for each promise of model.Client.
func Run(t *testing.T, h Harness) {
	t.Run("request", func(t *testing.T) { testRequests(t, h) })
	t.Run("response", func(t *testing.T) { testResponses(t, h) })
	t.Run("vision", func(t *testing.T) { testVision(t, h) })
	t.Run("tools", func(t *testing.T) { testTools(t, h) })
	t.Run("calls", func(t *testing.T) { testCalls(t, h) })
	t.Run("results", func(t *testing.T) { testResults(t, h) })
	t.Run("traces", func(t *testing.T) { testTraces(t, h) })
	t.Run("stream", func(t *testing.T) { testStreams(t, h) })
	t.Run("fault", func(t *testing.T) { testFaults(t, h) })
	t.Run("wire", func(t *testing.T) { testWire(t, h) })
	t.Run("context", func(t *testing.T) { testContext(t, h) })
	t.Run("secrets", func(t *testing.T) { testSecrets(t, h) })
	t.Run("concurrency", func(t *testing.T) { testConcurrency(t, h) })
}
