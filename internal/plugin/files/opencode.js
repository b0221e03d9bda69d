// Adds the MCP server skillopt to the settings in memory, and notes that a session has news.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const server = SERVER;
const news = NEWS;

export const Skillopt = async () => ({
  config: async (settings) => {
    const own = { type: "local", command: [server.command, ...server.args] };
    settings.mcp = { skillopt: own, ...settings.mcp };
  },
  event: async ({ event }) => {
    if (!news || event.type !== "session.idle") return;
    try {
      writeFileSync(join(import.meta.dirname, "..", "skillopt", "news"), "");
    } catch {}
  },
});
