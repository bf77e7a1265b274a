import { homedir } from "node:os";
import * as vscode from "vscode";
import { Crashes } from "../logic/crashes";
import type { ServerCommand } from "../logic/discovery";
import { howItEnded, spawnFailure, startFailure, type Ending } from "../logic/endings";
import { judge } from "../logic/versions";
import type { ServerStatus } from "../shared/bridge";
import type {
  Method,
  ModelList,
  Notice,
  Notifications,
  Params,
  Result,
  ServerRequest,
  ServerRequests,
} from "../shared/protocol";
import { Connection, NotRunning, told, type Listener } from "./connection";
import type { Ctx } from "./ctx";
import type { Installation } from "./installation";
import type { Keyring } from "./keyring";
import { outerEnvironment, start, type Running } from "./process";
import type { Settings } from "./settings";

type Handlers = {
  [R in ServerRequest]?: (
    params: ServerRequests[R][0],
    token: vscode.CancellationToken,
  ) => Promise<ServerRequests[R][1]>;
};

/** Asks a server. */
export type Ask = <M extends Method>(method: M, params: Params<M>) => Promise<Result<M>>;

const LOG_LEVELS: Record<string, "debug" | "info" | "warn" | "error"> = {
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  ERROR: "error",
  CRITICAL: "error",
};

/**
 * The server's process and its life.
 *
 *     stopped ── needed, restart ──▶ starting ──▶ running ── ends by itself ──▶ crashed ──▶ starting
 *        ▲               replace ── installing ──▶ starting
 *        ▲                              ├──▶ missing        (no program)           ╰──▶ crashed, given up
 *        ╰── stop                       ├──▶ incompatible   (another version)           (third time in three minutes)
 *                                       ╰──▶ failed         (it ended before it answered, or does not answer)
 */
export class Server implements Listener {
  readonly #ctx: Ctx;
  readonly #settings: Settings;
  readonly #installation: Installation;
  readonly #keyring: Keyring;
  readonly #crashes = new Crashes();
  readonly #handlers: Handlers = {};
  readonly #status: vscode.EventEmitter<ServerStatus>;
  readonly #notice: vscode.EventEmitter<{ method: Notice; params: unknown }>;
  #standing: ServerStatus = { state: "stopped" };
  #connection: Connection | undefined;
  #lastLogLine = "";
  #work: Promise<void> = Promise.resolve();
  #prepare: (request: Ask) => Promise<void> = () => Promise.resolve();
  readonly onDidChangeStatus: vscode.Event<ServerStatus>;

  constructor(ctx: Ctx, settings: Settings, installation: Installation, keyring: Keyring) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.#installation = installation;
    this.#keyring = keyring;
    this.#status = ctx.own(new vscode.EventEmitter<ServerStatus>());
    this.#notice = ctx.own(new vscode.EventEmitter<{ method: Notice; params: unknown }>());
    this.onDidChangeStatus = this.#status.event;
  }

  get status(): ServerStatus {
    return this.#standing;
  }

  /** The models that the server has told of at its start. */
  get firstModels(): ModelList {
    return this.#connection?.models ?? { models: [], defaultModel: null };
  }

  /** Who answers a request of the server; to be said before it starts. */
  handle<R extends ServerRequest>(method: R, handler: NonNullable<Handlers[R]>): void {
    this.#handlers[method] = handler;
  }

  /** What is to be done with each new server before anybody else may ask it anything. */
  prepare(work: (request: Ask) => Promise<void>): void {
    this.#prepare = work;
  }

  /** Calls back for each notification of that kind, in the order in which they come. */
  on<N extends Notice>(method: N, take: (params: Notifications[N]) => void): void {
    this.#ctx.own(
      this.#notice.event((notice) => {
        if (notice.method === method) {
          take(notice.params as Notifications[N]);
        }
      }),
    );
  }

  /** Asks the server, once it has started. Rejects with `NotRunning` when there is none, or with its error. */
  async request<M extends Method>(method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
    await this.settled();
    if (!this.#connection) {
      throw new NotRunning();
    }
    return this.#connection.request(method, params, token);
  }

  /** Waits while it starts, ends or is started again. */
  async settled(): Promise<void> {
    if (this.#standing.state !== "running") {
      await this.#work;
    }
    if (this.#standing.state !== "running") {
      throw new NotRunning();
    }
  }

  /** Starts it if nobody has yet. */
  needed(): void {
    if (this.#standing.state === "stopped") {
      void this.restart();
    }
  }

  /** Ends what runs and starts anew, whatever happened before. */
  restart(): Promise<void> {
    this.#crashes.clear();
    return this.#inTurn(async () => {
      await this.#end();
      await this.#begin();
    });
  }

  /** Ends what runs, has the program itself replaced, and starts anew, whether that went well or not. */
  replace(install: () => Promise<void>): Promise<void> {
    this.#crashes.clear();
    return this.#inTurn(async () => {
      await this.#end();
      this.#set({ state: "installing" });
      try {
        await install();
      } finally {
        await this.#begin();
      }
    });
  }

  /** Ends it for good, and an installation that is under way. */
  stop(): Promise<void> {
    this.#installation.abandon();
    return this.#inTurn(async () => {
      await this.#end();
    });
  }

  /** Tells the server of changed settings or trust, if it runs. */
  async tell(what: "settings" | "trust"): Promise<void> {
    const connection = this.#standing.state === "running" ? this.#connection : undefined;
    await (what === "settings" ? connection?.settingsChanged() : connection?.trustGranted());
  }

  // --- for the connection --------------------------------------------------------------------------------------------

  notice<N extends Notice>(method: N, params: Notifications[N]): void {
    this.#notice.fire({ method, params });
  }

  async answer<R extends ServerRequest>(
    method: R,
    params: ServerRequests[R][0],
    token: vscode.CancellationToken,
  ): Promise<ServerRequests[R][1]> {
    const handler = this.#handlers[method];
    if (!handler) {
      throw new Error(`nobody answers ${method}`);
    }
    return handler(params, token);
  }

  lost(lost: Connection): void {
    void this.#inTurn(async () => {
      if (lost !== this.#connection) {
        return; // it did not even begin, which was told
      }
      const again = this.#crashes.mayRestart(Date.now());
      const ending = await this.#end();
      const how = ending ? howItEnded(ending) : "has ended";
      this.#ctx.log.error(`The server ${how}. It said last: ${this.#lastLogLine || "nothing"}`);
      if (again) {
        this.#set({ state: "crashed", hint: `The server ${how} and is being started again.` });
        await this.#begin();
      } else {
        const hint = `The server ${how}, for the third time within three minutes: it is not started again by itself.`;
        this.#set({ state: "crashed", hint, gaveUp: true });
      }
    });
  }

  // --- life ----------------------------------------------------------------------------------------------------------

  async #begin(): Promise<void> {
    const located = this.#installation.locate();
    if ("missing" in located) {
      this.#set({ state: "missing", hint: located.missing, remedy: located.remedy });
      return;
    }
    this.#set({ state: "starting" });
    this.#lastLogLine = "";
    const { command, args } = located.found;
    try {
      const running = await this.#spawn(command, args);
      this.#connection = new Connection(running, this.#settings, this.#ctx.log, this);
      await this.#greet(this.#connection, located.found);
    } catch (error) {
      const ending = await this.#end();
      const hint = ending ? startFailure(ending, this.#lastLogLine) : told(error).message;
      this.#ctx.log.error(hint);
      this.#set({ state: "failed", hint, gaveUp: true });
    }
  }

  async #spawn(command: string, args: readonly string[]): Promise<Running> {
    const program = {
      command,
      args: [...args, ...this.#settings.serverArguments],
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir(),
      env: { ...outerEnvironment(process.env), ...(await this.#keyring.environment()) },
    };
    const running = await start(program, (line) => this.#logged(line)).catch((error: unknown) => {
      throw new Error(spawnFailure(command, told(error).message), { cause: error });
    });
    void running.ended.then((ending) => this.#ctx.log.info(`${command} ${howItEnded(ending)}`));
    return running;
  }

  async #greet(connection: Connection, { origin }: ServerCommand): Promise<void> {
    const introduction = await connection.begin();
    const { carriesServer } = this.#installation;
    const { works, notice, remedy } = judge(introduction, { wanted: this.#ctx.version, origin, carriesServer });
    const advice = { ...(notice === undefined ? {} : { hint: notice }), ...(remedy === undefined ? {} : { remedy }) };
    if (notice !== undefined) {
      this.#ctx.log.warn(notice);
    }
    if (works) {
      await this.#prepare((method, params) => connection.request(method, params));
      this.#set({ state: "running", ...advice });
    } else {
      await this.#end();
      this.#set({ state: "incompatible", ...advice });
    }
  }

  /** How it went, when it had gone by itself. */
  async #end(): Promise<Ending | undefined> {
    const connection = this.#connection;
    this.#connection = undefined;
    if (!connection) {
      return undefined;
    }
    this.#set({ state: "stopped" });
    return connection.end();
  }

  /** One thing after the other: a restart never overlaps a crash that is being dealt with. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#ctx.tell(error));
    return this.#work;
  }

  #set(standing: ServerStatus): void {
    this.#standing = this.#lastLogLine ? { ...standing, lastLogLine: this.#lastLogLine } : standing;
    this.#ctx.setContext("serverRunning", standing.state === "running");
    this.#status.fire(this.#standing);
  }

  #logged(line: string): void {
    this.#lastLogLine = line;
    const level = LOG_LEVELS[/\b(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b/.exec(line)?.[1] ?? ""] ?? "info";
    this.#ctx.log[level](line);
  }
}
