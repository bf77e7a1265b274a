import * as vscode from "vscode";
import { refusals, standing, type Standing } from "../logic/edits";
import type { EditInfo, EditList, MessageParams, Params } from "../shared/protocol";
import { told } from "./connection";
import type { Ctx } from "./ctx";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

const QUIET_MS = 250;

/** The edits of the open sessions: asked for when something has happened that may have changed them. */
export class Edits {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #lists = new Map<string, EditInfo[]>();
  readonly #stale = new Set<string>();
  readonly #changed: vscode.EventEmitter<string>;
  /** Tells of a session whose edits are others now. */
  readonly onDidChange: vscode.Event<string>;
  #timer: NodeJS.Timeout | undefined;

  constructor(ctx: Ctx, server: Server, sessions: Sessions) {
    this.#ctx = ctx;
    this.#server = server;
    this.#sessions = sessions;
    this.#changed = ctx.own(new vscode.EventEmitter<string>());
    this.onDidChange = this.#changed.event;
    ctx.own(new vscode.Disposable(() => clearTimeout(this.#timer)));
    server.on("agent/message", (message) => this.#look(message));
    server.on("agent/state", ({ sessionId, state }) => state === "idle" && this.#mayHaveChanged(sessionId));
    ctx.own(
      sessions.onDidChange(
        ({ kind }) => kind === "shown" && sessions.shownId && this.#mayHaveChanged(sessions.shownId),
      ),
    );
    ctx.own(
      vscode.workspace.onDidChangeTextDocument(
        ({ document, contentChanges }) => contentChanges.length > 0 && this.#seen(document),
      ),
    );
    ctx.own(vscode.workspace.onDidOpenTextDocument((document) => this.#seen(document)));
    ctx.own(
      server.onDidChangeStatus(({ state }) => {
        if (state !== "running") {
          this.#forgetAll();
        } else if (sessions.shownId) {
          this.#mayHaveChanged(sessions.shownId);
        }
      }),
    );
  }

  /** Those that wait to be kept or undone, of all open sessions, in the order of files and places. */
  get standing(): Standing[] {
    return standing([...this.#lists].flatMap(([sessionId, edits]) => edits.map((edit) => ({ ...edit, sessionId }))));
  }

  /** All of a session that still stand in some way. */
  of(sessionId: string): readonly EditInfo[] {
    return this.#lists.get(sessionId) ?? [];
  }

  keep(params: Params<"agent/edits/keep">): Promise<EditList> {
    return this.#change("agent/edits/keep", params);
  }

  /** Undoes; what cannot be undone is told, with the reason. */
  async undo(params: Params<"agent/edits/undo">): Promise<EditList> {
    const answer = await this.#change("agent/edits/undo", params);
    const problem = refusals(answer.edits, (uri) => vscode.workspace.asRelativePath(vscode.Uri.parse(uri)));
    if (problem) {
      void vscode.window.showWarningMessage(problem);
    }
    return answer;
  }

  async #change(method: "agent/edits/keep" | "agent/edits/undo", params: Params<typeof method>): Promise<EditList> {
    const answer = await this.#server.request(method, params);
    const sessionId = params.sessionId ?? this.#sessions.shownId;
    if (sessionId !== undefined) {
      await this.#refresh(sessionId);
    }
    return answer;
  }

  /** The output of a call may be that of an edit. */
  #look({ sessionId, messages }: MessageParams): void {
    if (messages.some(({ payload }) => payload.type === "tool_call_output")) {
      this.#mayHaveChanged(sessionId);
    }
  }

  /** Somebody has typed in a file, or opens one that may have changed on the disk. */
  #seen(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    for (const [sessionId, edits] of this.#lists) {
      if (edits.some((edit) => edit.uri === uri)) {
        this.#mayHaveChanged(sessionId);
      }
    }
  }

  #mayHaveChanged(sessionId: string): void {
    this.#stale.add(sessionId);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const stale = [...this.#stale];
      this.#stale.clear();
      stale.forEach((one) => void this.#refresh(one));
    }, QUIET_MS);
  }

  async #refresh(sessionId: string): Promise<void> {
    try {
      const { edits } = await this.#server.request("agent/edits", { sessionId });
      const known = edits.map((edit) => ({ ...edit, uri: vscode.Uri.parse(edit.uri).toString() }));
      const before = this.#lists.get(sessionId) ?? [];
      if (JSON.stringify(before) !== JSON.stringify(known)) {
        this.#lists.set(sessionId, known);
        this.#tell(sessionId);
      }
    } catch (error) {
      this.#ctx.log.debug(`edits of ${sessionId}: ${told(error).message}`);
      this.#forget(sessionId);
    }
  }

  #forget(sessionId: string): void {
    if (this.#lists.delete(sessionId)) {
      this.#tell(sessionId);
    }
  }

  #forgetAll(): void {
    this.#stale.clear();
    [...this.#lists.keys()].forEach((sessionId) => this.#forget(sessionId));
  }

  #tell(sessionId: string): void {
    this.#ctx.setContext("editsStanding", this.standing.length > 0);
    this.#changed.fire(sessionId);
  }
}
