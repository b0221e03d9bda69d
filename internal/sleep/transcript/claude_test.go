package transcript_test

import (
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript/transcripttest"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func yes() *bool { ok := true; return &ok }

func TestClaude(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{
		Source: transcript.Claude{}, Home: "testdata/claude", Filled: "testdata/claude-filled",
		Want: []transcript.Transcript{{
			Source: "claude", ID: "7569b375-2bc8-4cd1-b22d-650c83d78d80", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "2.1.197", Branch: "master",
			Started: at("2026-11-22T08:23:30.4Z"), Ended: at("2026-11-22T08:23:32.276Z"),
			Turns: []transcript.Turn{{
				ID: "6078f4eb-a458-4dfa-8b0b-75ea81b14f9a", Started: at("2026-11-22T08:23:30.4Z"), Ended: at("2026-11-22T08:23:32.276Z"),
				User: "This one fails.", Tools: []transcript.Tool{}, Files: []string{}, Failed: "authentication_failed",
			}},
		}, {
			Source: "claude", ID: "c557cdca-64d7-4010-804b-0fff9c0b6a4f", Project: "/PROJECT/shop", Origin: transcript.Headless, Version: "2.1.197", Branch: "master",
			Started: at("2026-11-22T08:22:46.533Z"), Ended: at("2026-11-22T08:23:14.99Z"),
			Turns: []transcript.Turn{{
				ID: "b2735a15-1cab-4828-b306-1879142a1ccd", Started: at("2026-11-22T08:22:46.533Z"), Ended: at("2026-11-22T08:22:50.459Z"),
				User:  "CWD=/PROJECT/shop; Write the delivery date of order 1042 into out.txt. The key is PLANTED_TOKEN=[redacted]",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{{Name: "Skill", OK: yes()}, {Name: "Write", OK: yes()}},
				Files: []string{"out.txt"}, Skill: "house-rules", SkillBy: transcript.ByRecord, Redacted: 1,
			}, {
				ID: "7a9504bd-0255-4698-91a0-ad08247e50a0", Started: at("2026-11-22T08:23:13.852Z"), Ended: at("2026-11-22T08:23:14.99Z"),
				User:  "No, that is wrong: the date must be written as YYYY-MM-DD. CWD=/PROJECT/shop;",
				Agent: "FAKE-ANSWER 42", Tools: []transcript.Tool{}, Files: []string{},
			}},
		}},
	})
}
