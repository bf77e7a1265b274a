import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  ResponseError,
  type ConfigurationParams,
  type StaticFeature,
} from "vscode-languageclient/node";
import { within } from "../logic/deadline";
import type { Ending } from "../logic/endings";
import type { Introduction } from "../logic/versions";
import { SERVER_PATH, type BridgeError } from "../shared/bridge";
import {
  ERROR_CODES,
  PROTOCOL_VERSION,
  WORKSPACE_TRUST,
  type ClientCapabilities,
  type ErrorData,
  type Method,
  type ModelList,
  type Notice,
  type Notifications,
  type Params,
  type Result,
  type ServerRequest,
  type ServerRequests,
} from "../shared/protocol";
import type { Running } from "./process";
import type { Settings } from "./settings";

const SHUTDOWN_MS = 3000;
/** A server answers `initialize` at once, but a machine may be busy; a program that is none never does. */
const HANDSHAKE_MS = 60_000;
/** The notification that lays `initializationOptions.agent` anew (`server/configuration.py`). */
const OPTIONS = "agent/options";

/** Who is told of what the server says. */
export interface Listener {
  notice<N extends Notice>(method: N, params: Notifications[N]): void;
  answer<R extends ServerRequest>(
    method: R,
    params: ServerRequests[R][0],
    token: vscode.CancellationToken,
  ): Promise<ServerRequests[R][1]>;
  /** The connection has ended by itself. */
  lost(connection: Connection): void;
}

const NOTICES: readonly Notice[] = ["agent/message", "agent/state", "agent/modelsChanged", "agent/approvalResolved"];
const REQUESTS: readonly ServerRequest[] = ["agent/approve", "agent/ask", "agent/saveDocument", "agent/diagnostics"];

/** One conversation with one server process, from `initialize` to its end. It is never started a second time. */
export class Connection {
  readonly #client: LanguageClient;
  readonly #running: Running;
  readonly #settings: Settings;
  #isEnding = false;
  #isLost = false;

  constructor(running: Running, settings: Settings, log: vscode.LogOutputChannel, listener: Listener) {
    this.#running = running;
    this.#settings = settings;
    const streams = { reader: running.stdout, writer: running.stdin };
    this.#client = new QuietClient("agentLsp", "Agent", () => Promise.resolve(streams), {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      outputChannel: log,
      initializationOptions: () => ({ agent: settings.forServer.options }),
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          if (!this.#isEnding && !this.#isLost) {
            this.#isLost = true;
            listener.lost(this);
          }
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        workspace: { configuration: (params) => this.#configured(params) },
      },
    });
    this.#client.registerFeature(capabilities);
    this.#listen(listener);
  }

  /** Shakes hands. Rejects with one line when the server does not want to, or ends meanwhile. */
  async begin(): Promise<Introduction> {
    const silent = `It has not answered within ${HANDSHAKE_MS / 1000} seconds. Is it agent-lsp? See ${SERVER_PATH}.`;
    try {
      // Asked a second time, the client tells how its start ends; the first time it does not when the connection is lost.
      const started = Promise.all([this.#client.start(), this.#client.start()]);
      await within(HANDSHAKE_MS, silent, started);
    } catch (error) {
      throw new Error(told(error).message, { cause: error });
    }
    const said = this.#experimental;
    const server = this.#client.initializeResult?.serverInfo;
    return {
      name: server?.name,
      version: server?.version,
      protocolVersion: typeof said?.protocolVersion === "number" ? said.protocolVersion : undefined,
      methods: Array.isArray(said?.methods) ? said.methods : undefined,
    };
  }

  /** The models that the server knew of when it began. */
  get models(): ModelList {
    const said = this.#experimental;
    return { models: said?.models ?? [], defaultModel: said?.defaultModel ?? null };
  }

  async request<M extends Method>(method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
    return token
      ? this.#client.sendRequest<Result<M>>(method, params, token)
      : this.#client.sendRequest<Result<M>>(method, params);
  }

  /** The settings have changed: both layers of them are told. */
  async settingsChanged(): Promise<void> {
    await this.#client.sendNotification(OPTIONS, { options: this.#settings.forServer.options });
    await this.#client.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  async trustGranted(): Promise<void> {
    await this.#client.sendNotification(WORKSPACE_TRUST, { trusted: vscode.workspace.isTrusted });
  }

  /** Says goodbye and waits until the process is gone. How it went, when it went by itself before this was called. */
  async end(): Promise<Ending | undefined> {
    this.#isEnding = true;
    await this.#client.stop(SHUTDOWN_MS);
    const ending = await this.#running.end(SHUTDOWN_MS);
    await this.#client.dispose().catch(() => undefined);
    return this.#isLost ? ending : undefined;
  }

  #listen(listener: Listener): void {
    for (const method of NOTICES) {
      this.#client.onNotification(method, (params: Notifications[typeof method]) => listener.notice(method, params));
    }
    for (const method of REQUESTS) {
      this.#client.onRequest(method, (params: ServerRequests[typeof method][0], token: vscode.CancellationToken) =>
        listener.answer(method, params, token),
      );
    }
  }

  #configured(params: ConfigurationParams): unknown[] {
    const { section } = this.#settings.forServer;
    return params.items.map((item) => (item.section === "agent" ? section : null));
  }

  get #experimental(): (Partial<ModelList> & { protocolVersion?: unknown; methods?: string[] }) | undefined {
    const experimental = this.#client.initializeResult?.capabilities.experimental as { agent?: object } | undefined;
    return experimental?.agent;
  }
}

/** What goes wrong is told by the extension, once and in words of its own; here it only goes into the log. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  /** Stopping what has not begun is nothing. */
  override async stop(timeoutMs?: number): Promise<void> {
    await super.stop(timeoutMs).catch(() => undefined);
  }
}

/** What this editor can do for the agent. It has its own way to show what goes on, so no progress is asked for. */
const capabilities: StaticFeature = {
  fillClientCapabilities(all) {
    const agent: ClientCapabilities = {
      protocolVersion: PROTOCOL_VERSION,
      approve: true,
      ask: true,
      saveDocument: true,
      diagnostics: true,
      workspaceTrusted: vscode.workspace.isTrusted,
    };
    all.experimental = { agent };
    all.window = { ...all.window, workDoneProgress: false };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

const GONE: ReadonlySet<number> = new Set([ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive]);

/** There is no server to ask: nothing was sent. */
export class NotRunning extends Error {
  constructor() {
    super("The agent's server is not running.");
  }
}

/** An error as the view and the person get it: one line, and what to do where that is known. */
export function told(error: unknown): BridgeError {
  if (error instanceof NotRunning) {
    return { code: ERROR_CODES.internalError, message: error.message, kind: "not_running" };
  }
  if (error instanceof ResponseError && GONE.has(error.code)) {
    return { code: error.code, message: "The agent's server has ended before it answered.", kind: "server_gone" };
  }
  if (error instanceof ResponseError) {
    const data = (error.data ?? {}) as Partial<ErrorData>;
    const wrong = data.errors?.map(({ path, message }) => `${path} ${message}`).join("; ");
    return {
      code: error.code,
      message: wrong ? `${error.message} (${wrong})` : error.message,
      ...(data.kind ? { kind: data.kind } : {}),
      ...(data.hint ? { hint: data.hint } : {}),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: ERROR_CODES.internalError, message };
}
