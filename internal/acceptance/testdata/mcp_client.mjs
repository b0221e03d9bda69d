// Calls tools of a server with the client of the SDK in TypeScript: node mcp_client.mjs MODULES FOLDER CALLS PROGRAM ARGUMENTS...
// It prints the names of the tools, and what each call was answered.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, cwd, calls, command, ...args] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StdioClientTransport({ command, args, cwd }));
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = [];
for (const [name, given] of JSON.parse(calls)) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  answers.push({ name, failed: Boolean(isError), text: content.map((part) => part.text).join("") });
}
await client.close();
console.log(JSON.stringify({ tools, answers }));
