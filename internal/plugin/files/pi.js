// Adds the skill, the commands and the MCP server of skillopt, and touches a file when a session ends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const server = SERVER;
const hook = HOOK;
const own = (name) => join(import.meta.dirname, name);

export default function (pi) {
  pi.on("resources_discover", () => ({ skillPaths: [own("skills")], promptPaths: [own("commands")] }));
  pi.registerMcpServer?.("skillopt", server);
  pi.on("session_shutdown", () => {
    if (!hook) return;
    try {
      writeFileSync(own("ended"), "");
    } catch {}
  });
}
