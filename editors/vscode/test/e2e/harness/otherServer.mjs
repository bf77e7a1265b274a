// A program that is started in the place of the agent's server and is none, or another one than is wanted. Its first argument
// says which: the answer to `initialize` that it gives.
import { Buffer } from "node:buffer";

const ANSWERS = {
  unknown: { capabilities: {}, serverInfo: { name: "pylsp", version: "1.13.0" } },
  old: agent({ protocolVersion: 0, version: "0.0.9" }),
  newer: agent({ protocolVersion: 99, version: "9.0.0" }),
};

function agent({ protocolVersion, version }) {
  const said = { protocolVersion, methods: ["agent/run"], models: [], defaultModel: null };
  return { capabilities: { experimental: { agent: said } }, serverInfo: { name: "agent-lsp", version } };
}

let rest = Buffer.alloc(0);
process.stdin.on("data", (piece) => {
  rest = Buffer.concat([rest, piece]);
  for (let end; (end = rest.indexOf("\r\n\r\n")) >= 0;) {
    const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, end).toString())[1]);
    if (rest.length < end + 4 + length) return;
    answer(JSON.parse(rest.subarray(end + 4, end + 4 + length).toString()));
    rest = rest.subarray(end + 4 + length);
  }
});
process.stdin.on("end", () => process.exit(0));

function answer({ id, method }) {
  if (method === "exit") process.exit(0);
  if (id === undefined) return;
  const result = method === "initialize" ? ANSWERS[process.argv[2]] : null;
  const body = JSON.stringify({ jsonrpc: "2.0", id, result });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
