// Scenes of a session's life with the official TypeScript client: node client.mjs SDK_MODULE SCENE WORKSPACE COMMAND…
// What the model says in a scene is scripted by the test that runs it. A scene that fails ends with a status other than 0.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [module, scene, workspace, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(module).href);
const { agent: toAgent, client: toClient } = acp.methods;
const CANCELLED = { outcome: { outcome: "cancelled" } };

/** The person at the client: `decide` answers permissions, `told` is everything that was heard. */
class Person {
  told = [];
  asked = [];
  decide = () => "allow_once";
  #waiting = [];

  heard({ sessionId, update }) {
    this.told.push({ sessionId, ...update });
    this.#waiting = this.#waiting.filter(({ condition, settle }) => !condition() || settle());
  }

  until(condition) {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ condition, settle: () => void resolve() }));
  }

  async permit(params) {
    this.asked.push(params);
    const choice = await this.decide(params);
    return typeof choice === "string" ? { outcome: { outcome: "selected", optionId: choice } } : choice;
  }

  of(kind, sessionId) {
    return this.told.filter(
      (one) => one.sessionUpdate === kind && (sessionId === undefined || one.sessionId === sessionId),
    );
  }

  words(sessionId) {
    return this.of("agent_message_chunk", sessionId).map((one) => one.content.text).join("");
  }
}

/** Runs `life(agent, person)` with a process of its own, which has to end well when its input does. */
async function connected(life, { files = false, forms } = {}) {
  const child = spawn(command, args, { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const person = new Person();
  await acp
    .client({ name: "test" })
    .onNotification(toClient.session.update, ({ params }) => person.heard(params))
    .onRequest(toClient.session.requestPermission, ({ params }) => person.permit(params))
    .onRequest(toClient.fs.readTextFile, ({ params }) => ({
      content: readFileSync(params.path, "utf8").replace("second", "unsaved"),
    }))
    .onRequest(toClient.fs.writeTextFile, ({ params }) => {
      writeFileSync(params.path, params.content);
      return {};
    })
    .onRequest(toClient.elicitation.create, ({ params }) => forms(params))
    .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      const fs = { readTextFile: files, writeTextFile: files };
      const clientCapabilities = forms ? { fs, elicitation: { form: {} } } : { fs };
      const greeting = await agent.request(toAgent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities,
      });
      assert.equal(greeting.protocolVersion, acp.PROTOCOL_VERSION);
      assert.equal(greeting.agentCapabilities.loadSession, true);
      await life(agent, person);
    });
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
}

const begin = async (agent) => (await agent.request(toAgent.session.new, { cwd: workspace, mcpServers: [] })).sessionId;

const prompt = async (agent, sessionId, text, options) => {
  const block = { type: "text", text };
  return (await agent.request(toAgent.session.prompt, { sessionId, prompt: [block] }, options)).stopReason;
};

const scenes = {
  /** Streaming, thoughts, a file that is read and one that is written through the client, and a permission for it. */
  async works() {
    await connected(
      async (agent, person) => {
        const session = await begin(agent);
        assert.equal(await prompt(agent, session, "fix it"), "end_turn");
        assert.equal(person.words(session), "Let me look.Done.");
        assert.ok(person.of("agent_message_chunk").length >= 2);
        assert.equal(person.of("agent_thought_chunk").length, 1);
        assert.deepEqual(person.of("tool_call").map((one) => one.kind), ["read", "edit"]);
        assert.equal(person.asked.length, 1);
        assert.deepEqual(person.asked[0].toolCall.content[0].type, "diff");
        assert.deepEqual(
          person.asked[0].options.map((one) => one.kind),
          ["allow_once", "allow_always", "reject_once"],
        );
        assert.ok(person.of("usage_update").length > 0);
      },
      { files: true },
    );
    assert.equal(readFileSync(join(workspace, "notes.txt"), "utf8"), "1st line\nunsaved line\n");
  },

  /** What is rejected, and what is asked of a person who turns away, is not done. */
  async denies() {
    await connected(async (agent, person) => {
      const session = await begin(agent);
      for (const answer of ["reject_once", CANCELLED, "no such option"]) {
        person.decide = () => answer;
        assert.equal(await prompt(agent, session, "go"), "end_turn");
        assert.equal(person.told.findLast((one) => one.sessionUpdate === "tool_call_update").status, "failed");
      }
      assert.equal(person.asked.length, 3);
    });
    assert.equal(existsSync(join(workspace, "made")), false);
  },

  /** What the model asks is a form, which is filled in. */
  async answers() {
    const forms = ({ message, requestedSchema }) => {
      assert.equal(message, "Which colour?");
      assert.deepEqual(requestedSchema.properties.answer.enum, ["red", "blue"]);
      return { action: "accept", content: { answer: "blue" } };
    };
    await connected(
      async (agent, person) => {
        assert.equal(await prompt(agent, await begin(agent), "ask me"), "end_turn");
        assert.equal(person.asked.length, 0);
      },
      { forms },
    );
  },

  /** A cancel while it speaks, while it asks and while a tool works, and the cancel of a request. */
  async cancels() {
    await connected(async (agent, person) => {
      const session = await begin(agent);
      const cancel = () => agent.notify(toAgent.session.cancel, { sessionId: session });

      const speaking = prompt(agent, session, "speak");
      await person.until(() => person.words().includes("begun"));
      await cancel();
      assert.equal(await speaking, "cancelled");

      let late;
      person.decide = async () => {
        await cancel();
        return new Promise((resolve) => (late = () => resolve("allow_once")));
      };
      assert.equal(await prompt(agent, session, "ask"), "cancelled");
      late();

      person.decide = () => "allow_once";
      const working = prompt(agent, session, "work");
      await person.until(() => JSON.stringify(person.told.at(-1)).includes("running"));
      await cancel();
      assert.equal(await working, "cancelled");

      const stop = new AbortController();
      const asked = prompt(agent, session, "again", { cancellationSignal: stop.signal });
      await person.until(() => person.words().includes("again"));
      stop.abort();
      assert.equal(await asked, "cancelled");

      assert.equal(await prompt(agent, session, "now do"), "end_turn");
    });
    assert.equal(existsSync(join(workspace, "made")), false);
  },

  /** Two sessions at once: one waits for its person and is steered, the other one works meanwhile. */
  async steers() {
    await connected(async (agent, person) => {
      const [one, two] = [await begin(agent), await begin(agent)];
      person.decide = async () => {
        assert.equal(await prompt(agent, two, "go"), "end_turn");
        const words = [{ type: "text", text: "sooner" }];
        const steered = await agent.request("_session/steering", { sessionId: one, prompt: words });
        assert.deepEqual(steered, { outcome: "injected" });
        return "allow_once";
      };
      assert.equal(await prompt(agent, one, "go"), "end_turn");
      assert.deepEqual([person.words(one), person.words(two)], ["one more", "two"]);
      const idle = await agent.request("_session/steering", { sessionId: two, prompt: [{ type: "text", text: "x" }] });
      assert.deepEqual(idle, { outcome: "promptRequired" });
    });
  },

  /** A session that outlives its process: listed, loaded, resumed, closed, deleted. */
  async returns() {
    let session;
    const old = () => ({ sessionId: session, cwd: workspace, mcpServers: [] });
    await connected(async (agent) => {
      session = await begin(agent);
      assert.equal(await prompt(agent, session, "hello"), "end_turn");
      await agent.request(toAgent.session.close, { sessionId: session });
    });
    await connected(async (agent, person) => {
      const { sessions } = await agent.request(toAgent.session.list, { cwd: workspace });
      assert.deepEqual(sessions.map((one) => one.sessionId), [session]);
      await agent.request(toAgent.session.load, old());
      assert.equal(person.of("user_message_chunk")[0].content.text, "hello");
      assert.equal(person.words(), "Hi.");
    });
    await connected(async (agent, person) => {
      await agent.request(toAgent.session.resume, old());
      assert.equal(await prompt(agent, session, "and?"), "end_turn");
      assert.equal(person.words(), "Still here.");
      assert.equal(person.of("user_message_chunk").length, 0);
      await agent.request(toAgent.session.close, { sessionId: session });
      await assert.rejects(prompt(agent, session, "closed"), (error) => error.code === -32002);
      await agent.request(toAgent.session.delete, { sessionId: session });
      assert.deepEqual((await agent.request(toAgent.session.list, {})).sessions, []);
      await assert.rejects(agent.request(toAgent.session.load, old()), (error) => error.code === -32002);
    });
  },

  /** What a person can choose, and the commands. */
  async chooses() {
    await connected(async (agent, person) => {
      const begun = await agent.request(toAgent.session.new, { cwd: workspace, mcpServers: [] });
      const { sessionId } = begun;
      assert.deepEqual(begun.configOptions.map((one) => one.id), ["mode", "model", "thinking", "session_mode"]);
      const choice = { sessionId, configId: "thinking", value: "high" };
      const chosen = await agent.request(toAgent.session.setConfigOption, choice);
      assert.equal(chosen.configOptions.find((one) => one.id === "thinking").currentValue, "high");
      await agent.request(toAgent.session.setMode, { sessionId, modeId: "allow-all" });
      await person.until(() => person.of("current_mode_update").at(-1)?.currentModeId === "allow-all");
      const wrong = agent.request(toAgent.session.setMode, { sessionId, modeId: "anarchy" });
      await assert.rejects(wrong, (error) => error.code === -32602);
      assert.equal(await prompt(agent, sessionId, "go"), "end_turn");
      assert.equal(person.asked.length, 0);

      await person.until(() => person.of("available_commands_update").length > 0);
      const commands = person.of("available_commands_update")[0].availableCommands.map((one) => one.name);
      assert.ok(commands.includes("tools") && commands.includes("compact"));
      assert.equal(await prompt(agent, sessionId, "/tools"), "end_turn");
      assert.match(person.words(), /- read_file/);
    });
    assert.equal(existsSync(join(workspace, "made")), true);
  },
};

await scenes[scene]();
process.exit(0);
