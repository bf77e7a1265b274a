// The life of a session with the official TypeScript client. Usage: node client.mjs SDK_MODULE WORKSPACE COMMAND…
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [module, workspace, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(module).href);
const { agent: toAgent, client: toClient } = acp.methods;

const agent = spawn(command, args, { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const told = [];
const answer = { reason: null, words: "", kinds: [], permissions: 0, sessions: 0, cancelled: null };

await acp
  .client({ name: "test" })
  .onNotification(toClient.session.update, ({ params }) => void told.push(params.update))
  .onRequest(toClient.session.requestPermission, ({ params }) => {
    answer.permissions += 1;
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onRequest(toClient.fs.readTextFile, ({ params }) => ({ content: readFileSync(params.path, "utf8") }))
  .onRequest(toClient.fs.writeTextFile, ({ params }) => {
    writeFileSync(params.path, params.content);
    return {};
  })
  .connectWith(stream, async (ctx) => {
    const fs = { readTextFile: true, writeTextFile: true };
    await ctx.request(toAgent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs } });
    const { sessionId } = await ctx.request(toAgent.session.new, { cwd: workspace, mcpServers: [] });
    const prompt = (text) => ctx.request(toAgent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    answer.reason = (await prompt("go")).stopReason;
    const waiting = prompt("go on");
    await ctx.notify(toAgent.session.cancel, { sessionId });
    answer.cancelled = (await waiting).stopReason;
    answer.sessions = (await ctx.request(toAgent.session.list, {})).sessions.length;
  });

answer.words = told.map((one) => (one.sessionUpdate === "agent_message_chunk" ? one.content.text : "")).join("");
answer.kinds = [...new Set(told.map((one) => one.sessionUpdate))].sort();
agent.stdin.end();
console.log(JSON.stringify(answer));
process.exit(0);
