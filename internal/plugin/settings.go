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

// entry returns the MCP server skillopt that settings have, nil if none. name says whether they are
// TOML or JSON, in which comments and trailing commas are allowed.
func entry(name string, data []byte) (map[string]any, error) {
	all := map[string]any{}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	key := "mcpServers"
	if isTOML(name) {
		key = "mcp_servers"
		if err := toml.Unmarshal(data, &all); err != nil {
			return nil, err
		}
	} else if plain, err := standard(data); err != nil {
		return nil, err
	} else if err := json.Unmarshal(plain, &all); err != nil {
		return nil, err
	}
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

func isTOML(name string) bool { return path.Ext(name) == ".toml" }

// standard returns JSON with spaces for what is not of the standard: no byte moves.
func standard(data []byte) ([]byte, error) { return hujson.Standardize(slices.Clone(data)) }

// starts reports whether an entry starts s, whatever else the host has added to it.
func (s server) starts(e map[string]any) bool {
	return e["command"] == s.Command && fmt.Sprint(e["args"]) == fmt.Sprint(s.Args)
}

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
		text = string(indented(map[string]any{"mcpServers": map[string]any{pluginName: s}}))
	default:
		if at, text, err = s.member(data); err != nil {
			return nil, "", err
		}
	}
	out = slices.Concat(data[:at], []byte(text), data[at:])
	e, err := entry(name, out)
	if err == nil && !s.starts(e) {
		err = fmt.Errorf("no entry can be added to it")
	}
	return out, text, err
}

// member returns where in a JSON object the entry goes, and its text.
func (s server) member(data []byte) (at int, text string, err error) {
	plain, err := standard(data)
	if err != nil {
		return 0, "", err
	}
	object, depth := gjson.ParseBytes(plain), 1
	var value any = map[string]any{pluginName: s}
	key := "mcpServers"
	at = bytes.IndexByte(plain, '{')
	if servers := object.Get(key); servers.IsObject() {
		object, depth, value, key, at = servers, 2, s, pluginName, servers.Index
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
	if err != nil || !s.starts(e) || isTOML(name) {
		return data, false
	}
	// The host has written the file again, in a form of its own.
	v, _ := hujson.Parse(data)
	err = v.Patch([]byte(`[{"op": "remove", "path": "/mcpServers/` + pluginName + `"}]`))
	return v.Pack(), err == nil
}

// isEmpty reports whether settings say nothing.
func isEmpty(data []byte) bool {
	return slices.Contains([]string{"", "{}", `{"mcpServers":{}}`}, strings.Join(strings.Fields(string(data)), ""))
}
