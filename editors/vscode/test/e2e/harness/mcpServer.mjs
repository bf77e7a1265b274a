// A server of tools over stdio with one tool: the least that counts as one. `fail` as an argument makes it end at once.
import { createInterface } from "node:readline";

if (process.argv[2] === "fail") {
  process.stderr.write("this server has no intention of working\n");
  process.exit(3);
}

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "sample", version: "1" },
  }),
  "tools/list": () => ({
    tools: [{ name: "echo", description: "Says it again.", inputSchema: { type: "object", properties: {} } }],
  }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = RESULTS[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: `no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
