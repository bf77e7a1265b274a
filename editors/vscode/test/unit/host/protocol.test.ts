import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { METHODS, NOTICES, PROTOCOL_VERSION, SERVER_REQUESTS } from "../../../src/shared/protocol";
import { EVENT_SHAPES, MODEL_SHAPES, isMessage, payloadShape } from "../../../src/shared/shapes";

const ROOT = join(import.meta.dirname, "../../../../..");
const GOLDEN = join(ROOT, "tests/golden");
const names = readFileSync(join(ROOT, "agent_lsp/server/method_names.py"), "utf8");

interface Golden {
  type: string;
  payload: Record<string, unknown> & { type: string };
}

const golden = readdirSync(GOLDEN)
  .filter((file) => file.endsWith(".json"))
  .map((file) => ({ file, messages: JSON.parse(readFileSync(join(GOLDEN, file), "utf8")) as Golden[] }));

/** The strings of a tuple in the Python module. */
function tuple(name: string): string[] {
  const body = new RegExp(`^${name}[^=]*= \\(([^)]*)\\)`, "m").exec(names)?.[1] ?? "";
  return [...body.matchAll(/"([^"]+)"/g)].map((match) => match[1]!);
}

describe("method names", () => {
  it("are those of the server, in its order", () => {
    expect(METHODS).toEqual(tuple("METHODS"));
    expect(SERVER_REQUESTS).toEqual(tuple("SERVER_REQUESTS"));
  });

  it("belong to the version of the protocol that the server has", () => {
    expect(PROTOCOL_VERSION).toBe(Number(/^PROTOCOL_VERSION = (\d+)/m.exec(names)?.[1]));
  });

  it.each(NOTICES)("%s is a notification that the server sends", (notice) => {
    const sources = ["stream", "approve", "configuration", "outbox", "model_handlers"].map((module) =>
      readFileSync(join(ROOT, `agent_lsp/server/${module}.py`), "utf8"),
    );
    expect(sources.some((source) => source.includes(`"${notice}"`))).toBe(true);
  });
});

describe("golden messages", () => {
  it("cover every kind of message that is known here, and no other", () => {
    const known = [...Object.keys(MODEL_SHAPES), ...Object.keys(EVENT_SHAPES), "session_meta"];
    const covered = new Set(golden.flatMap(({ messages }) => messages.map((message) => message.payload.type)));
    expect([...covered].sort()).toEqual(known.sort());
  });

  it.each(golden)("of $file are accepted", ({ messages }) => {
    expect(messages.filter((message) => !isMessage(message))).toEqual([]);
  });

  it.each(golden)("of $file have no field that its type lacks", ({ messages }) => {
    for (const { type, payload } of messages) {
      const known = ["type", ...Object.keys(payloadShape(type, payload.type) ?? {})];
      expect(Object.keys(payload).filter((field) => !known.includes(field))).toEqual([]);
    }
  });

  it.each(golden)("of $file are refused when a field has the wrong type", ({ messages }) => {
    for (const message of messages) {
      for (const field of Object.keys(message.payload)) {
        const broken = { ...message, payload: { ...message.payload, [field]: () => "no JSON has that" } };
        expect(isMessage(broken), field).toBe(false);
      }
    }
  });
});

describe("a message", () => {
  it.each([null, 7, "text", [], {}, { type: "model_msg" }, { type: "model_msg", timestamp: "", payload: [] }])(
    "is refused when it is %j",
    (value) => {
      expect(isMessage(value)).toBe(false);
    },
  );

  it("of an unknown kind is none of ours", () => {
    const message = { timestamp: "2026-11-29T21:20:41.123Z", type: "event_msg", payload: { type: "toString" } };
    expect(isMessage(message)).toBe(false);
  });

  it("may carry fields that nobody knows yet", () => {
    const payload = { type: "request_begin", later: 1 };
    expect(isMessage({ timestamp: "2026-11-29T21:20:41.123Z", type: "event_msg", payload, more: true })).toBe(true);
  });

  it("with an origin that is no list of ids is refused", () => {
    const payload = { type: "request_begin" };
    expect(isMessage({ timestamp: "", type: "event_msg", payload, origin: ["a", 1] })).toBe(false);
  });
});
