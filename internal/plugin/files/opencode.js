// Adds the MCP server skillopt to the settings in memory, and touches a file when a session ends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const server = SERVER;
const hook = HOOK;

export const Skillopt = async () => ({
  config: async (settings) => {
    const own = { type: "local", command: [server.command, ...server.args] };
    settings.mcp = { skillopt: own, ...settings.mcp };
  },
  event: async ({ event }) => {
    if (!hook || event.type !== "session.idle") return;
    try {
      writeFileSync(join(import.meta.dirname, "..", "skillopt", "ended"), "");
    } catch {}
  },
});
