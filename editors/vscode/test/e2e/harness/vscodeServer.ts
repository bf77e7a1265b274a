/** A real VS Code server with the packaged extension, on loopback, in a folder of its own. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { leftBehind, MARK, marked, signal, type Process } from "./processes";

/** What the Makefile says about where things are. */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with make e2e`);
  return value;
}

const QUIET = {
  "chat.disableAIFeatures": true,
  "editor.accessibilitySupport": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "git.openRepositoryInParentFolders": "never",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.commandCenter": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

const NO_GALLERY = JSON.stringify({ serviceUrl: "", itemUrl: "", resourceUrlTemplate: "" });
const START_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 10_000;

export interface ServerOptions {
  /** Whether every folder counts as trusted. */
  readonly trusted: boolean;
  /** The TOML file of the agent's server. */
  readonly config: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether nothing of ours is installed or set yet, as where a person begins. */
  readonly bare: boolean;
}

/** A folder with `workspace` (a copy of the sample), `data` of the agent's server, and everything of the editor. */
export class VsCodeServer {
  readonly root = mkdtempSync(join(tmpdir(), "agent-lsp-e2e-"));
  readonly workspace = join(this.root, "workspace");
  readonly agentData = join(this.root, "data");
  readonly mark = randomUUID();
  private readonly main = join(required("EDITOR"), "node_modules/code-server/lib/vscode/out/server-main.js");
  private readonly machine = join(this.root, "server/data/Machine");
  private settings: Record<string, unknown>;
  private child: ChildProcess | undefined;
  private port = 0;

  constructor(private readonly options: ServerOptions) {
    cpSync(join(__dirname, "../sample"), this.workspace, { recursive: true });
    mkdirSync(this.machine, { recursive: true });
    writeFileSync(join(this.root, "config.toml"), options.config);
    this.settings = { ...QUIET, ...(options.bare ? {} : this.ours()), ...options.settings };
    this.write();
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/?folder=${encodeURIComponent(this.workspace)}`;
  }

  /** Of a workspace with several folders, by the file that names them. */
  urlOf(workspaceFile: string): string {
    return `http://127.0.0.1:${this.port}/?workspace=${encodeURIComponent(workspaceFile)}`;
  }

  get log(): string {
    return readFileSync(join(this.root, "server.log"), "utf8");
  }

  /** The agent's server that the extension has started, if it runs. */
  get agent(): Process | undefined {
    return marked(this.mark).find(({ command }) => command.includes("--data-dir") && command.includes("agent-lsp"));
  }

  /** Changes settings; the running editor takes them up by itself. `undefined` takes one back. */
  configure(settings: Readonly<Record<string, unknown>>): void {
    this.settings = { ...this.settings, ...settings };
    this.write();
  }

  async start(): Promise<void> {
    if (!this.options.bare) {
      execFileSync(process.execPath, [...this.arguments(), "--install-extension", required("VSIX")], {
        env: this.environment(),
        stdio: "pipe",
      });
    }
    this.port = await freePort();
    const log = openSync(join(this.root, "server.log"), "a");
    const trust = this.options.trusted ? ["--disable-workspace-trust"] : [];
    this.child = spawn(
      process.execPath,
      [
        ...this.arguments(),
        "--host",
        "127.0.0.1",
        "--port",
        String(this.port),
        "--without-connection-token",
        "--telemetry-level",
        "off",
        ...trust,
      ],
      { detached: true, stdio: ["ignore", log, log], env: this.environment() },
    );
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(`http://127.0.0.1:${this.port}/version`))) {
      if (Date.now() > deadline) throw new Error(`the VS Code server did not start:\n${this.log}`);
      await delay(50);
    }
  }

  /** Ends it as a person would; throws when a process of it, the agent's server or a tool is left behind. */
  async stop(): Promise<void> {
    const pid = this.child?.pid;
    if (pid !== undefined) signal(-pid, "SIGTERM");
    const left = await leftBehind(this.mark, END_TIMEOUT_MS);
    rmSync(this.root, { recursive: true, force: true });
    if (left.length > 0) {
      throw new Error(`left behind: ${left.map(({ pid: one, command }) => `${one} ${command}`).join("\n")}`);
    }
  }

  private ours(): Record<string, unknown> {
    return {
      "agentLsp.server.path": required("AGENT_LSP"),
      "agentLsp.server.configFile": join(this.root, "config.toml"),
      "agentLsp.server.dataDir": this.agentData,
    };
  }

  private arguments(): string[] {
    return [
      this.main,
      "--server-data-dir",
      join(this.root, "server"),
      "--extensions-dir",
      join(this.root, "extensions"),
      "--accept-server-license-terms",
    ];
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.root, EXTENSIONS_GALLERY: NO_GALLERY, [MARK]: this.mark };
  }

  private write(): void {
    writeFileSync(join(this.machine, "settings.json"), JSON.stringify(this.settings));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}
