package timer

import (
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// odd is a path with all that schedulers and shells take for something else.
const odd = `/srv/m y/100%/a"b/c'd/e$HOME/f\n/grün & <gut> -- ;#!`

func oddEntry(system string) Entry {
	e := Entry{
		ID: "0123456789abcdef", At: At{3, 7}, Program: odd + "/skillopt", Profile: odd + "/t.json", Log: odd + "/t.log",
		Args: []string{"sleep", "run", "--profile", odd + "/t.json", "--scheduled"},
	}
	if system == "windows" {
		name := `C:\Us ers\grün & 100%\it's $x\`
		e.Program, e.Profile, e.Log = name+"skillopt.exe", name+"t.json", name+"t.log"
		e.Args[3] = name + "t.json"
	}
	return e
}

func systemOf(kind Kind) string {
	if kind == Tasks {
		return "windows"
	}
	return "linux"
}

var folders = Folders{Home: "/srv/me", Settings: "/srv/me/.config", Data: "/srv/me/.local/share"}

func TestTextIsAsWritten(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		files, err := Text(kind, oddEntry(systemOf(kind)), folders)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, f := range files {
			got.WriteString("==> " + f.Path + "\n" + f.Text)
		}
		name := filepath.Join("testdata", string(kind)+".golden")
		if *update {
			if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s is not as in %s (-update writes it again):\n%s", kind, name, diff)
		}
		again, err := Text(kind, oddEntry(systemOf(kind)), folders)
		if err != nil || cmp.Diff(files, again) != "" {
			t.Errorf("%s: the same entry gives other bytes: %v", kind, err)
		}
		id, profile, ok := readTag(files[0].Text)
		if kind == Tasks {
			id, profile, ok = readTag(strings.ReplaceAll(files[0].Text, "&quot;", `"`))
		}
		if kind != Cron && (!ok || id != "0123456789abcdef" || profile != oddEntry(systemOf(kind)).Profile) {
			t.Errorf("%s: the tag says %q %q %v", kind, id, profile, ok)
		}
	}
}

// TestTrap60WhatCannotBeWrittenIsRefused: line breaks, NUL, and times that there are not.
func TestTrap60WhatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		for _, bad := range []string{"\n", "\r", "\x00", "\x1b", "\u2028", "\u0085", "\xff", "\t"} {
			for i := range 4 {
				e := oddEntry(systemOf(kind))
				*[]*string{&e.Program, &e.Profile, &e.Log, &e.Args[3]}[i] += bad + "* * * * * rm"
				_, err := Text(kind, e, folders)
				var refused *InputError
				if !errors.As(err, &refused) {
					t.Errorf("%s: %q in part %d: %v", kind, bad, i, err)
				}
			}
		}
		for _, at := range []At{{24, 0}, {-1, 0}, {3, 60}, {3, -1}, {99, 99}} {
			e := oddEntry(systemOf(kind))
			e.At = at
			if _, err := Text(kind, e, folders); err == nil || !strings.Contains(err.Error(), "allowed: 00:00 to 23:59") {
				t.Errorf("%s: %v: %v", kind, at, err)
			}
		}
		for _, path := range []string{"skillopt", "", "./a"} {
			e := oddEntry(systemOf(kind))
			e.Program = path
			if _, err := Text(kind, e, folders); err == nil {
				t.Errorf("%s: the program %q was taken", kind, path)
			}
		}
	}
	for _, text := range []string{"24:00", "3", "03:60", "-1:00", "03:17:00", "3:7", "", "03.17", "0x3:17", " 03:17", "٠٣:١٧"} {
		if at, err := ParseAt(text); err == nil {
			t.Errorf("%q is %v", text, at)
		}
	}
	if at, err := ParseAt("23:59"); err != nil || at != (At{23, 59}) {
		t.Errorf("%v, %v", at, err)
	}
	e := oddEntry("windows")
	e.Args = append(e.Args, "%PATH%")
	if _, err := Text(Tasks, e, folders); err == nil {
		t.Error("a variable of Windows was taken for a path")
	}
	e = oddEntry("")
	e.Args = append(e.Args, strings.Repeat("x", 900))
	if _, err := Text(Cron, e, folders); err == nil || !strings.Contains(err.Error(), "shorter paths") {
		t.Errorf("a line that cron cuts off: %v", err)
	}
}

// cronSays is what a cron hands to sh of a line: some take the backslash before a percent sign away, others leave it.
func cronSays(line string, takes bool) string {
	command := strings.SplitN(line, " ", 6)[5]
	var out strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && i+1 < len(command) && command[i+1] == '%':
			if !takes {
				out.WriteByte('\\')
			}
			out.WriteByte('%')
			i++
		case command[i] == '%':
			return out.String() // a line break: the rest is input of the command
		default:
			out.WriteByte(command[i])
		}
	}
	return out.String()
}

// script writes a program that writes its arguments into a file, one a line.
func script(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done >\"$(dirname \"$0\")/told.tmp\"\nmv \"$(dirname \"$0\")/told.tmp\" \"$(dirname \"$0\")/told\"\necho printed\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// oddHere is the odd entry with a program that is there.
func oddHere(t *testing.T) Entry {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no such paths on Windows")
	}
	dir := t.TempDir() + odd
	e := oddEntry("")
	e.Program, e.Profile, e.Log = dir+"/skillopt", dir+"/t.json", dir+"/t.log"
	e.Args[3] = e.Profile
	script(t, e.Program)
	return e
}

// toldRight compares what the program was told with the entry.
func toldRight(t *testing.T, e Entry) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(filepath.Dir(e.Program), "told"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Join(e.Args, "\n")+"\n", string(got)); diff != "" {
		t.Errorf("the program was told something else:\n%s", diff)
	}
}

// TestTrap60AnOddPathRunsByCron: the line, as two kinds of cron hand it to sh, starts the program with its arguments.
func TestTrap60AnOddPathRunsByCron(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{true, false} {
		e := oddHere(t)
		files, err := Text(Cron, e, folders)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(files[0].Text, "\n")[1]
		if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", cronSays(line, takes)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, line)
		}
		toldRight(t, e)
		if log, err := os.ReadFile(e.Log); err != nil || string(log) != "printed\n" {
			t.Errorf("the log has %q, %v", log, err)
		}
	}
}

// TestTrap60TheXMLHoldsTheSame reads back what launchd and the Task Scheduler would.
func TestTrap60TheXMLHoldsTheSame(t *testing.T) {
	t.Parallel()
	var plist struct {
		Strings []string `xml:"dict>array>string"`
		Numbers []int    `xml:"dict>dict>integer"`
	}
	e := oddEntry("")
	files, err := Text(Launchd, e, folders)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(files[0].Text), &plist); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{e.Program}, e.Args...), plist.Strings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{3, 7}, plist.Numbers); diff != "" {
		t.Error(diff)
	}
	var task struct {
		Start     string `xml:"Triggers>CalendarTrigger>StartBoundary"`
		Command   string `xml:"Actions>Exec>Command"`
		Arguments string `xml:"Actions>Exec>Arguments"`
	}
	e = oddEntry("windows")
	if files, err = Text(Tasks, e, folders); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(files[0].Text, `encoding="UTF-16"`, `encoding="UTF-8"`, 1) // the text is given as UTF-8 here
	if err := xml.Unmarshal([]byte(text), &task); err != nil {
		t.Fatal(err)
	}
	if task.Start != "2026-01-01T03:07:00" || strings.Trim(task.Command, `"`) != e.Program {
		t.Errorf("%q %q", task.Start, task.Command)
	}
	if diff := cmp.Diff(e.Args, windowsArgs(task.Arguments)); diff != "" {
		t.Error(diff)
	}
}

// windowsArgs takes a command line apart as programs on Windows do.
func windowsArgs(line string) []string {
	var out []string
	word, quoted, any, slashes := "", false, false, 0
	for _, r := range line + " " {
		if r == '\\' {
			slashes++
			continue
		}
		if r == '"' {
			word += strings.Repeat(`\`, slashes/2)
			if slashes%2 == 1 {
				word += `"`
			} else {
				quoted, any = !quoted, true
			}
			slashes = 0
			continue
		}
		word += strings.Repeat(`\`, slashes)
		slashes = 0
		if (r == ' ' || r == '\t') && !quoted {
			if any || word != "" {
				out = append(out, word)
			}
			word, any = "", false
			continue
		}
		word += string(r)
	}
	return out
}

func TestWindowsWords(t *testing.T) {
	t.Parallel()
	words := []string{"a", "", "a b", `a"b`, `a\`, `a b\`, `a\\"b c\\`, `\\server\share x\`, `"`, `\"`, "tab\there"}
	var line []string
	for _, w := range words {
		line = append(line, windowsWord(w))
	}
	if diff := cmp.Diff(words, windowsArgs(strings.Join(line, " "))); diff != "" {
		t.Error(diff)
	}
}

// TestTrap60SystemdTakesTheUnits: verified by the systemd of this machine.
func TestTrap60SystemdTakesTheUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the units are compared with golden files alone")
	}
	e := oddHere(t)
	plainName := e
	plainName.Program = filepath.Join(t.TempDir(), "m y 100% $x grün", "skillopt")
	script(t, plainName.Program)
	for _, e := range []Entry{e, plainName} {
		dir := t.TempDir()
		files, err := Text(Systemd, e, Folders{Settings: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := write(files, e.ID); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), analyze, "--user", "verify", files[0].Path, files[1].Path)
		cmd.Env = []string{"XDG_RUNTIME_DIR=" + t.TempDir(), "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), prefix) {
			t.Errorf("systemd-analyze verify: %v: %s\n%s", err, out, files[0].Text)
		}
	}
	_, calendar, _ := strings.Cut(timerText(e), "OnCalendar=")
	calendar, _, _ = strings.Cut(calendar, "\n")
	out, err := exec.CommandContext(t.Context(), analyze, "calendar", calendar).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "*-*-* 03:07:00") {
		t.Errorf("systemd-analyze calendar: %v: %s", err, out)
	}
}
