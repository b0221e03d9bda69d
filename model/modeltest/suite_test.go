package modeltest_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

var (
	flaw = flag.String("flaw", "", "what is wrong with the toy adapter of TestSuite")
	_    = flag.Bool("update", false, "rewrite golden files")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) { modeltest.Run(t, toyHarness(*flaw)) }

// TestSuiteFindsFlaws runs the suite, in a process of its own, on adapters that
// break one promise each.
func TestSuiteFindsFlaws(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flaws := map[string]string{ // and the subtest that must fail
		"drops the system message":  "TestSuite/request/conversation",
		"drops the seed":            "TestSuite/request/sampling",
		"drops zeros":               "TestSuite/request/sampling",
		"sends a temperature":       "TestSuite/request/defaults",
		"schema for all":            "TestSuite/request/schema",
		"no headers":                "TestSuite/request/headers",
		"empty key":                 "TestSuite/request/key/none",
		"follows redirects":         "TestSuite/request/key/not_for_another_host",
		"trims":                     "TestSuite/response/text",
		"empty is an error":         "TestSuite/response/empty",
		"always stops":              "TestSuite/response/cut",
		"adds cached tokens":        "TestSuite/response/cached",
		"one class":                 "TestSuite/fault/401",
		"does not wait":             "TestSuite/fault/wait_fraction",
		"retries":                   "TestSuite/fault/500",
		"ignores a cut":             "TestSuite/wire/a_body_above",
		"no limit":                  "TestSuite/wire/a_body_above",
		"network is a server error": "TestSuite/wire/nobody",
		"cancel is a fault":         "TestSuite/context/cancel",
		"tells secrets":             "TestSuite/secrets",
		"loses images":              "TestSuite/vision/text_and_image",
		"drops descriptions":        "TestSuite/tools/choice_auto",
		"drops the choice":          "TestSuite/tools/choice_required",
		"one call":                  "TestSuite/calls/whole/several",
		"one call, streamed":        "TestSuite/calls/stream/several",
		"calls without ids":         "TestSuite/calls/whole/one",
		"broken arguments":          "TestSuite/calls/whole/with_arguments_that_are_no_JSON",
		"a cut call is broken":      "TestSuite/calls/whole/cut",
		"errors are results":        "TestSuite/results/error",
		"results last":              "TestSuite/results/several",
		"loses a result's images":   "TestSuite/results/images",
		"thinks aloud":              "TestSuite/traces/whole/with_an_answer",
		"forgets its thoughts":      "TestSuite/traces/whole/with_a_call",
		"breaks the seal":           "TestSuite/traces/stream/with_a_call",
		"sends others' thoughts":    "TestSuite/traces/whole/with_an_answer",
		"loses the usage":           "TestSuite/stream/response/text",
		"waits for ever":            "TestSuite/stream/idle/silent_in_the_middle",
		"counts all the time":       "TestSuite/stream/idle/slow_but_alive",
		"ends early":                "TestSuite/stream/cut/text_after_2",
		"skips bad events":          "TestSuite/stream/fault/an_event_that",
		"an error is the end":       "TestSuite/stream/fault/sorry",
	}
	for flaw, where := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			part := strings.Split(where, "/")[1] // the rest of the suite has nothing to say
			out, err := exec.CommandContext(t.Context(), binary, "-test.run=^TestSuite$/^"+part+"$", "-flaw="+flaw).CombinedOutput()
			if err == nil {
				t.Fatal("the suite passed")
			}
			if !bytes.Contains(out, []byte("--- FAIL: "+where)) {
				t.Errorf("the suite failed, but not in %s:\n%.2000s", where, out)
			}
		})
	}
}
