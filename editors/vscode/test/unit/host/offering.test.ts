import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { offers } from "../../../src/logic/actions";
import { approvalItems, modelItems } from "../../../src/logic/choices";
import { editAt, refusals, standing, step, type Standing } from "../../../src/logic/edits";
import { KEYED_PROVIDERS } from "../../../src/logic/keys";
import { SERVER_SETTINGS, forServer } from "../../../src/logic/settings";
import { BUILT_IN, allCommands, writtenCommand } from "../../../src/logic/slash";
import { APPROVAL_MODES, THINKING_LEVELS, type EditState, type WireDiagnostic } from "../../../src/shared/protocol";

const EXTENSION = join(import.meta.dirname, "../../..");
const python = (path: string): string => readFileSync(join(EXTENSION, "../../agent_lsp", path), "utf8");

interface Contributed {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly { readonly command: string; readonly when?: string }[];
    readonly configuration: readonly {
      readonly properties: Readonly<Record<string, { scope?: string; markdownDescription?: string; enum?: string[] }>>;
    }[];
  };
}
const { contributes } = JSON.parse(readFileSync(join(EXTENSION, "package.json"), "utf8")) as Contributed;
const settings = Object.assign(
  {},
  ...contributes.configuration.map(({ properties }) => properties),
) as Contributed["contributes"]["configuration"][number]["properties"];

describe("settings", () => {
  it.each(SERVER_SETTINGS)("%s is described in the editor, and known to the server's configuration page", (name) => {
    const page = readFileSync(join(EXTENSION, "../../docs/configuration.md"), "utf8");
    const last = name.split(".").at(-1) ?? name;
    const snake = last.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

    expect(settings[`agentLsp.${name}`]?.markdownDescription).toBeTruthy();
    expect(page).toContain(snake);
  });

  it("all say what they are for and how far they reach", () => {
    const silent = Object.entries(settings).filter(
      ([, { scope, markdownDescription }]) => !scope || !markdownDescription,
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it("that would let a repository widen what is allowed cannot be set by a workspace", () => {
    for (const name of [
      "approvalMode",
      "providers",
      "mcpServers",
      "tools.sandbox",
      "tools.webFetch",
      "offline",
      "server.path",
    ]) {
      expect(["application", "machine"]).toContain(settings[`agentLsp.${name}`]?.scope);
    }
  });

  it("offer what the protocol has", () => {
    expect(settings["agentLsp.approvalMode"]?.enum).toEqual([...APPROVAL_MODES]);
    expect(settings["agentLsp.thinkingLevel"]?.enum).toEqual([...THINKING_LEVELS]);
  });

  it("of the person are options, those of a workspace a section, and what nobody set is neither", () => {
    const given: Record<string, { user?: unknown; workspace?: unknown }> = {
      approvalMode: { user: "auto-edit" },
      "tools.denyPaths": { user: ["a"], workspace: ["b"] },
      defaultModel: { user: "" },
      maxTurns: { workspace: 0 },
    };
    const told = forServer((name) => ({ user: given[name]?.user, workspace: given[name]?.workspace }));

    expect(told.options).toEqual({ approvalMode: "auto-edit", tools: { denyPaths: ["a"] } });
    expect(told.section).toEqual({ tools: { denyPaths: ["b"] }, maxTurns: 0 });
  });
});

describe("what mirrors the server", () => {
  it("has its providers and the first variable of each, in its order", () => {
    const table = /KEY_VARIABLES[^{]*\{([\s\S]*?)\n\}/.exec(python("config/builtin.py"))?.[1] ?? "";
    const theirs = [...table.matchAll(/"(\w+)": \("(\w+)"/g)].map(([, name, variable]) => [name, variable]);

    expect(KEYED_PROVIDERS.map(({ name, variable }) => [name, variable])).toEqual(theirs);
  });

  it("has its built-in commands, in its words", () => {
    const table = /BUILT_IN[^{]*\{([\s\S]*?)\n\}/.exec(python("sessions/slash.py"))?.[1] ?? "";
    const theirs = [...table.matchAll(/"(\w+)": \("([\w/]+)", "([^"]+)"\)/g)].map(([, name, method, description]) => ({
      name,
      method,
      description,
    }));

    expect(BUILT_IN.map(({ name, method, description }) => ({ name, method, description }))).toEqual(theirs);
  });
});

describe("key bindings", () => {
  it("are for commands that are contributed", () => {
    const known = contributes.commands.map(({ command }) => command);
    expect(contributes.keybindings.filter(({ command }) => !known.includes(command))).toEqual([]);
  });

  it("that answer an approval work only while one waits", () => {
    for (const { command, when } of contributes.keybindings) {
      if (/\.(allow|deny)$/.test(command)) {
        expect(when).toBe("agentLsp.approvalPending");
      }
    }
  });
});

describe("edits", () => {
  const edit = (uri: string, line: number, state: EditState = "pending", reason?: string): Standing => ({
    sessionId: "s",
    editId: `${uri}:${line}`,
    runId: "r",
    tool_call_id: "c",
    uri,
    range: { start: { line, character: 0 }, end: { line: line + 1, character: 0 } },
    state,
    ...(reason === undefined ? {} : { reason }),
  });
  const all = standing([edit("b", 3), edit("a", 9), edit("a", 2), edit("a", 5, "kept"), edit("a", 7, "undone")]);
  const from = (uri: string | undefined, line: number) => ({ uri, position: { line, character: 0 } });

  it("that stand are in the order of files and places", () => {
    expect(all.map(({ editId }) => editId)).toEqual(["a:2", "a:9", "b:3"]);
  });

  it.each([
    ["next", "a", 0, "a:2"],
    ["next", "a", 2, "a:9"],
    ["next", "a", 9, "b:3"],
    ["next", "b", 3, "a:2"],
    ["next", "zz", 0, "a:2"],
    ["next", undefined, 0, "a:2"],
    ["previous", "b", 3, "a:9"],
    ["previous", "a", 2, "b:3"],
    ["previous", undefined, 0, "b:3"],
  ] as const)("the %s one from %s:%i is %s", (direction, uri, line, expected) => {
    expect(step(all, from(uri, line), direction)?.editId).toBe(expected);
  });

  it("there is no next one where none stands", () => {
    expect(step([], from("a", 0), "next")).toBeUndefined();
  });

  it("the one at the cursor is the one whose lines it is on", () => {
    expect(editAt(all, from("a", 3))?.editId).toBe("a:2");
    expect(editAt(all, from("a", 6))).toBeUndefined();
  });

  it("that were not undone are told with place and reason", () => {
    const name = (uri: string): string => `${uri}.py`;
    expect(refusals([edit("a", 2)], name)).toBeUndefined();
    expect(refusals([edit("a", 2, "changed", "the text has changed since"), edit("b", 1, "changed", "x")], name)).toBe(
      "Not undone: a.py:3 and 1 more, because the text has changed since.",
    );
  });
});

describe("code actions", () => {
  const selection = { start: { line: 4, character: 2 }, end: { line: 6, character: 0 } };
  const empty = { start: selection.start, end: selection.start };
  const problem = (line: number, message = "is wrong"): WireDiagnostic => ({
    range: { start: { line, character: 1 }, end: { line, character: 5 } },
    severity: 1,
    source: "lint",
    code: "E1",
    message,
  });

  it("are a fix where there are problems, and more on a selection", () => {
    expect(offers(empty, [], {})).toEqual([]);
    expect(offers(empty, [problem(4)], {}).map(({ title }) => title)).toEqual(["Fix with agent"]);
    expect(offers(selection, [], { Simplify: "Simplify it." }).map(({ title }) => title)).toEqual([
      "Explain with agent",
      "Add tests with agent",
      "Document with agent",
      "Simplify",
    ]);
  });

  it("fix all problems at once, on the whole lines they are in", () => {
    const [fix] = offers(empty, [problem(8), problem(4, "two\nlines")], {});

    expect(fix?.title).toBe("Fix with agent (2 problems)");
    expect(fix?.range).toEqual({ start: { line: 4, character: 0 }, end: { line: 9, character: 0 } });
    expect(fix?.prompt).toContain("- line 9: error: is wrong (lint E1)\n- line 5: error: two lines (lint E1)");
    expect(fix?.fixes).toEqual([0, 1]);
  });

  it("name at most twenty problems", () => {
    const [fix] = offers(
      empty,
      Array.from({ length: 25 }, (_, line) => problem(line)),
      {},
    );

    expect(fix?.prompt.split("\n")).toHaveLength(22);
    expect(fix?.prompt).toContain("and 5 more");
  });
});

describe("pickers", () => {
  const model = (provider: string, hasCredential: boolean) => ({
    provider,
    model: "m",
    vision: false,
    toolCalling: true,
    hasCredential,
  });

  it("offer models that can be used first, and mark the present one", () => {
    const list = { models: [model("a", false), model("b", true)], defaultModel: { provider: "b", model: "m" } };

    expect(modelItems(list, undefined).map(({ value, label }) => [value, label])).toEqual([
      ["b/m", "$(check) m"],
      ["a/m", "m"],
    ]);
    expect(modelItems(list, { provider: "a", model: "m" })[1]?.label).toBe("$(check) m");
  });

  it("offer only what changes nothing where the workspace is not trusted", () => {
    expect(approvalItems(false, "ask").map(({ value }) => value)).toEqual(["read-only", "plan"]);
    expect(approvalItems(true, "ask")).toHaveLength(APPROVAL_MODES.length);
  });
});

describe("a written command", () => {
  it("is told by its front matter, else by its first line", () => {
    expect(writtenCommand("fix", '---\ndescription: "Fix it"\nargument-hint: FILE\n---\nBody')).toEqual({
      name: "fix",
      description: "Fix it",
      hint: "FILE",
    });
    expect(writtenCommand("tidy", "\n# Tidy up #\nmore")).toEqual({ name: "tidy", description: "Tidy up" });
  });

  it("has a name that can be typed", () => {
    expect(writtenCommand("two words", "x")).toBeUndefined();
  });

  it("comes after the built-in ones and never replaces them; the person's own replaces the project's", () => {
    const [project, own] = [writtenCommand("x", "project's"), writtenCommand("x", "own")];
    const all = allCommands([project!, own!, writtenCommand("compact", "mine")!]);

    expect(all.map(({ name }) => name)).toEqual([...BUILT_IN.map(({ name }) => name), "x"]);
    expect(all.at(-1)?.description).toBe("own");
    expect(all[0]?.method).toBe("agent/compact");
  });
});
