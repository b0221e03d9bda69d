package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"
)

// This file puts one entry into the settings of a host, as text between the bytes that are there, and
// cuts it out again.

// serversKey returns the key of settings under which MCP servers are.
func serversKey(name string) string {
	switch {
	case isTOML(name):
		return "mcp_servers"
	case path.Base(name) == "opencode.json":
		return "mcp"
	}
	return "mcpServers"
}

func isTOML(name string) bool { return path.Ext(name) == ".toml" }

// value returns the entry for s, in the form of these settings.
func (s server) value(name string) map[string]any {
	if serversKey(name) == "mcp" {
		return map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...)}
	}
	return map[string]any{"command": s.Command, "args": s.Args}
}

// starts reports whether an entry starts s, whatever else the host has added to it.
func (s server) starts(name string, e map[string]any) bool {
	for key, v := range s.value(name) {
		if fmt.Sprint(e[key]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

// entry returns the MCP server skillopt that settings have, nil if none. name says whether they are
// TOML or JSON, in which comments and trailing commas are allowed.
func entry(name string, data []byte) (map[string]any, error) {
	all, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	key := serversKey(name)
	servers, ok := all[key].(map[string]any)
	if !ok && all[key] != nil {
		return nil, fmt.Errorf("%s is no table of servers", key)
	}
	own, ok := servers[pluginName].(map[string]any)
	if !ok && servers[pluginName] != nil {
		return nil, fmt.Errorf("%s.%s is no table", key, pluginName)
	}
	return own, nil
}

func parse(name string, data []byte) (all map[string]any, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if isTOML(name) {
		return all, toml.Unmarshal(data, &all)
	}
	plain, err := standard(data)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(plain, &all)
}

// standard returns JSON with spaces for what is not of the standard: no byte moves.
func standard(data []byte) ([]byte, error) { return hujson.Standardize(slices.Clone(data)) }

// insert returns settings with an entry for s, and the text that was put in.
func (s server) insert(name string, data []byte) (out []byte, text string, err error) {
	at := len(data)
	switch {
	case isTOML(name):
		args, _ := json.Marshal(s.Args) // which TOML reads as well
		text = fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = %s\n", pluginName, s.Command, args)
		if at > 0 {
			text = "\n" + text
		}
		if at > 0 && data[at-1] != '\n' {
			text = "\n" + text
		}
	case len(bytes.TrimSpace(data)) == 0:
		text = string(toJSON(map[string]any{serversKey(name): map[string]any{pluginName: s.value(name)}}))
	default:
		if at, text, err = s.member(name, data); err != nil {
			return nil, "", err
		}
	}
	out = slices.Concat(data[:at], []byte(text), data[at:])
	e, err := entry(name, out)
	if err == nil && !s.starts(name, e) {
		err = fmt.Errorf("no entry can be added to it")
	}
	return out, text, err
}

// member returns where in a JSON object the entry goes, and its text.
func (s server) member(name string, data []byte) (at int, text string, err error) {
	plain, err := standard(data)
	if err != nil {
		return 0, "", err
	}
	object, depth := gjson.ParseBytes(plain), 1
	key, value := serversKey(name), map[string]any{pluginName: s.value(name)}
	at = bytes.IndexByte(plain, '{')
	if servers := object.Get(key); servers.IsObject() {
		object, depth, value, key, at = servers, 2, s.value(name), pluginName, servers.Index
	}
	margin := strings.Repeat("  ", depth)
	raw, err := json.MarshalIndent(value, margin, "  ")
	text = fmt.Sprintf("\n%s%q: %s", margin, key, raw)
	if len(object.Map()) > 0 {
		return at + 1, text + ",", err
	}
	return at + 1, text + "\n" + margin[2:], err
}

// cut returns settings without the text that was put in, or else without the entry that starts s. ok is
// false if neither is there.
func (s server) cut(name string, data []byte, text string) (out []byte, ok bool) {
	for _, t := range []string{text + ",", text} { // a comma that came later
		before, after, found := strings.Cut(string(data), t)
		if e, err := entry(name, []byte(before+after)); found && err == nil && e == nil {
			return []byte(before + after), true
		}
	}
	e, err := entry(name, data)
	if err != nil || !s.starts(name, e) || isTOML(name) {
		return data, false
	}
	// The host has written the file again, in a form of its own.
	v, _ := hujson.Parse(data)
	err = v.Patch([]byte(`[{"op": "remove", "path": "/` + serversKey(name) + "/" + pluginName + `"}]`))
	return v.Pack(), err == nil
}

// isEmpty reports whether settings say nothing, but for what hosts add by themselves.
func isEmpty(name string, data []byte) bool {
	all, err := parse(name, data)
	for _, key := range []string{"$version", "$schema"} {
		delete(all, key)
	}
	if servers, ok := all[serversKey(name)].(map[string]any); ok && len(servers) == 0 {
		delete(all, serversKey(name))
	}
	return err == nil && len(all) == 0
}
