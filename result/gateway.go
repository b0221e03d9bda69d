package result

import (
	"time"
)

// Exchange is one call of an agent.
type Exchange struct {
	At        time.Time `json:"time"` // when it began
	Wire      string    `json:"wire"` // protocol of the agent: chat, responses, messages or gemini
	Asked     string    `json:"asked,omitempty"`
	Model     string    `json:"model"` // which one answered
	Input     int64     `json:"input_tokens"`
	Output    int64     `json:"output_tokens"`
	Cached    int64     `json:"cached_tokens"` // of the input
	CostUSD   *float64  `json:"cost_usd"`      // null: not known
	TookS     float64   `json:"took_s"`
	Error     string    `json:"error,omitempty"`
	ErrorKind string    `json:"error_kind,omitempty"` // its class, such as rate_limit or budget
	LeftOut   []string  `json:"left_out,omitempty"`   // of the agent's request, which the model has no place for
}

// GatewaySummary is what went through a gateway.
type GatewaySummary struct {
	RunDir    string   `json:"run_dir"`
	Exchanges int      `json:"exchanges"` // of this session
	Failed    int      `json:"failed"`    // of those, without an answer
	Tokens    Tokens   `json:"tokens"`    // of this session
	CostUSD   *float64 `json:"cost_usd"`  // of this session; null: not known

	// What the run directory counts altogether, earlier sessions included: the
	// ceilings of limits hold for that.
	TotalCalls  int64    `json:"total_calls"`
	TotalTokens Tokens   `json:"total_tokens"`
	TotalUSD    *float64 `json:"total_usd"`
}

// GatewayFile is the file of a run directory with the GatewaySummary of the last
// session.
const GatewayFile = "gateway.json"
