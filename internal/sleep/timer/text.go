package timer

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// Folders are where schedulers look for files of a user.
type Folders struct {
	Home     string
	Settings string // XDG_CONFIG_HOME, or what it is by default
	Data     string // XDG_DATA_HOME, or what it is by default
}

func (f Folders) units() string  { return path.Join(f.Settings, "systemd", "user") }
func (f Folders) agents() string { return path.Join(f.Home, "Library", "LaunchAgents") }

// wants returns the link by which a timer is started with the user's manager.
func (f Folders) wants(id string) string {
	return path.Join(f.units(), "timers.target.wants", prefix+id+".timer")
}

// stamp returns the file in which systemd notes when a timer has last elapsed.
func (f Folders) stamp(id string) string {
	return path.Join(f.Data, "systemd", "timers", "stamp-"+prefix+id+".timer")
}

func (f Folders) unit(id, kind string) string { return path.Join(f.units(), prefix+id+"."+kind) }

// label returns the name of an entry of launchd.
func label(id string) string { return "skillopt.sleep." + id }

func (f Folders) plist(id string) string { return path.Join(f.agents(), label(id)+".plist") }

// Jitter is how much later than asked a scheduler that can do so starts an entry, at most: so
// that not all machines ask a server in one second.
const Jitter = 10 * time.Minute

// maxCron is how long a command in a crontab may be.
const maxCron = 990

// Text returns the files of which an entry consists. The same entry gives the same bytes.
func Text(kind Kind, e Entry, f Folders) ([]File, error) {
	system := ""
	if kind == Tasks {
		system = "windows"
	}
	if err := e.check(system); err != nil {
		return nil, err
	}
	switch kind {
	case Systemd:
		return []File{{Path: f.unit(e.ID, "service"), Text: serviceText(e)}, {Path: f.unit(e.ID, "timer"), Text: timerText(e)}}, nil
	case Launchd:
		return []File{{Path: f.plist(e.ID), Text: plistText(e)}}, nil
	case Tasks:
		return []File{{Text: taskText(e)}}, withoutVariables(e)
	case Cron:
		text, err := cronText(e)
		return []File{{Text: text}}, err
	}
	return nil, &InputError{What: fmt.Sprintf("%q", kind), Why: "there is no such scheduler; allowed: systemd, cron, launchd, taskscheduler"}
}

const written = "Written by `skillopt sleep schedule`, which removes it too (off)."

func serviceText(e Entry) string {
	words := []string{systemdWord(e.Program, true)}
	if strings.ContainsAny(e.Program, `"'\`) { // systemd takes no program with these in its name, but arguments
		words = []string{`"/bin/sh"`, `"-c"`, systemdWord(`exec "$0" "$@"`, false), systemdWord(e.Program, false)}
	}
	for _, arg := range e.Args {
		words = append(words, systemdWord(arg, false))
	}
	return `# ` + written + `
# ` + tag(e.ID, e.Profile) + `
[Unit]
Description=skillopt: a night on the sessions of coding agents

[Service]
Type=oneshot
ExecStart=` + strings.Join(words, " ") + `
Nice=10
`
}

func timerText(e Entry) string {
	return `# ` + written + `
# ` + tag(e.ID, e.Profile) + `
[Unit]
Description=skillopt: when a night begins

[Timer]
OnCalendar=*-*-* ` + e.At.String() + `:00
Persistent=true
RandomizedDelaySec=` + fmt.Sprint(int(Jitter.Minutes())) + `min

[Install]
WantedBy=timers.target
`
}

func plistText(e Entry) string {
	var args strings.Builder
	for _, arg := range append([]string{e.Program}, e.Args...) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlText(arg))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + written + ` -->
<!-- ` + tag(e.ID, e.Profile) + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label(e.ID) + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>StartCalendarInterval</key>
	<dict>
		<key>Hour</key>
		<integer>` + fmt.Sprint(e.At.Hour) + `</integer>
		<key>Minute</key>
		<integer>` + fmt.Sprint(e.At.Minute) + `</integer>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
	<key>StandardOutPath</key>
	<string>` + xmlText(e.Log) + `</string>
	<key>StandardErrorPath</key>
	<string>` + xmlText(e.Log) + `</string>
</dict>
</plist>
`
}

// taskText leaves the question of batteries to the program, which says what it does.
func taskText(e Entry) string {
	words := []string{}
	for _, arg := range e.Args {
		words = append(words, windowsWord(arg))
	}
	return `<?xml version="1.0" encoding="UTF-16"?>
<!-- ` + written + ` -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>` + xmlText(tag(e.ID, e.Profile)) + `</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <StartBoundary>2026-01-01T` + e.At.String() + `:00</StartBoundary>
      <Enabled>true</Enabled>
      <RandomDelay>PT` + fmt.Sprint(int(Jitter.Minutes())) + `M</RandomDelay>
      <ScheduleByDay>
        <DaysInterval>1</DaysInterval>
      </ScheduleByDay>
    </CalendarTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>` + xmlText(windowsCommand(e.Program)) + `</Command>
      <Arguments>` + xmlText(strings.Join(words, " ")) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

// withoutVariables refuses what the Task Scheduler could take for a variable: between two percent
// signs, which cannot be escaped there.
func withoutVariables(e Entry) error {
	for _, word := range append([]string{e.Program}, e.Args...) {
		if strings.Count(word, "%") > 1 {
			return &InputError{What: fmt.Sprintf("%q", word), Why: "the Task Scheduler replaces what is between two percent signs; choose another path"}
		}
	}
	return nil
}

// windowsCommand returns a program as the Task Scheduler takes it.
func windowsCommand(program string) string {
	if strings.Contains(program, " ") {
		return `"` + program + `"`
	}
	return program
}

// cronText returns the block of an entry in a crontab. The block starts the program once an hour, and
// the program looks whether the day is done: cron itself does not make up for what it has missed.
func cronText(e Entry) (string, error) {
	words := []string{cronWord(e.Program)}
	for _, arg := range e.Args {
		words = append(words, cronWord(arg))
	}
	command := strings.Join(words, " ") + " >>" + cronWord(e.Log) + " 2>&1"
	if len(command) > maxCron {
		return "", &InputError{What: "the command for cron", Why: fmt.Sprintf("it has %d bytes, and cron takes 990; choose shorter paths for the program and sleep.dir", len(command))}
	}
	return beginMark + e.ID + " " + asciiString(e.Profile) + " >>>\n" +
		fmt.Sprintf("%d * * * * %s\n", e.At.Minute, command) +
		endMark + e.ID + " <<<\n", nil
}
