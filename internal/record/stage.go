package record

import "strings"

// Stage says what was asked for at a place, by the names that events have for it, and for
// which of several skills; arm is "" where there is one alone.
func (p Place) Stage() (stage, arm string) {
	at := strings.Split(p.At, "/")
	last := at[len(at)-1]
	switch at[0] {
	case "seed":
		return baselineStage(at)
	case "final":
		return finalStage(at)
	case "eval":
		return "eval " + last, ""
	case "compare", "text":
		return at[0], last
	}
	for _, part := range at {
		switch part {
		case "gate":
			return gateStage(last)
		case "compare":
			return "compare epochs", last
		case "triggers":
			return "triggers " + last, ""
		case "examples":
			if strings.HasPrefix(last, "draw") {
				return "worked examples", last
			}
		}
	}
	return last, ""
}

func gateStage(last string) (stage, arm string) {
	switch last {
	case "again":
		return "asked again", ""
	case "gate": // no outcome is there
		return "gate", ""
	}
	return "gate", last
}

func baselineStage(at []string) (stage, arm string) {
	switch at[len(at)-1] {
	case "selection":
		return "baseline", "seed"
	case "again":
		return "baseline again", "seed"
	}
	return strings.Join(at[1:], " "), "seed"
}

func finalStage(at []string) (stage, arm string) {
	if len(at) < 2 {
		return at[0], ""
	}
	last := at[len(at)-1]
	switch at[1] {
	case "test":
		return "test", last
	case "fresh":
		return "fresh pass", ""
	case "pool":
		return "rest of the pool", ""
	case "triggers":
		return "triggers " + last, ""
	}
	return at[1], ""
}
