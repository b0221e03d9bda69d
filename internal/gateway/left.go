package gateway

import "github.com/seed-f4525e22/skillopt/trajectory"

// LeftOut is something in an agent's request that did not reach the model.
type LeftOut = trajectory.LeftOut

// Whats returns the words for things left out, for people.
func Whats(list []LeftOut) []string {
	var out []string
	for _, l := range list {
		out = append(out, l.String())
	}
	return out
}

// remarks collects what a request holds that the model does not get, each thing
// once.
type remarks struct{ list []LeftOut }

func (r *remarks) note(l LeftOut) {
	for _, have := range r.list {
		if have == l {
			return
		}
	}
	r.list = append(r.list, l)
}

// add notes something of no other kind.
func (r *remarks) add(what string) { r.note(LeftOut{Kind: trajectory.Field, What: what}) }

// tool notes a tool. Those that are not known to run at the agent run at the
// vendor: a name says where.
func (r *remarks) tool(t node) {
	kind := trajectory.HostedTool
	if name, _ := cutDate(blockKind(t)); clientTools[name] {
		kind = trajectory.ClientTool
	}
	r.note(LeftOut{Kind: kind, What: "tool " + blockKind(t), Name: clipName(t.get("name").text())})
}

// all adds what another one has collected.
func (r *remarks) all(other remarks) {
	for _, l := range other.list {
		r.note(l)
	}
}

// fields notes those of the named members that an object has.
func (r *remarks) fields(n node, names ...string) {
	for _, name := range names {
		if n.get(name).present() {
			r.add(name)
		}
	}
}

// LeftOut returns what of the requests of the session did not reach the model so far, each thing
// once, in the order in which it was met.
func (h *Handle) LeftOut() []LeftOut {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]LeftOut(nil), h.left.list...)
}
