package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoCapabilitiesAreHandedOn: what this process was started with for its children
// is not for confined programs, nor what root has without the power to lower its
// bounding set.
func TestNoCapabilitiesAreHandedOn(t *testing.T) {
	t.Parallel()
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("it needs root, and setpriv")
	}
	for name, args := range map[string][]string{
		"inheritable":       {"--inh-caps", "+net_raw,+sys_admin"},
		"ambient, nobody":   {"--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "+net_raw,+kill", "--ambient-caps", "+net_raw,+kill"},
		"no bounding power": {"--bounding-set", "-setpcap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, set func(Spec) Spec) {
				s := set(confined(t, ""))
				self := copied(t)
				dir := filepath.Join(filepath.Dir(self), "tmp")
				cmd := exec.CommandContext(t.Context(), setpriv, append(args, self, dir, strconv.FormatBool(s.Confine.Plain))...)
				cmd.Env, cmd.Dir = []string{actVar + "=confine-status"}, "/"
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "CapEff:") {
					t.Fatalf("%v, it says %q", err, out)
				}
				const allowed = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
				for line := range strings.Lines(string(out)) {
					kind, value, _ := strings.Cut(line, ":")
					if kind == "CapBnd" || !strings.HasPrefix(kind, "Cap") {
						continue
					}
					caps, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
					if err != nil || caps&^allowed != 0 {
						t.Errorf("it has %s", line)
					}
				}
			})
		})
	}
}
