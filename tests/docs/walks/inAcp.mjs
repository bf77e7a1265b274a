// The same with the protocol's library for TypeScript: node inAcp.mjs SDK_MODULE COMMAND…
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [module, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(module).href);
const { agent: toAgent, client: toClient } = acp.methods;

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = once(child, "exit");
await acp
  .client({ name: "walk" })
  .onNotification(toClient.session.update, ({ params: { update } }) =>
    console.log(`[${update.sessionUpdate}]`, update.content?.text ?? update.title ?? ""),
  )
  .onRequest(toClient.session.requestPermission, ({ params: { toolCall, options } }) => {
    console.log(`[asked] ${toolCall.title}: ${options.map((one) => one.name).join(", ")}`);
    const { optionId } = options.find((one) => one.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  })
  .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
    const { protocolVersion } = await agent.request(toAgent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
    console.log("[protocol]", protocolVersion);
    const { sessionId } = await agent.request(toAgent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: "text", text: "fix the greeting in greeter.py" }];
    const { stopReason } = await agent.request(toAgent.session.prompt, { sessionId, prompt });
    console.log("[ended]", stopReason);
  });
child.stdin.end();
process.exit((await ended)[0]);
