package config

import "maps"

// former is a default that has changed. A run that began with the old one goes on with
// it, and so does its fork.
type former struct {
	key       string
	now, then string // in an identity; then is "" where there was no such key
	set       func(c *Config)
}

// formers lists them, the first default of a key before later ones. What a manifest says counts: a value that somebody chose and that
// happens to be the old default is no different.
func formers() []former {
	return []former{
		{"train.batch_size", `"auto"`, "0", func(c *Config) { c.Train.BatchSize = 0 }},
		{"reflect.minibatch_size", `"auto"`, "8", func(c *Config) { c.Reflect.MinibatchSize = 8 }},
		{"reflect.view", `"agent"`, "", func(c *Config) { c.Reflect.View = ViewTask }},
		{"edits.budget", `"auto"`, "4", func(c *Config) { c.Edits.Budget = 4 }},
		{"train.warm.drafts", `"auto"`, "", func(c *Config) { c.Train.Warm.Drafts = 0 }},
		{"train.warm.drafts", `"auto"`, "1", func(c *Config) { c.Train.Warm.Drafts = 1 }}, // whatever else was chosen
		{"gate.risk", "0", "0.5", func(c *Config) { c.Gate.Risk = 0.5 }},
		{"gate.confirm", `"measured"`, `"auto"`, func(c *Config) { c.Gate.Confirm = "auto" }},
		{"split.cross_fit", `"auto"`, "", func(c *Config) { c.Split.CrossFit = 0 }},
		{"gate.fresh", "true", "", func(c *Config) { c.Gate.Fresh = false }},
		{"train.stop.perfect", "true", "", func(c *Config) { c.Train.Stop.Perfect = false }},
		{"env.gateway", "true", "", func(c *Config) { c.Env.Gateway = false }},
		{"edits.tidy", "true", "", func(c *Config) { c.Edits.Tidy = false }},
		{"skill_files", `"all"`, "", func(c *Config) { c.SkillFiles = FilesDocument }},
	}
}

// AsBegun gives the keys at today's default the value that was the default when a run
// with the identity begun was begun, if that is what it has. Those with an origin are
// left: somebody chose them. It reports whether anything changed.
// It is for this program, and no part of the compatibility promise.
func (l *Loaded) AsBegun(c *Config, begun map[string]string) bool {
	changed := false
	for _, f := range formers() {
		if l.former(f, c.valueOf(f.key), begun) {
			f.set(c)
			changed = true
		}
	}
	return changed
}

// former reports whether a value is today's default where the run that was begun has the
// former one. A key that is not there counts as that: what a cassette says its run was
// begun with are the keys whose default had changed when it was written. An empty identity
// is of no run.
func (l *Loaded) former(f former, value string, begun map[string]string) bool {
	_, chosen := l.Origins[f.key]
	was, ok := begun[f.key]
	return !chosen && len(begun) > 0 && value == f.now && (!ok || was == f.then)
}

// AsBegunIdentity is an identity with what AsBegun would change.
// It is for this program, and no part of the compatibility promise.
func (l *Loaded) AsBegunIdentity(identity, begun map[string]string) map[string]string {
	out := maps.Clone(identity)
	for _, f := range formers() {
		if l.former(f, out[f.key], begun) {
			f.put(out)
		}
	}
	return out
}

// put gives an identity the former default.
func (f former) put(identity map[string]string) {
	if f.then == "" {
		delete(identity, f.key)
		return
	}
	identity[f.key] = f.then
}

// Begun is the part of an identity that AsBegun looks at. It is never empty, and holds
// numbers and names of this package alone.
// It is for this program, and no part of the compatibility promise.
func Begun(identity map[string]string) map[string]string {
	out := map[string]string{"train.batch_size": identity["train.batch_size"]}
	for _, f := range formers() {
		if v, ok := identity[f.key]; ok {
			out[f.key] = v
		}
	}
	return out
}

// First is that of a run that was begun with the first defaults.
// It is for this program, and no part of the compatibility promise.
func First() map[string]string {
	out, seen := map[string]string{}, map[string]bool{}
	for _, f := range formers() {
		if f.then != "" && !seen[f.key] {
			out[f.key] = f.then
		}
		seen[f.key] = true
	}
	return out
}

// FirstAuto is that of a run that was begun when batches, minibatches and edits had become
// auto, and nothing else had changed: it records the size of its batches.
// It is for this program, and no part of the compatibility promise.
func FirstAuto() map[string]string {
	out := First()
	for _, key := range []string{"train.batch_size", "reflect.minibatch_size", "edits.budget"} {
		out[key] = `"auto"`
	}
	return out
}

// AsEver is an identity in which today's defaults stand as the first ones did: what is
// named by it keeps its name.
// It is for this program, and no part of the compatibility promise.
func AsEver(identity map[string]string) map[string]string {
	out := maps.Clone(identity)
	for _, f := range formers() {
		if out[f.key] == f.now {
			f.put(out)
		}
	}
	return out
}

func (c *Config) valueOf(key string) string {
	for _, k := range c.Keys() {
		if k.Path == key {
			return k.Value
		}
	}
	return ""
}
