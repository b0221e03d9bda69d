package transcript_test

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript/transcripttest"
)

func TestGemini(t *testing.T) {
	t.Parallel()
	transcripttest.Run(t, transcripttest.Case{Source: transcript.Gemini{}, Home: "testdata/gemini"})
}
