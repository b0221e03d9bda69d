// Adds the skill, the commands and the MCP server of skillopt, and notes that a session has news.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const server = SERVER;
const news = NEWS;
const own = (name) => join(import.meta.dirname, name);

export default function (pi) {
  pi.on("resources_discover", () => ({ skillPaths: [own("skills")], promptPaths: [own("commands")] }));
  pi.registerMcpServer?.("skillopt", server);
  pi.on("session_shutdown", () => {
    if (!news) return;
    try {
      writeFileSync(own("news"), "");
    } catch {}
  });
}
