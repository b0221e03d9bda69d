package skillopt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/config"
)

// All that the target was told is in every question of an analyst, and of the author of
// guidance, and the skill is there once.
func TestTheOptimizerSeesThePromptOfTheTarget(t *testing.T) {
	t.Parallel()
	system := "tasks.system=SYSTEM-ONE {{skill}} SYSTEM-TWO"
	s := look(t, scene{set: []string{system}})
	if s.err != nil {
		t.Fatal(s.err)
	}
	for _, stage := range []string{"analyst_error", "analyst_success", "slow_update"} {
		questions := s.prompts(stage, "user")
		if len(questions) == 0 {
			t.Errorf("nobody was asked for %s", stage)
		}
		for _, q := range questions {
			if !strings.Contains(q, "SYSTEM-ONE [the skill stands here] SYSTEM-TWO") {
				t.Errorf("%s lacks the system message:\n%s", stage, q)
			}
		}
	}
	s = look(t, scene{set: []string{"tasks.prompt=PROMPT-ONE {{prompt}} PROMPT-TWO"}})
	for _, q := range s.prompts("analyst_error", "user") {
		if n := strings.Count(q, "### Trajectory "); n == 0 || strings.Count(q, "PROMPT-ONE ") != n || strings.Count(q, " PROMPT-TWO") != n {
			t.Errorf("the task of one of %d rollouts is missing:\n%s", n, q)
		}
	}
	s = look(t, scene{set: []string{system, "reflect.view=task"}})
	for _, q := range s.prompts("analyst_error", "user") {
		if strings.Contains(q, "SYSTEM-ONE") || strings.Contains(q, "```") {
			t.Errorf("with reflect.view task it is as it was at first:\n%s", q)
		}
	}
}

// What a variable holds that the target is told stays with the target.
func TestTheOptimizerSeesNoSecretsOfTheTarget(t *testing.T) {
	t.Parallel()
	const secret = "sk-proj-Zk3vQ8mN1xR7tY2uB6wE9aL4"
	s := look(t, scene{set: []string{"tasks.system=Use " + secret + " {{skill}}"}})
	if s.err != nil {
		t.Fatal(s.err)
	}
	seen := false
	for _, q := range s.prompts("analyst_error", "user") {
		seen = seen || strings.Contains(q, "[the skill stands here]")
		if strings.Contains(q, secret) {
			t.Errorf("the optimizer is told a secret:\n%s", q)
		}
	}
	if !seen {
		t.Error("it is told nothing at all")
	}
}

// A run of an older build goes on in the words that it began with. Where the config asks
// for others it is refused, and says why and what can be done.
func TestRunsOfAnOlderBuildKeepTheirView(t *testing.T) {
	t.Parallel()
	dir := unpackOlder(t)
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: os.LookupEnv, Settings: []config.Setting{{Key: "reflect.view", Value: "agent", Origin: "--set"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(filepath.Join(dir, "runs", "cut1")))
	var failure *skillopt.Error
	if !errors.As(err, &failure) || failure.Kind != skillopt.BadInput {
		t.Fatalf("got %v, want bad input", err)
	}
	for _, want := range []string{"prompts", "reflect.view", "--fork", "by skillopt "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
}
