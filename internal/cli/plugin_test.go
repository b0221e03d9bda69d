package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal nothing is written before the answer, and only after a yes.
func TestPluginAsks(t *testing.T) {
	t.Parallel()
	for answer, written := range map[string]bool{"y\n": true, "yes": true, "n\n": false, "\n": false, "": false} {
		dir := t.TempDir()
		var out, errs bytes.Buffer
		code := Main(t.Context(), []string{"plugin", "install", "pi", "--project"}, Streams{In: strings.NewReader(answer), Out: &out, Err: &errs, Dir: dir, Terminal: true}, "v1.2.3")
		_, err := os.Stat(filepath.Join(dir, ".pi/extensions/skillopt/index.js"))
		if (code == exitOK) != written || (err == nil) != written {
			t.Errorf("%q: exit code %d, %v, %s", answer, code, err, errs.String())
		}
		if !strings.Contains(out.String(), "write .pi/extensions/skillopt/index.js (") || !strings.Contains(errs.String(), "write this? [y/N] ") {
			t.Errorf("%q: shown: %s%s", answer, out.String(), errs.String())
		}
	}
}
