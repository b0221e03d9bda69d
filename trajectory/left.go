package trajectory

// Kinds of what is left out.
const (
	ClientTool  = "client tool"  // one that the agent itself would have run
	HostedTool  = "hosted tool"  // one that the vendor would have run
	StoredState = "stored state" // what the vendor would have kept, or has
	RemoteURL   = "remote url"   // what the vendor would have fetched
	Field       = "field"        // anything else
)

// LeftOut is something in an agent's request that did not reach the model.
type LeftOut struct {
	Kind string `json:"kind"`
	What string `json:"what"`
	Name string `json:"name,omitempty"` // of a tool that has one
}

// String returns what was left out, in words.
func (l LeftOut) String() string {
	if l.Name == "" {
		return l.What
	}
	return l.What + " " + l.Name
}
