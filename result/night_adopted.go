package result

// AdoptedVerdict says how an adopted text fares.
type AdoptedVerdict string

// The verdicts.
const (
	AdoptedOpen    AdoptedVerdict = "open"    // the evidence says neither yet
	AdoptedBetter  AdoptedVerdict = "better"  // with it new tasks are solved more often than without
	AdoptedWorse   AdoptedVerdict = "worse"   // and less often: a rollback is proposed
	AdoptedGone    AdoptedVerdict = "gone"    // nothing of it is in the document
	AdoptedUnknown AdoptedVerdict = "unknown" // what the document would be without it is not known
)

// NightAdopted is the evidence for a text since it was adopted: the document as it is, and as it would be if the adoption
// were taken back, on tasks that are new to both. What was not measured is null.
type NightAdopted struct {
	Number     int            `json:"number"` // of the adoption
	Target     string         `json:"target"`
	Night      string         `json:"night"` // that staged it
	Verdict    AdoptedVerdict `json:"verdict"`
	Reason     string         `json:"reason"`
	Tonight    int            `json:"tonight"` // pairs that came in the night
	Pairs      int            `json:"pairs"`
	Wins       int            `json:"wins"`
	Losses     int            `json:"losses"`
	Difference *float64       `json:"difference"` // mean over the pairs, within -1 and 1
	Better     *float64       `json:"better"`     // evidence that it is better; shown at Needs
	Worse      *float64       `json:"worse"`      // evidence that it is worse; shown at Needs
	Needs      float64        `json:"needs"`
	Help       string         `json:"help,omitempty"` // the one command that helps
	Run        string         `json:"run,omitempty"`
}
