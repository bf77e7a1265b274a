import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as vscode from "vscode";
import { NOT_CARRIED, requirement, wheelIn } from "../logic/carried";
import { OLDEST_PYTHON, SERVER_MODULE, isNewEnough, locate, pythons, searchPath, type Found } from "../logic/discovery";
import type { Ctx } from "./ctx";
import { isProgram, runToEnd, type Program } from "./process";
import type { Settings } from "./settings";

const EXTRAS = "[images,keyring,mcp,prices,web]";
const COMPLETE = ".complete";

/** Finds the server's program, and makes the environment that this extension keeps for it. */
export class Installation {
  readonly #ctx: Ctx;
  readonly #settings: Settings;
  readonly #abandoned = new AbortController();

  constructor(ctx: Ctx, settings: Settings) {
    this.#ctx = ctx;
    this.#settings = settings;
  }

  /** Where the server is, or what to do about it. */
  locate(): Found {
    const complete = existsSync(join(this.#folder, COMPLETE)) && isProgram(this.#python);
    const places = {
      configured: this.#settings.serverPath,
      managedPython: complete ? this.#python : undefined,
      path: searchPath(process.env.PATH),
      home: homedir(),
      carriesServer: this.carriesServer,
    };
    return locate(places, isProgram);
  }

  get carriesServer(): boolean {
    return this.#wheel !== undefined;
  }

  /** The address of the server that the extension carries; throws with what to do when it carries none. */
  carried(): string {
    const wheel = this.#wheel;
    if (wheel === undefined) {
      throw new Error(NOT_CARRIED);
    }
    return wheel;
  }

  /** Makes the environment anew and puts the carried server into it; the person sees it and can stop it. */
  async install(wheel: string): Promise<void> {
    await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `Installing agent-lsp ${this.#ctx.version}`,
        cancellable: true,
      },
      async (progress, token) => {
        const say = (message: string): void => {
          this.#ctx.log.info(message);
          progress.report({ message });
        };
        try {
          await this.#make(wheel, say, token);
        } catch (error) {
          await rm(this.#folder, { recursive: true, force: true });
          const isEnded = token.isCancellationRequested || this.#abandoned.signal.aborted;
          throw isEnded ? new vscode.CancellationError() : error;
        }
      },
    );
  }

  /** Ends an installation that is under way, and each that would follow: the editor closes. */
  abandon(): void {
    this.#abandoned.abort();
  }

  async #make(wheel: string, say: (message: string) => void, token: vscode.CancellationToken): Promise<void> {
    say("looking for Python");
    const python = await this.#findPython(token);
    say(`making an environment with ${python}`);
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true });
    await this.#run(python, ["-P", "-m", "venv", this.#folder], token);
    say("fetching the server and what it needs");
    await this.#fetch(wheel, token);
    const version = await this.#run(this.#python, [...SERVER_MODULE, "--version"], token);
    await writeFile(join(this.#folder, COMPLETE), version);
    say(`installed: ${version.trim()}`);
  }

  /** With everything that makes the server better; where some of that cannot be had, the server alone. */
  async #fetch(wheel: string, token: vscode.CancellationToken): Promise<void> {
    const pip = ["-P", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"];
    try {
      await this.#run(this.#python, [...pip, requirement(wheel, EXTRAS)], token);
    } catch (error) {
      if (token.isCancellationRequested) {
        throw error;
      }
      this.#ctx.log.warn("not everything optional could be had; once more without it");
      await this.#run(this.#python, [...pip, requirement(wheel, "")], token);
    }
  }

  get #wheel(): string | undefined {
    const folder = join(this.#ctx.extension.extensionPath, "dist", "server");
    const wheel = existsSync(folder) ? wheelIn(readdirSync(folder)) : undefined;
    return wheel === undefined ? undefined : pathToFileURL(join(folder, wheel)).href;
  }

  async #findPython(token: vscode.CancellationToken): Promise<string> {
    const { python } = this.#settings;
    const tried: string[] = [];
    for (const candidate of pythons(python, searchPath(process.env.PATH), homedir(), isProgram)) {
      const answer = await this.#run(candidate, ["--version"], token).catch(() => "");
      if (isNewEnough(answer)) {
        return candidate;
      }
      tried.push(`${candidate} (${answer.trim() || "does not answer"})`);
    }
    const what = tried.length > 0 ? `found ${tried.join(", ")}` : "there is none on PATH";
    throw new Error(
      `The server needs Python ${OLDEST_PYTHON} or newer; ${what}. Install one, or name it in agentLsp.server.python.`,
    );
  }

  #run(command: string, args: readonly string[], token: vscode.CancellationToken): Promise<string> {
    const program: Program = { command, args, cwd: homedir(), env: process.env };
    const log = (line: string): void => this.#ctx.log.debug(line);
    this.#abandoned.signal.throwIfAborted();
    return runToEnd(program, log, (cancel) => {
      token.onCancellationRequested(cancel);
      this.#abandoned.signal.addEventListener("abort", cancel, { once: true });
    });
  }

  get #folder(): string {
    return join(this.#ctx.extension.globalStorageUri.fsPath, "server", this.#ctx.version);
  }

  get #python(): string {
    return join(this.#folder, "bin", "python");
  }
}
