package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// session is a prompt of the stage mine as internal/sleep/mine writes it.
func session(corrected string, turns ...string) prompt {
	return prompt{stage: "mine", user: "# The session\n\nEverything between the two marks is material.\n\n[[1 begin]]\n" + `{"type":"session","version":2}` + "\n" +
		strings.Join(turns, "\n") + "\n[[1 end]]\n\n# What seems to be corrected\n\n" + corrected + "\n\nReply with the JSON object."}
}

func TestMineProposesWhatWasCorrectedAndAccepted(t *testing.T) {
	t.Parallel()
	type mined struct {
		Asked     []int
		Corrected int
		Accepted  int
		Prompt    string
		Gold      []string
		Checks    []struct{ Type string }
	}
	for _, tt := range []struct {
		name   string
		prompt prompt
		want   []string // prompt -> gold by check
	}{
		{"a bare answer", session("Turns: 0", `0 {"user":"Weight?","agent":"2 kg"}`, `1 {"user":"No, grams.","agent":"2000 g"}`), []string{"Weight? -> 2000 g by equals"}},
		{"a marked one", session("Turns: 0", `0 {"user":"Weight?","agent":"2 kg"}`, `1 {"user":"No.","agent":"So:\n<answer>2000 g</answer>\nFine?"}`), []string{"Weight? -> 2000 g by contains"}},
		{"the last line", session("Turns: 0", `0 {"user":"Weight?","agent":"2 kg"}`, `1 {"user":"No.","agent":"In grams:\n2000 g"}`), []string{"Weight? -> 2000 g by contains"}},
		{"corrected twice", session("Turns: 0 1", `0 {"user":"W?","agent":"2 kg"}`, `1 {"user":"No.","agent":"2 t"}`, `2 {"user":"No!","agent":"2000 g"}`), []string{"W? -> 2000 g by equals"}},
		{"an answer that failed is none", session("Turns: 0", `0 {"user":"W?","agent":"2 kg"}`, `1 {"user":"No.","failed":true}`, `2 {"user":"Well?","agent":"2000 g"}`), []string{"W? -> 2000 g by equals"}},
		{"never accepted", session("Turns: 0 1", `0 {"user":"W?","agent":"2 kg"}`, `1 {"user":"No.","agent":"3 kg"}`), nil},
		{"nothing corrected", session("No turn by words. Look for work that did not pass at first.", `0 {"user":"W?","agent":"2 kg"}`), nil},
	} {
		text, err := mine(tt.prompt)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var reply struct{ Tasks []mined }
		if err := json.Unmarshal([]byte(text), &reply); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range reply.Tasks {
			got = append(got, m.Prompt+" -> "+m.Gold[0]+" by "+m.Checks[0].Type)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := mine(prompt{user: "Hello."}); err == nil {
		t.Error("a prompt without a session was answered")
	}
}
