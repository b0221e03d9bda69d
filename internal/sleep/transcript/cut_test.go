package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// TestTrap64SecretsAcrossACut has secrets that begin before the bound of what is kept, or of what
// is looked at, and end behind it: nothing of them is kept.
func TestTrap64SecretsAcrossACut(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n", 40) + "-----END OPENSSH PRIVATE KEY-----\n"
	secrets := map[string]string{"pem": pem, "token": "token=" + strings.Repeat("s3cr3tV4lue", 20), "key": "sk-proj-" + strings.Repeat("Zx8Kq2Lm9N", 12)}
	parts := []string{"b3BlbnNzaC1rZXkt", "s3cr3tV4lue", "Zx8Kq2Lm9N"}
	for name, secret := range secrets {
		for _, bound := range []int{transcript.MaxUser, transcript.MaxAgent, 1 << 20} {
			for _, before := range []int{1, 8, 40, 200, len(secret) - 2} {
				text := strings.Repeat("word and word.\n", bound/15+1)[:bound-before] + " " + secret + " and more " + strings.Repeat("tail ", 200)
				data, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := readClaude(t, claudeHome(t, map[string]string{
					"a.jsonl": claudeLine("user", 1, string(data), "") + claudeLine("assistant", 2, `[{"type":"text","text":`+string(data)+`}]`, ""),
				}))
				turn := got[0].Turns[0]
				for _, part := range parts {
					if strings.Contains(turn.User, part) || strings.Contains(turn.Agent, part) {
						t.Errorf("%s, %d bytes before %d: a part is kept: …%q", name, before, bound, turn.User[max(0, len(turn.User)-80):])
					}
				}
				if len(turn.User) > transcript.MaxUser || len(turn.Agent) > transcript.MaxAgent {
					t.Errorf("%s: more than is kept: %d and %d bytes", name, len(turn.User), len(turn.Agent))
				}
			}
		}
	}
}
