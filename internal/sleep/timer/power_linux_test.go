package timer

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestTrap91OnBattery: what is not known counts as not known, and a mouse is no battery.
func TestTrap91OnBattery(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files string
		want  Power
	}{
		"no folder":            {"", Unknown},
		"desktop":              {"AC/type=Mains AC/online=1", Mains},
		"laptop on mains":      {"AC/type=Mains AC/online=1 BAT0/type=Battery BAT0/status=Charging", Mains},
		"laptop on battery":    {"AC/type=Mains AC/online=0 BAT0/type=Battery BAT0/status=Discharging", Battery},
		"by USB":               {"AC/type=Mains AC/online=0 ucsi/type=USB ucsi/online=1 BAT0/type=Battery BAT0/status=Discharging", Mains},
		"no adapter is told":   {"BAT0/type=Battery BAT0/status=Discharging", Battery},
		"one of two":           {"BAT0/type=Battery BAT0/status=Unknown BAT1/type=Battery BAT1/status=Discharging", Battery},
		"full, nothing online": {"BAT0/type=Battery BAT0/status=Full", Unknown},
		"a mouse":              {"hid/type=Battery hid/scope=Device hid/status=Discharging", Unknown},
		"rubbish":              {"x/type=%% BAT0/type=Battery", Unknown},
	} {
		sys := fstest.MapFS{}
		for _, f := range strings.Fields(tc.files) {
			name, text, _ := strings.Cut(f, "=")
			sys[name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
		if got := supplies(sys); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestPmset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Power{
		"Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t100%; charged;":         Mains,
		"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t80%; discharging;": Battery,
		"": Unknown, "Now drawing from 'UPS Power'": Unknown,
	} {
		if got := pmset(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
