package plugin

import (
	"bytes"
	"testing"
)

// FuzzSettings: whatever settings hold, an entry that can be added starts the server, a second look finds it,
// and what is cut out leaves the bytes that were there.
func FuzzSettings(f *testing.F) {
	names := []string{"config.toml", "mcp-config.json", "opencode.json"}
	for _, text := range []string{
		"", "\n", "{}", "{ }\n", "{\"mcpServers\":{},}", "// a\n{\"mcpServers\": {\"a\": {/* } */}}, \"b\": [1,],}", "{\"a\": 1}", "[]", "null",
		"{\"mcpServers\": {\"skillopt\": {}}}", "{\"mcp\": {\"a\": 1}}", "a = 1", "[mcp_servers]\na = {}\n", "mcp_servers = {}", "a = '''\n", "[[mcp_servers]]", "mcp_servers.a.b = 1\n[c]",
		"{\"mcpServers\": null}", "{\"a\": {}, \"a\": {}}", "\xef\xbb\xbf{}",
	} {
		for i := range names {
			f.Add(text, i)
		}
	}
	f.Fuzz(func(t *testing.T, text string, which int) {
		name := names[(which%len(names)+len(names))%len(names)]
		s, data := newServer([]string{"--root", "a\"b\\'<"}), []byte(text)
		if e, err := entry(name, data); err != nil || e != nil {
			return
		}
		out, added, err := s.insert(name, data)
		if err != nil {
			return
		}
		if e, err := entry(name, out); err != nil || !s.starts(name, e) {
			t.Fatalf("%q: %v %v", out, e, err)
		}
		back, ok := s.cut(name, out, added)
		if !ok || !bytes.Equal(back, data) && len(bytes.TrimSpace(data)) > 0 {
			t.Fatalf("%q became %q and %q", data, out, back)
		}
	})
}
