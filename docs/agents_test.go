package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
)

// agentResults holds what the tests of real agents found last. With -update, what they
// have written to the file of agenttest.FileVar is taken over.
const agentResults = "testdata/agents.jsonl"

// testedVersions are those that the adapters were measured with.
func testedVersions(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, name := range agent.Names() {
		if name == agent.CustomName {
			continue
		}
		a, err := agent.New(name, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		info, err := a.Detect(t.Context()) // the search path is empty: nothing is started
		if err != nil {
			t.Fatal(err)
		}
		versions[name] = info.Tested
	}
	return versions
}

// results returns what is stored, in the order of the page.
func results(t *testing.T) []agenttest.Result {
	t.Helper()
	if file := os.Getenv(agenttest.FileVar); *update && file != "" {
		fresh, err := agenttest.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		store(t, fresh)
	}
	all, err := agenttest.Read(agentResults)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// store adds results to the stored ones, of which there is one for each agent and
// behaviour.
func store(t *testing.T, fresh []agenttest.Result) {
	t.Helper()
	merged := filepath.Join(t.TempDir(), "merged")
	old, err := agenttest.Read(agentResults)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(old, fresh...) {
		if err := agenttest.Append(merged, r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := agenttest.Read(merged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(agentResults); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, r := range all {
		if err := agenttest.Append(agentResults, r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgentResultsAreOfTheTestedVersions keeps a table from telling of other programs
// than the page names.
func TestAgentResultsAreOfTheTestedVersions(t *testing.T) {
	tested, all := testedVersions(t), results(t)
	if len(all) == 0 {
		t.Fatal("there are no results")
	}
	for _, r := range all {
		if want, known := tested[r.Agent]; !known || r.Version != want {
			t.Errorf("%s of %s was found with version %q, and %q is tested", r.Behaviour, r.Agent, r.Version, want)
		}
		if !slices.Contains(agenttest.Behaviours(), r.Behaviour) {
			t.Errorf("%s: no behaviour is called %q", r.Agent, r.Behaviour)
		}
	}
}

// behaviourTable says which agents show each behaviour.
func behaviourTable(t *testing.T) string {
	t.Helper()
	shown := map[[2]string]string{}
	var agents []string
	for _, r := range results(t) {
		if !slices.Contains(agents, r.Agent) {
			agents = append(agents, r.Agent)
		}
		shown[[2]string{r.Agent, r.Behaviour}] = map[bool]string{true: "yes", false: "no"}[r.OK]
	}
	var body [][]string
	for _, behaviour := range agenttest.Behaviours() {
		var others []string
		for _, name := range agents {
			switch shown[[2]string{name, behaviour}] {
			case "yes":
			case "no":
				others = append(others, code(name)+": no")
			default:
				others = append(others, code(name)+": not compared")
			}
		}
		cell := fmt.Sprintf("all %d", len(agents))
		if len(others) > 0 {
			cell = fmt.Sprintf("%d of %d; %s", len(agents)-len(others), len(agents), strings.Join(others, ", "))
		}
		body = append(body, []string{behaviour, cell})
	}
	return rows([]string{"behaviour", "shown by"}, body)
}
