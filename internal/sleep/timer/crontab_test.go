package timer

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

func blockOf(t interface{ Fatal(...any) }, id string) string {
	e := oddEntry("")
	e.ID = id
	text, err := cronText(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTrap63OtherLinesStay: whatever a crontab holds, an entry comes and goes without touching a byte of it.
func TestTrap63OtherLinesStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"", "# mine", "MAILTO=\"\"", "5 4 * * * /bin/true 100\\% >x", "\t@daily x", "# >>> conda initialize >>>", "0 3 * * * skillopt-sleep x\r", "# skillopt-sleep-"}),
			rapid.StringMatching(`[ -~äöü\x00\xff]{0,20}`),
		), 0, 6).Draw(t, "lines")
		foreign := []byte(strings.Join(lines, "\n"))
		if len(lines) > 0 {
			foreign = append(foreign, '\n')
		}
		if _, err := blocks(foreign); err != nil {
			t.Skip("it happens to hold a marker")
		}
		one, two := blockOf(t, "0123456789abcdef"), blockOf(t, "fedcba9876543210")
		with, err := withBlock(foreign, "0123456789abcdef", one)
		if err != nil || !bytes.HasPrefix(with, foreign) {
			t.Fatalf("%v: %q", err, with)
		}
		twice, err := withBlock(with, "0123456789abcdef", one)
		if err != nil || !bytes.Equal(twice, with) {
			t.Fatalf("done twice it is %q: %v", twice, err)
		}
		both, err := withBlock(append(bytes.Clone(with), "# behind\n"...), "fedcba9876543210", two)
		if err != nil {
			t.Fatal(err)
		}
		rest, found, err := withoutBlock(both, "0123456789abcdef")
		if err != nil || !found || string(rest) != string(foreign)+"# behind\n"+two {
			t.Fatalf("%v %v: %q", found, err, rest)
		}
		rest, found, err = withoutBlock(rest, "fedcba9876543210")
		if err != nil || !found || string(rest) != string(foreign)+"# behind\n" {
			t.Fatalf("%v %v: %q", found, err, rest)
		}
	})
}

// TestTrap63MalformedMarkersAreLeft: nothing is guessed of what somebody has changed.
func TestTrap63MalformedMarkersAreLeft(t *testing.T) {
	t.Parallel()
	good := blockOf(t, "0123456789abcdef")
	parts := strings.SplitAfter(good, "\n")
	for name, tab := range map[string]string{
		"no end":            parts[0] + parts[1],
		"no begin":          parts[1] + parts[2],
		"two":               good + good,
		"within another":    parts[0] + good + parts[2],
		"another's end":     parts[0] + parts[1] + strings.ReplaceAll(parts[2], "0123456789abcdef", "1123456789abcdef"),
		"a line between":    parts[0] + parts[1] + "* * * * * mine\n" + parts[2],
		"nothing between":   parts[0] + parts[2],
		"id cut off":        strings.ReplaceAll(good, "0123456789abcdef", "0123"),
		"line ends of DOS":  strings.ReplaceAll(good, "\n", "\r\n"),
		"indented":          " " + good,
		"in capitals, tail": strings.Replace(good, " >>>\n", " >>> \n", 1),
		"commented out":     strings.ReplaceAll(good, "# >>>", "## >>>"),
		"bad JSON":          strings.Replace(good, `"/srv`, `"\q/srv`, 1),
	} {
		tab = "# mine\n" + tab + "# mine too\n"
		var foreign *ForeignError
		if got, err := withBlock([]byte(tab), "0123456789abcdef", good); !errors.As(err, &foreign) || got != nil {
			t.Errorf("%s: written over: %v\n%s", name, err, got)
		}
		if _, _, err := withoutBlock([]byte(tab), "0123456789abcdef"); !errors.As(err, &foreign) || !strings.Contains(err.Error(), "crontab, line ") {
			t.Errorf("%s: removed: %v", name, err)
		}
	}
	// A line that the user commented out is the entry's own, and is written anew.
	tab := parts[0] + "#" + parts[1] + parts[2]
	if got, err := withBlock([]byte(tab), "0123456789abcdef", good); err != nil || string(got) != good {
		t.Errorf("%v: %s", err, got)
	}
}

func TestCronSeems(t *testing.T) {
	t.Parallel()
	for comm, want := range map[string]bool{"": true, "bash": false, "cron": true, "crond": true, "bash fcron": true} {
		proc := fstest.MapFS{}
		for i, name := range strings.Fields(comm) {
			proc[string(rune('1'+i))+"/comm"] = &fstest.MapFile{Data: []byte(name + "\n")}
		}
		if got := CronSeems("linux", proc); got != want {
			t.Errorf("%q: %v", comm, got)
		}
	}
	if !CronSeems("darwin", fstest.MapFS{}) {
		t.Error("what cannot be told counts as yes")
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("# mine\n" + blockOf(f, "0123456789abcdef")))
	f.Fuzz(func(t *testing.T, tab []byte) {
		list, err := blocks(tab)
		if err != nil {
			return
		}
		at := 0
		for _, b := range list {
			if b.from < at || b.to <= b.from || b.to > len(tab) {
				t.Fatalf("%+v in %d bytes", b, len(tab))
			}
			at = b.to
		}
		with, err := withBlock(tab, "0123456789abcdef", blockOf(t, "0123456789abcdef"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := withBlock(with, "0123456789abcdef", blockOf(t, "0123456789abcdef"))
		if err != nil || !bytes.Equal(again, with) {
			t.Fatalf("%v\n%q\n%q", err, with, again)
		}
	})
}
