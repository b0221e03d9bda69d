package caller

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Asked names an answer across runs: by the endpoint and by the digest of everything that
// the answer depends on, the seed of the sample among it.
type Asked struct {
	Endpoint string
	Digest   journal.Digest
}

// knownReply returns what another run was answered to a first attempt. A damaged entry is no answer.
func (c *Caller) knownReply(r *role, s *step) (rep reply, found bool) {
	data, found := c.opts.Known[Asked{r.Endpoint, s.digest}]
	if !found || s.attempt > 0 || json.Unmarshal(data, &rep) != nil || s.call.refuses(rep.Response) != nil {
		return reply{}, false
	}
	return rep, true
}
