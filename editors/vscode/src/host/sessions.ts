import * as vscode from "vscode";
import { ERROR_CODES } from "../shared/protocol";
import type {
  ApprovalMode,
  MessageParams,
  NewParams,
  SessionInfo,
  StateParams,
  UpdateParams,
} from "../shared/protocol";
import { told } from "./connection";
import type { Ctx } from "./ctx";
import { rootFor } from "./roots";
import type { Ask, Server } from "./server";

const SHOWN = "session.shown";
/** Modes in which nothing is changed: all that there is in a workspace that is not trusted. */
const HARMLESS: readonly ApprovalMode[] = ["read-only", "plan"];

/** What a change is about: the session on screen is another one, something of a session is told anew, or it is deleted. */
export type Change =
  { readonly kind: "shown" } | { readonly kind: "info" | "state" | "deleted"; readonly sessionId: string };

/** The sessions that this editor has open, and which of them is on screen. The server keeps them; here is what it said. */
export class Sessions {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #infos = new Map<string, SessionInfo>();
  readonly #states = new Map<string, StateParams>();
  readonly #stale = new Set<string>();
  readonly #changed: vscode.EventEmitter<Change>;
  readonly onDidChange: vscode.Event<Change>;
  #shown: string | undefined;
  /** The folder that was named for the next session, if one was. */
  nextWorkspace: string | undefined;

  constructor(ctx: Ctx, server: Server) {
    this.#ctx = ctx;
    this.#server = server;
    this.#changed = ctx.own(new vscode.EventEmitter<Change>());
    this.onDidChange = this.#changed.event;
    const shown = ctx.kept.get(SHOWN);
    this.#shown = typeof shown === "string" ? shown : undefined;
    server.prepare((ask) => this.#comeBack(ask));
    server.on("agent/state", (state) => this.#stateIs(state));
    server.on("agent/message", (message) => this.#look(message));
  }

  /** The session on screen; undefined for a new one that does not exist yet. */
  get shown(): SessionInfo | undefined {
    return this.#shown === undefined ? undefined : this.#infos.get(this.#shown);
  }

  get shownId(): string | undefined {
    return this.shown?.sessionId;
  }

  /** The session that is on screen or will be, once the server is there. */
  get remembered(): string | undefined {
    return this.#shown;
  }

  /** All that are open. */
  get open(): readonly SessionInfo[] {
    return [...this.#infos.values()];
  }

  get(sessionId: string): SessionInfo | undefined {
    return this.#infos.get(sessionId);
  }

  state(sessionId: string): StateParams | undefined {
    return this.#states.get(sessionId);
  }

  /** How many are at work. */
  get running(): number {
    return [...this.#states.values()].filter(({ state }) => state !== "idle" && state !== "auth_required").length;
  }

  /** Makes a session on the server and puts it on screen. */
  async create(params: NewParams): Promise<SessionInfo> {
    const workspace = rootFor(params.workspace ?? this.nextWorkspace)?.uri;
    if (workspace === undefined) {
      throw new Error("Open a folder first: the agent works in one.");
    }
    const { approvalMode } = params;
    const mode = vscode.workspace.isTrusted ? approvalMode : harmless(approvalMode);
    const info = await this.#server.request("agent/session/new", {
      ...params,
      workspace,
      ...(mode === undefined ? {} : { approvalMode: mode }),
    });
    this.nextWorkspace = undefined;
    this.#take(info);
    this.#show(info.sessionId, { silently: true });
    return info;
  }

  /** Puts nothing on screen: the next text begins a new session, in that folder if one is named. */
  leave(workspace?: string): void {
    this.nextWorkspace = workspace;
    if (this.#shown !== undefined) {
      this.#show(undefined);
    } else {
      this.#changed.fire({ kind: "info", sessionId: "" });
    }
  }

  /** Puts a session on screen, from the disk if need be. */
  async resume(sessionId: string): Promise<SessionInfo> {
    const info = await this.#resumed((method, params) => this.#server.request(method, params), sessionId);
    this.#show(sessionId);
    return info;
  }

  /** Takes a session that the server has made in another way, and puts it on screen. */
  adopt(info: SessionInfo): void {
    this.#take(info);
    this.#show(info.sessionId);
  }

  /** Changes settings of a session. */
  async update(params: UpdateParams): Promise<SessionInfo> {
    if (!vscode.workspace.isTrusted && params.approvalMode && !HARMLESS.includes(params.approvalMode)) {
      throw new Error("This workspace is not trusted: the agent may only read in it. Trust the workspace first.");
    }
    const info = await this.#server.request("agent/session/update", params);
    this.#take(info);
    this.#changed.fire({ kind: "info", sessionId: info.sessionId });
    return info;
  }

  /** Lets go of a session that nobody looks at; it stays on the disk. */
  async close(sessionId: string): Promise<void> {
    await this.#server.request("agent/session/close", { sessionId });
    this.#infos.delete(sessionId);
    this.#states.delete(sessionId);
  }

  /** Removes a session for good. */
  async delete(sessionId: string): Promise<void> {
    await this.#server.request("agent/session/delete", { sessionId });
    this.#infos.delete(sessionId);
    this.#states.delete(sessionId);
    if (this.#shown === sessionId) {
      this.#show(undefined);
    }
    this.#changed.fire({ kind: "deleted", sessionId });
  }

  /** The server is a new one: what was open is only on its disk. What is on screen is opened again. */
  async #comeBack(ask: Ask): Promise<void> {
    const shown = this.#shown;
    this.#infos.clear();
    this.#states.clear();
    if (shown === undefined) {
      return;
    }
    try {
      await this.#resumed(ask, shown);
    } catch (error) {
      this.#ctx.log.warn(`session ${shown} was not opened again: ${told(error).message}`);
      if (told(error).code === ERROR_CODES.sessionNotFound) {
        this.#shown = undefined;
      }
    }
  }

  async #resumed(ask: Ask, sessionId: string): Promise<SessionInfo> {
    let info = await ask("agent/session/resume", { sessionId });
    if (!vscode.workspace.isTrusted && !HARMLESS.includes(info.approvalMode)) {
      info = await ask("agent/session/update", { sessionId, approvalMode: "read-only" });
    }
    this.#take(info);
    return info;
  }

  #take(info: SessionInfo): void {
    this.#infos.set(info.sessionId, info);
    if (!this.#states.has(info.sessionId)) {
      const { sessionId, state } = info;
      this.#states.set(sessionId, { sessionId, state, queued: 0, pendingApprovals: 0 });
    }
  }

  #show(sessionId: string | undefined, { silently = false } = {}): void {
    this.#shown = sessionId;
    this.#ctx.kept.set(SHOWN, sessionId);
    if (!silently) {
      this.#changed.fire({ kind: "shown" });
    }
    this.#changed.fire({ kind: "info", sessionId: sessionId ?? "" });
  }

  #stateIs(state: StateParams): void {
    this.#states.set(state.sessionId, state);
    this.#changed.fire({ kind: "state", sessionId: state.sessionId });
  }

  /** What the stream tells of a session's settings or tokens makes what is known of it old. */
  #look({ sessionId, messages }: MessageParams): void {
    const telling = messages.some(
      ({ payload, origin }) =>
        origin === undefined && (payload.type === "session_update" || payload.type === "token_usage"),
    );
    if (telling && this.#infos.has(sessionId) && !this.#stale.has(sessionId)) {
      this.#stale.add(sessionId);
      void this.#refresh(sessionId);
    }
  }

  /** Asks anew: resuming an open session changes nothing and tells of it. */
  async #refresh(sessionId: string): Promise<void> {
    try {
      const info = await this.#server.request("agent/session/resume", { sessionId });
      if (this.#infos.has(sessionId)) {
        this.#infos.set(sessionId, info);
        this.#changed.fire({ kind: "info", sessionId });
      }
    } catch (error) {
      this.#ctx.log.debug(`session ${sessionId}: ${told(error).message}`);
    } finally {
      this.#stale.delete(sessionId);
    }
  }
}

function harmless(mode: ApprovalMode | undefined): ApprovalMode {
  return mode && HARMLESS.includes(mode) ? mode : "read-only";
}
