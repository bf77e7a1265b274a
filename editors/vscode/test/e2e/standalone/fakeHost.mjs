/* global window, sessionStorage, Event */
// A host for the view without an editor: it answers from scripted sessions. Driven from tests through `window.fake`.
(() => {
  const usage = { cache_read: 0, cache_write: 0, output: 0, total: 0 };
  const info = (over) => ({
    sessionId: "s",
    title: "Fix the parser's fixture",
    workspace: "file:///home/ada/project",
    model: { provider: "anthropic", model: "claude-x" },
    mode: "native",
    approvalMode: "ask",
    thinkingLevel: "medium",
    state: "idle",
    createdAt: "2026-11-29T21:00:00.000Z",
    updatedAt: "2026-11-29T21:00:00.000Z",
    turns: 1,
    usage,
    contextTokens: 42000,
    contextWindow: 200000,
    compactionAt: 128000,
    ...over,
  });
  const fake = (window.fake = {
    posted: [],
    counts: { history: 0 },
    messages: [],
    nextSeq: 0,
    live: [],
    pending: { runs: [], steers: [], approvals: [] },
    handlers: {},
    kept: JSON.parse(sessionStorage.getItem("kept") ?? "null") ?? undefined,
    info,
    hello: {},
    receive(message) {
      window.postMessage(message, "*");
    },
    state(state, more = {}) {
      fake.batch([
        { method: "agent/state", params: { sessionId: "s", state, queued: 0, pendingApprovals: 0, ...more } },
      ]);
    },
    stream(messages, runId = "r1") {
      fake.batch([{ method: "agent/message", params: { sessionId: "s", runId, seq: fake.nextSeq, messages } }]);
      fake.nextSeq += messages.length;
    },
    batches: 0,
    batch(events) {
      fake.receive({ kind: "batch", batch: ++fake.batches, events });
    },
    history({ cursor, limit }) {
      fake.counts.history++;
      const end = cursor === undefined ? fake.messages.length : Number(cursor);
      const start = Math.max(0, end - limit);
      return {
        messages: fake.messages.slice(start, end),
        nextSeq: fake.nextSeq,
        pending: fake.pending,
        ...(cursor === undefined ? { live: fake.live } : {}),
        ...(start > 0 ? { previousCursor: String(start) } : {}),
      };
    },
    greet(over = {}) {
      fake.receive({
        kind: "hello",
        version: "0.1.0",
        server: { state: "running" },
        roots: [{ name: "project", uri: "file:///home/ada/project" }],
        choices: {
          models: [
            {
              provider: "anthropic",
              model: "claude-x",
              vision: true,
              toolCalling: true,
              hasCredential: true,
              contextWindow: 200000,
            },
            { provider: "openai", model: "gpt-x", vision: true, toolCalling: true, hasCredential: false },
          ],
          defaultModel: { provider: "anthropic", model: "claude-x" },
          approvalModes: ["read-only", "plan", "ask", "auto-edit", "allow-all"],
          thinkingLevels: ["none", "low", "medium", "high"],
          modes: ["native", "loop"],
        },
        settings: { showThinking: false, sendWithCtrlEnter: false, showCost: true, trusted: true },
        session: info(),
        state: null,
        draft: { text: "", attachments: [] },
        approvals: [],
        questions: [],
        ...fake.hello,
        ...over,
      });
    },
  });
  const answers = {
    "agent/session/history": (params) => fake.history(params),
    "agent/usage": () => ({
      rows: [],
      totals: { requests: 3, cacheRead: 0, cacheWrite: 0, output: 0, total: 0, costUsd: 0.1234 },
      errors: [],
    }),
    "agent/edits": () => ({ edits: [] }),
    "agent/steer": () => ({ accepted: true, steerId: "steer-1", runId: "r1" }),
    "agent/unsteer": () => ({ withdrawn: true }),
    "agent/retryNow": () => ({ skipped: true }),
    "agent/session/update": (params) => info(params),
    "host/files": () => ({
      files: ["src/parser.py", "src/lexer.py", "tests/test_parser.py"].map((path) => ({
        uri: `file:///home/ada/project/${path}`,
        path,
      })),
    }),
    "host/commands": () => ({
      commands: [
        { name: "compact", description: "Go on from a summary", method: "agent/compact" },
        { name: "review", description: "Review the last change", hint: "what to look for" },
      ],
    }),
    "host/selection": () => ({
      uri: "file:///home/ada/project/src/parser.py",
      label: "parser.py:3-9",
      range: { start: { line: 2, character: 0 }, end: { line: 8, character: 0 } },
    }),
  };
  window.acquireVsCodeApi = () => ({
    getState: () => fake.kept,
    setState: (state) => {
      fake.kept = state;
      sessionStorage.setItem("kept", JSON.stringify(state));
    },
    postMessage(message) {
      fake.posted.push(message);
      if (message.kind === "ready") window.dispatchEvent(new Event("view-ready"));
      if (message.kind !== "request") return;
      const handler = fake.handlers[message.method] ?? answers[message.method];
      if (!handler) return;
      Promise.resolve(handler(message.params)).then(
        (result) => result !== undefined && fake.receive({ kind: "response", id: message.id, result }),
      );
    },
  });
})();
