import { describe, expect, it, vi } from "vitest";
import { NOT_CARRIED, requirement, wheelIn } from "../../../src/logic/carried";
import { Crashes } from "../../../src/logic/crashes";
import { within } from "../../../src/logic/deadline";
import { expandHome, isNewEnough, locate, pythons, searchPath, type Places } from "../../../src/logic/discovery";
import { spawnFailure, startFailure, type Ending } from "../../../src/logic/endings";
import { keyEnvironment, keyProblem, keyedProviders } from "../../../src/logic/keys";
import { Lines } from "../../../src/logic/lines";
import { judge } from "../../../src/logic/versions";
import { METHODS } from "../../../src/shared/protocol";

const MINUTE_MS = 60_000;

describe("crashes", () => {
  it("may be followed by a start, but for the third within three minutes", () => {
    const crashes = new Crashes();

    expect([0, 1, 2].map((minute) => crashes.mayRestart(minute * MINUTE_MS))).toEqual([true, true, false]);
  });

  it("that lie further apart are each the first or second", () => {
    const crashes = new Crashes();

    expect([0, 2, 4, 6, 8].map((minute) => crashes.mayRestart(minute * MINUTE_MS))).toEqual(Array(5).fill(true));
  });

  it("are forgotten when the person starts it", () => {
    const crashes = new Crashes();
    crashes.mayRestart(0);
    crashes.mayRestart(1);
    crashes.clear();

    expect(crashes.mayRestart(2)).toBe(true);
  });
});

describe("a server", () => {
  const good = { name: "agent-lsp", version: "0.1.0", protocolVersion: 1, methods: METHODS };
  const here = { wanted: "0.1.0", origin: "managed", carriesServer: true } as const;

  it("of the same release works without a word", () => {
    expect(judge(good, { ...here, wanted: "0.1.3" })).toEqual({ works: true });
  });

  it("of another release works, and one line says what to do", () => {
    const { works, notice, remedy } = judge(good, { ...here, wanted: "0.2.0" });

    expect(works).toBe(true);
    expect(notice).toMatch(/^agent-lsp 0\.1\.0.*Install Server/);
    expect(remedy).toBe("install");
  });

  it("that a setting names is mended there: what is installed would not be started", () => {
    const { notice, remedy } = judge({ ...good, protocolVersion: 0 }, { ...here, origin: "setting" });

    expect(notice).toMatch(
      /Name another program in agentLsp\.server\.path, or clear the setting and run .*Install Server/,
    );
    expect(remedy).toBe("settings");
  });

  it.each(["managed", "path", "setting"] as const)("(%s) is not to be installed where none is carried", (origin) => {
    const { notice, remedy } = judge({ ...good, protocolVersion: 0 }, { ...here, origin, carriesServer: false });

    expect(notice).not.toContain("Install Server");
    expect(notice).toContain("agentLsp.server.path");
    expect(remedy).toBe("settings");
  });

  it.each([
    ["is no agent-lsp", { name: "pylsp", version: "1.0", protocolVersion: undefined, methods: undefined }, /pylsp/],
    [
      "says nothing",
      { name: undefined, version: undefined, protocolVersion: undefined, methods: undefined },
      /^The program is not agent-lsp/,
    ],
    ["is too old", { ...good, protocolVersion: 0 }, /too old.*Install Server/],
    ["is newer", { ...good, protocolVersion: 2, version: "2.0.0" }, /update the extension/],
    ["lacks a method", { ...good, methods: METHODS.slice(1) }, /too old/],
  ])("that %s does not, and one line says what to do", (_, said, notice) => {
    const { works, notice: line } = judge(said, here);

    expect(works).toBe(false);
    expect(line).toMatch(notice);
    expect(line).not.toContain("\n");
  });
});

describe("the server's program", () => {
  const places: Places = {
    configured: "",
    managedPython: undefined,
    path: ["/a", "/b"],
    home: "/home/ada",
    carriesServer: true,
  };
  const only =
    (...programs: string[]) =>
    (path: string) =>
      programs.includes(path);

  it("is that of the setting, before all others", () => {
    const found = locate(
      { ...places, configured: "~/bin/agent-lsp", managedPython: "/env/python" },
      only("/home/ada/bin/agent-lsp"),
    );

    expect(found).toEqual({ found: { command: "/home/ada/bin/agent-lsp", args: [], origin: "setting" } });
  });

  it("is not replaced by another one when the setting leads nowhere", () => {
    const found = locate({ ...places, configured: "/gone", managedPython: "/env/python" }, only("/a/agent-lsp"));

    expect(found).toHaveProperty("missing");
    expect(JSON.stringify(found)).toContain("/gone");
  });

  it("is that of the managed environment, before the one on PATH", () => {
    expect(locate({ ...places, managedPython: "/env/python" }, only("/a/agent-lsp"))).toEqual({
      found: { command: "/env/python", args: ["-P", "-m", "agent_lsp"], origin: "managed" },
    });
  });

  it("is the first one on PATH", () => {
    expect(locate(places, only("/b/agent-lsp"))).toMatchObject({ found: { command: "/b/agent-lsp", origin: "path" } });
  });

  it("is missing, and it is said what to do", () => {
    expect(locate(places, only())).toMatchObject({
      missing: expect.stringContaining("Install Server") as string,
      remedy: "install",
    });
  });

  it("is missing, and nobody is told to install what the extension does not carry", () => {
    expect(locate({ ...places, carriesServer: false }, only())).toEqual({ missing: NOT_CARRIED, remedy: "settings" });
    expect(NOT_CARRIED).toMatch(
      /^(?!.*Install Server)[^\n]*checkout[^\n]*agentLsp\.server\.path[^\n]*make vsix[^\n]*$/,
    );
  });

  it("is looked for in absolute directories only", () => {
    expect(searchPath("/usr/bin:bin::.:/opt/bin")).toEqual(["/usr/bin", "/opt/bin"]);
    expect(searchPath(undefined)).toEqual([]);
  });

  it.each([
    ["~/x", "/home/ada/x"],
    ["~", "/home/ada"],
    ["/x/~/y", "/x/~/y"],
    ["~bob/x", "~bob/x"],
  ])("%s is %s", (path, expected) => {
    expect(expandHome(path, "/home/ada").replace(/\/$/, "")).toBe(expected);
  });
});

describe("the server that is installed", () => {
  it("is the carried file, never whatever an index has under that name", () => {
    expect(requirement("file:///ext/dist/server/agent_lsp-0.1.0-py3-none-any.whl", "[mcp]")).toBe(
      "agent-lsp[mcp] @ file:///ext/dist/server/agent_lsp-0.1.0-py3-none-any.whl",
    );
    for (const other of ["", "agent-lsp", "==0.1.0", "https://example.org/agent_lsp-0.1.0-py3-none-any.whl"]) {
      expect(() => requirement(other, "")).toThrow(/from a file/);
    }
  });

  it("is a wheel of its own name, whatever else lies beside it", () => {
    const wheel = "agent_lsp-0.1.0-py3-none-any.whl";

    expect(wheelIn([".keep", "other-1.0-py3-none-any.whl", wheel])).toBe(wheel);
    expect(wheelIn(["other-1.0-py3-none-any.whl", "agent_lsp-0.1.0.tar.gz"])).toBeUndefined();
  });
});

describe("a server that ends while it starts", () => {
  const exited = (code: number): Ending => ({ code, signal: null, forced: false });

  it.each([
    ["a status and a last line", exited(3), "ImportError: nothing", /exited with status 3 .*what it said last/],
    ["a status alone", exited(0), "", /exited with status 0 .*said nothing.*server\.path/],
    ["a signal", { code: null, signal: "SIGKILL", forced: false }, "x", /was killed by SIGKILL .*lack of memory/],
    ["force", { code: null, signal: "SIGTERM", forced: true }, "x", /closed its output/],
  ])("with %s is told truthfully, and what to do", (_, ending, lastLine, line) => {
    const told = startFailure(ending, lastLine);

    expect(told).toMatch(line);
    expect(told).toMatch(/restart it/);
    expect(told).not.toMatch(/\n|not agent-lsp/);
  });

  it("is told apart from a program that could not be run", () => {
    expect(spawnFailure("/env/bin/agent-lsp", "spawn ENOENT")).toMatch(
      /^\/env\/bin\/agent-lsp cannot be run .*install/,
    );
  });
});

describe("waiting for something", () => {
  it("ends with it, and leaves no timer behind", async () => {
    vi.useFakeTimers();

    expect(await within(50, "late", Promise.resolve(7))).toBe(7);
    await expect(within(50, "late", Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("ends with its time", async () => {
    vi.useFakeTimers();
    const waits = expect(within(50, "late", new Promise(() => undefined))).rejects.toThrow("late");
    await vi.advanceTimersByTimeAsync(50);
    await waits;
    vi.useRealTimers();
  });
});

describe("a Python", () => {
  it.each([
    ["Python 3.11.2", true],
    ["Python 3.14.0rc1\n", true],
    ["Python 4.0.0", true],
    ["Python 3.10.12", false],
    ["Python 2.7.18", false],
    ["", false],
    ["pyenv: python: command not found", false],
  ])("that answers %j will do: %s", (answer, expected) => {
    expect(isNewEnough(answer)).toBe(expected);
  });

  it("that was named is the only one that is tried", () => {
    expect(pythons("~/py", ["/a"], "/home/ada", () => true)).toEqual(["/home/ada/py"]);
  });

  it("is looked for under its usual names, each once", () => {
    const there = new Set(["/a/python3", "/b/python3", "/b/python3.12"]);

    expect(pythons("", ["/a", "/b"], "/", (path) => there.has(path))).toEqual(["/a/python3", "/b/python3.12"]);
  });
});

describe("keys", () => {
  it("reach the server in the variable of their provider, and nothing else does", () => {
    const providers = keyedProviders({});

    expect(
      keyEnvironment(
        providers,
        new Map([
          ["openai", "sk-1"],
          ["nobody", "x"],
        ]),
      ),
    ).toEqual({ OPENAI_API_KEY: "sk-1" });
  });

  it("of the person's own providers are those that name a variable", () => {
    const providers = keyedProviders({
      mine: { apiKeyEnv: "MY_KEY" },
      odd: { apiKeyEnv: "NOT A NAME" },
      none: {},
      broken: 7,
    });

    expect(providers[0]).toEqual({ name: "mine", label: "mine", variable: "MY_KEY" });
    expect(providers.map(({ name }) => name)).not.toContain("odd");
  });

  it("of a built-in provider go where its settings say", () => {
    const providers = keyedProviders({ openai: { apiKeyEnv: "WORK_KEY" } });

    expect(providers.filter(({ name }) => name === "openai").map(({ variable }) => variable)).toEqual(["WORK_KEY"]);
  });

  it.each([
    ["", false],
    ["  ", false],
    ["sk 1", false],
    ["sk\n1", false],
    [" sk-1 ", true],
  ])("%j can be one: %s", (typed, can) => {
    expect(keyProblem(typed) === undefined).toBe(can);
  });
});

describe("lines", () => {
  it("come whole, however the text is cut", () => {
    const text = "one\r\ntwo\n\n   \nthree";
    for (let cut = 0; cut <= text.length; cut += 1) {
      const lines: string[] = [];
      const reader = new Lines((line) => lines.push(line));
      reader.add(text.slice(0, cut));
      reader.add(text.slice(cut));
      reader.end();
      expect(lines.map((line) => line.replace("\r", ""))).toEqual(["one", "two", "three"]);
    }
  });
});
