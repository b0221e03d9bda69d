package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// What each agent writes down of transcripttest.Scenario. What was read of a.txt is long, so that it
// would be abridged if it were not looked at: between its two lines there are many blank ones.

const blanks = 800

// scenarioFile is a.txt as a tool shows it, line by line.
func scenarioFile(line func(n int, text string) string) string {
	var b strings.Builder
	b.WriteString(line(1, "first line"))
	for i := range blanks {
		b.WriteString(line(i+2, ""))
	}
	b.WriteString(line(blanks+2, "second line"))
	return b.String()
}

func asIs(_ int, text string) string { return text + "\n" }

const scenarioDiff = "--- a.txt\tOriginal\n+++ a.txt\tWritten\n@@ -800,2 +800,2 @@\n \n-second line\n+third line\n"

func js(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func joinLines(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

var claudeScenario = map[string]string{".claude/projects/-p/s.jsonl": func() string {
	n := 0
	record := func(kind, content, more string) string {
		n++
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":"u%d","timestamp":"2026-11-22T08:00:%02dZ","entrypoint":"cli","cwd":"/p","sessionId":"s"%s}`,
			map[bool]string{true: "null", false: fmt.Sprintf(`"u%d"`, n-1)}[n == 1], kind, kind, content, n, n, more)
	}
	call := func(id, name, input string) string {
		return record("assistant", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, name, input), "")
	}
	result := func(id, text string, failed bool, more string) string {
		return record("user", fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":%s%s}]`, id, js(text), map[bool]string{true: `,"is_error":true`}[failed]), more)
	}
	shown := scenarioFile(func(n int, text string) string { return fmt.Sprintf("%6d→%s\n", n, text) }) + "\n<system-reminder>\n1. No line of it.\n</system-reminder>\n"
	return joinLines(
		record("user", `"Fix it."`, ""),
		call("t1", "Read", `{"file_path":"/p/a.txt"}`), result("t1", shown, false, ""),
		call("t2", "Bash", `{"command":"make test"}`), result("t2", "Exit code 2\nfailed", true, `,"toolUseResult":"Error: Exit code 2\nfailed"`),
		call("t3", "Edit", `{"file_path":"/p/a.txt","old_string":"second","new_string":"third"}`),
		result("t3", "The file /p/a.txt has been updated.", false, `,"toolUseResult":{"filePath":"/p/a.txt","oldString":"second","structuredPatch":[{"oldStart":800,"lines":[" ","-second line","+third line"]}]}`),
		call("t4", "Read", `{"file_path":"/p/a.txt"}`), result("t4", "     1→third line\n", false, ""),
		call("t5", "Bash", `{"command":"make test"}`), result("t5", "ok", false, `,"toolUseResult":{"stdout":"ok","stderr":"","interrupted":false}`),
		call("t6", "Bash", `{"command":"cat b.txt"}`), result("t6", "only line", false, `,"toolUseResult":{"stdout":"only line","interrupted":false}`),
		call("t7", "Bash", `{"command":"make deploy"}`), result("t7", "The user doesn't want to proceed with this tool use.", true, `,"toolUseResult":"User rejected: The user doesn't want to proceed with this tool use."`),
		record("assistant", `[{"type":"text","text":"Done."}]`, ""),
	)
}()}

var codexScenario = map[string]string{".codex/sessions/2026/11/22/rollout-2026-11-22T08-00-00-019f9e0d-cc26-7ef0-a121-bc6eeff24bad.jsonl": func() string {
	line := func(kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-22T08:00:01Z","type":%q,"payload":%s}`, kind, payload)
	}
	call := func(id, cmd string) string {
		return line("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","call_id":%q,"arguments":%s}`, id, js(js(map[string]string{"cmd": cmd, "workdir": "/p"}))))
	}
	ended := func(id string, code int, text string) string {
		return line("event_msg", fmt.Sprintf(`{"type":"exec_command_end","call_id":%q,"aggregated_output":%s,"exit_code":%d,"status":"completed"}`, id, js(text), code))
	}
	output := func(id string, code int, text string) string {
		return line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, js(fmt.Sprintf("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code %d\nOutput:\n%s", code, text))))
	}
	return joinLines(
		line("session_meta", `{"id":"019f9e0d-cc26-7ef0-a121-bc6eeff24bad","cwd":"/p","originator":"codex-tui","source":"cli"}`),
		line("event_msg", `{"type":"user_message","message":"Fix it."}`),
		call("c1", "sed -n '1,900p' a.txt"), output("c1", 0, scenarioFile(asIs)),
		call("c2", "make test"), ended("c2", 2, "failed"), output("c2", 2, "failed"),
		line("response_item", `{"type":"custom_tool_call","name":"apply_patch","call_id":"c3","input":"*** Begin Patch\n*** Update File: a.txt\n@@\n \n-second line\n+third line\n*** End Patch\n"}`),
		line("event_msg", `{"type":"patch_apply_end","call_id":"c3","success":true,"changes":{"/p/a.txt":{"update":{"unified_diff":""}}}}`),
		call("c4", "cat a.txt"), output("c4", 0, "third line\n"),
		call("c5", "make test"), ended("c5", 0, "ok"),
		call("c6", "cat b.txt"), ended("c6", 0, "only line\n"),
		call("c7", "make deploy"), line("event_msg", `{"type":"exec_command_end","call_id":"c7","status":"declined"}`),
		line("event_msg", `{"type":"agent_message","message":"Done."}`),
	)
}()}

var piScenario = map[string]string{".pi/agent/sessions/--p--/s.jsonl": func() string {
	n := 0
	record := func(message string) string {
		n++
		return fmt.Sprintf(`{"type":"message","id":"m%d","parentId":%s,"timestamp":"2026-11-22T08:00:%02dZ","message":%s}`, n, map[bool]string{true: "null", false: fmt.Sprintf(`"m%d"`, n-1)}[n == 1], n, message)
	}
	call := func(id, name, args string) string {
		return record(fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":%s}]}`, id, name, args))
	}
	result := func(id, text string, failed bool) string {
		return record(fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"content":[{"type":"text","text":%s}],"isError":%v}`, id, js(text), failed))
	}
	return joinLines(
		`{"type":"session","version":3,"id":"s","cwd":"/p","timestamp":"2026-11-22T08:00:00Z"}`,
		record(`{"role":"user","content":[{"type":"text","text":"Fix it."}]}`),
		call("c1", "read", `{"path":"a.txt"}`), result("c1", scenarioFile(asIs)+"\n[3 more lines in file. Use offset=9 to continue.]", false),
		call("c2", "bash", `{"command":"make test"}`), result("c2", strings.Repeat("failed\n", 500)+"\nCommand exited with code 2", true),
		call("c3", "edit", `{"path":"a.txt","edits":[{"oldText":"t line\n\nsecond line\nx","newText":"third line"}]}`), result("c3", "Replaced", false),
		call("c4", "read", `{"path":"a.txt"}`), result("c4", "third line\n", false),
		call("c5", "bash", `{"command":"make test"}`), result("c5", "ok", false),
		call("c6", "bash", `{"command":"cat b.txt"}`), result("c6", "only line\n", false),
		record(`{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}`),
	)
}()}

var qwenScenario = map[string]string{".qwen/projects/-p/chats/s.jsonl": func() string {
	n := 0
	record := func(kind, more string) string {
		n++
		return fmt.Sprintf(`{"uuid":"q%d","parentUuid":%s,"sessionId":"s","timestamp":"2026-11-22T08:00:%02dZ","type":%q,"cwd":"/p",%s}`, n, map[bool]string{true: "null", false: fmt.Sprintf(`"q%d"`, n-1)}[n == 1], n, kind, more)
	}
	call := func(id, name, args string) string {
		return record("assistant", fmt.Sprintf(`"message":{"role":"model","parts":[{"functionCall":{"id":%q,"name":%q,"args":%s}}]}`, id, name, args))
	}
	result := func(id, text, about string) string {
		return record("tool_result", fmt.Sprintf(`"message":{"role":"user","parts":[{"functionResponse":{"id":%q,"response":{"output":%s}}}]},"toolCallResult":{"callId":%q,%s}`, id, js(text), id, about))
	}
	ran := func(command, output string, code int) string {
		return fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %d\nSignal: (none)\nProcess Group PGID: 7", command, output, code)
	}
	const ok = `"status":"success"`
	return joinLines(
		record("user", `"message":{"role":"user","parts":[{"text":"Fix it."}]}`),
		call("c1", "read_file", `{"file_path":"/p/a.txt"}`), result("c1", "Showing lines 1-802 of 900 total lines.\n\n---\n\n"+scenarioFile(asIs), ok),
		call("c2", "run_shell_command", `{"command":"make test"}`), result("c2", ran("make test", strings.Repeat("failed\n", 500), 2), ok),
		call("c3", "edit", `{"file_path":"/p/a.txt"}`), result("c3", "edited", ok+`,"resultDisplay":{"fileDiff":`+js(scenarioDiff)+`}`),
		call("c4", "read_file", `{"file_path":"/p/a.txt"}`), result("c4", "third line\n", ok),
		call("c5", "run_shell_command", `{"command":"make test"}`), result("c5", ran("make test", "ok", 0), ok),
		call("c6", "run_shell_command", `{"command":"cat b.txt"}`), result("c6", ran("cat b.txt", "only line", 0), ok),
		call("c7", "run_shell_command", `{"command":"make deploy"}`), result("c7", "", `"status":"cancelled"`),
		record("assistant", `"message":{"role":"model","parts":[{"text":"Done."}]}`),
	)
}()}

var geminiScenario = map[string]string{
	".gemini/projects.json": `{"projects":{"/p":"p"}}`,
	".gemini/tmp/p/chats/session-2026-11-22T08-00-s.jsonl": func() string {
		call := func(id, name, args, output, more string) string {
			return fmt.Sprintf(`{"id":%q,"name":%q,"args":%s,"result":[{"functionResponse":{"id":%q,"response":{"output":%s}}}],%s}`, id, name, args, id, js(output), more)
		}
		const ok = `"status":"success"`
		calls := []string{
			call("c1", "read_file", `{"file_path":"a.txt"}`, "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-802 of 900 total lines.\n\n--- FILE CONTENT (truncated) ---\n"+scenarioFile(asIs), ok),
			call("c2", "run_shell_command", `{"command":"make test"}`, "Output: failed\nExit Code: 2\nProcess Group PGID: 7", ok),
			call("c3", "replace", `{"file_path":"/p/a.txt"}`, "done", ok+`,"resultDisplay":{"fileDiff":`+js(scenarioDiff)+`}`),
			call("c4", "read_file", `{"file_path":"a.txt"}`, "third line\n", ok),
			call("c5", "run_shell_command", `{"command":"make test"}`, "Output: ok\nProcess Group PGID: 7", ok),
			call("c6", "run_shell_command", `{"command":"cat b.txt"}`, "Output: only line\nProcess Group PGID: 7", ok),
			call("c7", "run_shell_command", `{"command":"make deploy"}`, "", `"status":"cancelled"`),
		}
		return joinLines(
			`{"sessionId":"s","startTime":"2026-11-22T08:00:00.000Z","kind":"main"}`,
			`{"id":"u1","timestamp":"2026-11-22T08:00:01.000Z","type":"user","content":[{"text":"Fix it."}]}`,
			`{"id":"a1","timestamp":"2026-11-22T08:00:02.000Z","type":"gemini","content":"Done.","model":"m","toolCalls":[`+strings.Join(calls, ",")+`]}`,
		)
	}(),
}

var copilotScenario = map[string]string{".copilot/session-state/s/events.jsonl": func() string {
	n := 0
	event := func(kind, data string) string {
		n++
		return fmt.Sprintf(`{"type":%q,"data":%s,"id":"e%d","timestamp":"2026-11-22T08:00:%02dZ"}`, kind, data, n, n)
	}
	call := func(id, name, args, content, more string) string {
		return event("tool.execution_start", fmt.Sprintf(`{"toolCallId":%q,"toolName":%q,"arguments":%s}`, id, name, args)) + "\n" +
			event("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":true,"result":{"content":%s%s}}`, id, js(content), more))
	}
	return joinLines(
		event("session.start", `{"sessionId":"s","copilotVersion":"1.0.102","context":{"cwd":"/p"}}`),
		event("user.message", `{"content":"Fix it.","agentMode":"interactive"}`),
		call("c1", "view", `{"path":"/p/a.txt"}`, scenarioFile(func(n int, text string) string { return fmt.Sprintf("%d. %s\n", n, text) }), ""),
		call("c2", "bash", `{"command":"make test"}`, "failed\n<exited with exit code 2>", ""),
		call("c3", "edit", `{"path":"/p/a.txt"}`, "edited", `,"detailedContent":`+js("\ndiff --git a/p/a.txt b/p/a.txt\n"+scenarioDiff)),
		call("c4", "view", `{"path":"/p/a.txt"}`, "1. third line\n", ""),
		call("c5", "bash", `{"command":"make test"}`, "ok\n<exited with exit code 0>", ""),
		call("c6", "bash", `{"command":"cat b.txt"}`, "only line\n<exited with exit code 0>", ""),
		event("assistant.message", `{"content":"Done."}`),
	)
}()}

var openCodeScenario = map[string]string{".local/share/opencode/opencode.db.sql": func() string {
	n := 0
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	part := func(tool, state string) string {
		n++
		return fmt.Sprintf("INSERT INTO part VALUES ('p%02d','m2','s',%s);\n", n, quote(fmt.Sprintf(`{"type":"tool","tool":%q,"callID":"c%d","state":%s}`, tool, n, state)))
	}
	bash := func(command, output string, code int) string {
		return part("bash", fmt.Sprintf(`{"status":"completed","input":{"command":%q},"output":%s,"metadata":{"exit":%d}}`, command, js(output), code))
	}
	read := func(content string) string {
		return part("read", fmt.Sprintf(`{"status":"completed","input":{"filePath":"/p/a.txt"},"output":%s}`, js("<path>/p/a.txt</path>\n<type>file</type>\n<content>\n"+content+"\n(End of file - total 802 lines)\n</content>\n\n<system-reminder>\n1. No line of it.\n</system-reminder>")))
	}
	return `CREATE TABLE session (id text, directory text, version text, parent_id text, time_created integer);
CREATE TABLE message (id text, session_id text, time_created integer, data text);
CREATE TABLE part (id text, message_id text, session_id text, data text);
INSERT INTO session VALUES ('s','/p','1.18.33',NULL,1);
INSERT INTO message VALUES ('m1','s',1795598035905,'{"role":"user","time":{"created":1795598035905}}');
INSERT INTO message VALUES ('m2','s',1795598035999,'{"role":"assistant","time":{"created":1795598035999}}');
INSERT INTO part VALUES ('a','m1','s','{"type":"text","text":"Fix it."}');
` + read(scenarioFile(func(n int, text string) string { return fmt.Sprintf("%d: %s\n", n, text) })) +
		bash("make test", "failed", 2) +
		part("edit", `{"status":"completed","input":{"filePath":"/p/a.txt"},"output":"","metadata":{"diff":`+js("Index: /p/a.txt\n"+scenarioDiff)+`}}`) +
		read("1: third line\n") +
		bash("make test", "ok", 0) + bash("cat b.txt", "only line\n", 0) +
		part("bash", `{"status":"error","input":{"command":"make deploy"},"error":"The user rejected permission to use this specific tool call."}`)
}()}

// houseRules is the skill that agents read in testdata.
const houseRules = ".agents/skills/house-rules/SKILL.md"

// readHouseRules is what its reading tells.
func readHouseRules(description string) map[string][]uint32 {
	var out []uint32
	for _, line := range []string{"---", "name: house-rules", "description: " + description, "---", "# House rules", "- Dates as YYYY-MM-DD."} {
		if sum := transcript.LineDigest(line); line != "---" || len(out) == 0 {
			out = append(out, sum)
		}
	}
	return map[string][]uint32{houseRules: out}
}

func ran(command string, code int) transcript.Command {
	return transcript.Command{Text: command, Exit: &code}
}
