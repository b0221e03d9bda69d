package policy

import (
	"slices"
	"strings"
	"testing"
)

// What serves runs reads no credentials and starts nothing: no room that it reaches builds a
// client of a model or confines a program, and its own rooms neither read the environment nor
// run a process. (What outcomes look like is told by rooms that also start environments.)
func TestServerOnlyReads(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{} // by room
	for _, s := range sources(t, false) {
		for _, imp := range s.file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			imports[s.room] = append(imports[s.room], strings.TrimPrefix(path, module+"/"))
		}
	}
	reached := []string{"internal/server"}
	for i := 0; i < len(reached); i++ {
		room := reached[i]
		own := room == "internal/ask" || room == "internal/server" || strings.HasPrefix(room, "internal/server/")
		for _, to := range imports[room] {
			if imports[to] != nil && !slices.Contains(reached, to) {
				reached = append(reached, to)
			}
			switch {
			case to == "internal/wiring", to == "internal/sandbox", to == "internal/agent", strings.HasPrefix(to, "internal/provider/"),
				own && (to == "os/exec" || to == "config" || to == "internal/env"):
				t.Errorf("internal/server reaches %s through %s", to, room)
			}
		}
	}
	if !slices.Contains(reached, "internal/record") || !slices.Contains(reached, "internal/journal") {
		t.Errorf("it reaches only %v", reached)
	}
}
