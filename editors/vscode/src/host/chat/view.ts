import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { Batches } from "../../logic/batches";
import type { Pending } from "../../logic/approvals";
import type { Sight } from "../../logic/attention";
import type {
  Choices,
  HostToView,
  OpenApproval,
  OpenQuestion,
  Root,
  SessionShown,
  ViewCommand,
  ViewToHost,
} from "../../shared/bridge";
import { chatPage } from "../../shared/page";
import type { Stage } from "../decisions";
import type { Server } from "../server";
import type { Sessions } from "../sessions";
import { rootsInOrder } from "../roots";
import type { Parts } from "./parts";

export const CHAT_VIEW = "agentLsp.chat";

/** Who deals with what the view says, beside what is only between the two. */
export interface Listener {
  heard(message: ViewToHost): void;
}

/** The host's end of the chat view: its page, and what is posted to it. While nobody can see it, it is told nothing. */
export class ChatView implements vscode.WebviewViewProvider, Stage {
  readonly #parts: Parts;
  readonly #batches: Batches;
  readonly #sightChanged: vscode.EventEmitter<void>;
  /** Whether the view can be seen, or the window, has changed. */
  readonly onDidChangeSight: vscode.Event<void>;
  #view: vscode.WebviewView | undefined;
  #ready = false;
  #page = 0;
  #toldRoots = "";
  #choices: Choices | undefined;
  #listener: Listener | undefined;
  #onceReady: (() => void)[] = [];
  #badge: vscode.ViewBadge | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { ctx, server, sessions, settings } = parts;
    this.#sightChanged = ctx.own(new vscode.EventEmitter<void>());
    this.onDidChangeSight = this.#sightChanged.event;
    this.#batches = new Batches({
      post: (batch, events) => this.#post({ kind: "batch", batch, events }),
      later: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      now: () => performance.now(),
    });
    ctx.own(new vscode.Disposable(() => this.#batches.close()));
    ctx.own(vscode.window.registerWebviewViewProvider(CHAT_VIEW, this));
    ctx.own(vscode.window.onDidChangeWindowState(() => this.#sightChanged.fire()));
    ctx.own(settings.onDidChange(() => this.post({ kind: "settings", settings: settings.forView })));
    ctx.own(
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.post({ kind: "settings", settings: settings.forView })),
    );
    ctx.own(vscode.workspace.onDidChangeWorkspaceFolders(() => this.#tellRoots()));
    ctx.own(vscode.window.onDidChangeActiveTextEditor(() => this.#tellRoots()));
    ctx.own(server.onDidChangeStatus((status) => this.#serverIs(status.state)));
    ctx.own(sessions.onDidChange((change) => this.#changed(change)));
    server.on("agent/message", (params) => this.#forward({ method: "agent/message", params }));
    server.on("agent/state", (params) => this.#forward({ method: "agent/state", params }));
  }

  listen(listener: Listener): void {
    this.#listener = listener;
  }

  // --- the page ------------------------------------------------------------------------------------------------------

  resolveWebviewView(view: vscode.WebviewView): void {
    const { ctx, server } = this.#parts;
    const dist = vscode.Uri.joinPath(ctx.extension.extensionUri, "dist");
    this.#view = view;
    this.#ready = false;
    view.webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [dist] };
    view.badge = this.#badge;
    view.webview.onDidReceiveMessage((message: ViewToHost) => this.#heard(message));
    view.onDidChangeVisibility(() => this.#visibility(view.visible));
    view.onDidDispose(() => this.#disposed(view));
    view.webview.html = chatPage({
      cspSource: view.webview.cspSource,
      nonce: randomBytes(16).toString("hex"),
      scriptUri: view.webview.asWebviewUri(vscode.Uri.joinPath(dist, "view.js")).toString(),
      styleUri: view.webview.asWebviewUri(vscode.Uri.joinPath(dist, "view.css")).toString(),
    });
    server.needed();
    this.#sightChanged.fire();
  }

  #visibility(visible: boolean): void {
    if (!visible) {
      this.silence(); // its page is gone, and says so by `ready` when it is made anew
    }
    this.#sightChanged.fire();
  }

  #disposed(view: vscode.WebviewView): void {
    if (this.#view === view) {
      this.#view = undefined;
      this.silence();
      this.#sightChanged.fire();
    }
  }

  /** The page is gone or about to go: nothing may be left to it any more. */
  silence(): void {
    this.#ready = false;
    this.#batches.close();
  }

  #heard(message: ViewToHost): void {
    if (message.kind === "ready") {
      this.#hello();
    } else if (message.kind === "ack") {
      this.#batches.acknowledge(message.batch);
    } else {
      this.#listener?.heard(message);
    }
  }

  #hello(): void {
    const { ctx, server, settings } = this.#parts;
    this.#ready = true;
    this.#page += 1;
    this.#batches.open();
    this.#post({
      kind: "hello",
      version: ctx.version,
      server: server.status,
      choices: this.choices,
      settings: settings.forView,
      roots: this.#roots(),
      ...this.#shown(),
    });
    this.#sightChanged.fire();
    this.#onceReady.splice(0).forEach((run) => run());
  }

  /** The session on screen. While the server starts there is none yet. */
  #shown(): SessionShown {
    const { sessions, drafts, decisions, interrupted } = this.#parts;
    const session = sessions.shown ?? null;
    const id = session?.sessionId;
    return {
      session,
      state: (id === undefined ? undefined : sessions.state(id)) ?? null,
      draft: drafts.get(sessions.remembered),
      ...decisions.appearing(id),
      cut: interrupted.of(id),
    };
  }

  // --- what is told --------------------------------------------------------------------------------------------------

  /** Posts something, after what waits in the batch; nothing while nobody can see the view. */
  post(message: HostToView): void {
    if (this.#ready) {
      this.#batches.flush();
      this.#post(message);
    }
  }

  /** Posts what is about a session, if that is on screen. */
  postIfShowing(sessionId: string, message: HostToView): void {
    if (this.isShowing(sessionId)) {
      this.post(message);
    }
  }

  /** Has the view do something, as soon as it can. */
  async command(command: ViewCommand, { reveal }: { reveal: boolean }): Promise<void> {
    if (reveal) {
      await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    }
    const run = (): void => this.post({ kind: "command", ...command });
    if (this.#ready) {
      run();
    } else if (reveal) {
      this.#onceReady.push(run);
    }
  }

  /** Tells of the whole session on screen anew. */
  showSession(): void {
    this.post({ kind: "session", ...this.#shown() });
  }

  get choices(): Choices {
    return this.#choices ?? { models: [], defaultModel: null, approvalModes: [], thinkingLevels: [], modes: [] };
  }

  set choices(choices: Choices) {
    this.#choices = choices;
    this.post({ kind: "choices", choices });
  }

  /** How many things wait for the person out of their sight; 0 for none. */
  set waiting(count: number) {
    this.#badge = count > 0 ? { value: count, tooltip: `${count} waiting for you` } : undefined;
    if (this.#view) {
      this.#view.badge = this.#badge;
    }
  }

  /** Which page is there: a later one must not get the answers that an earlier one waits for. */
  get page(): number {
    return this.#page;
  }

  /** Whether a page is there that is told of that session. */
  isShowing(sessionId: string): boolean {
    return this.#ready && this.#parts.sessions.shownId === sessionId;
  }

  #roots(): Root[] {
    const roots = rootsInOrder(this.#parts.sessions.nextWorkspace);
    this.#toldRoots = JSON.stringify(roots);
    return roots;
  }

  /** The folder of the next session is that of the active file: told when it is another one. */
  #tellRoots(): void {
    const before = this.#toldRoots;
    const roots = this.#roots();
    if (this.#toldRoots !== before) {
      this.post({ kind: "roots", roots });
    }
  }

  #post(message: HostToView): void {
    void this.#view?.webview.postMessage(message);
  }

  #forward(event: Parameters<Batches["add"]>[0]): void {
    if (event.params.sessionId === this.#parts.sessions.shownId) {
      this.#batches.add(event);
    }
  }

  /** A view that waits in an empty session is left alone: somebody may have begun to write in it. */
  #serverIs(state: Server["status"]["state"]): void {
    this.post({ kind: "server", server: this.#parts.server.status });
    if (state === "running" && this.#parts.sessions.shown) {
      this.showSession();
    }
  }

  #changed(change: Parameters<Parameters<Sessions["onDidChange"]>[0]>[0]): void {
    const { shown } = this.#parts.sessions;
    this.#tellRoots();
    if (change.kind === "shown") {
      this.showSession();
      this.#sightChanged.fire();
    } else if (change.kind === "info" && shown?.sessionId === change.sessionId) {
      this.post({ kind: "info", session: shown });
    }
  }

  // --- for decisions -------------------------------------------------------------------------------------------------

  get sight(): Sight {
    return {
      viewVisible: this.#ready && this.#view?.visible === true,
      windowFocused: vscode.window.state.focused,
      sessionId: this.#parts.sessions.shownId,
    };
  }

  showApproval(approval: OpenApproval): void {
    this.post({ kind: "approval", approval });
  }

  showQuestion(question: OpenQuestion): void {
    this.post({ kind: "question", question });
  }

  remove({ kind, key, params }: Pending, outcome: "allow" | "deny" | "withdrawn"): void {
    if (this.isShowing(params.sessionId)) {
      this.post(kind === "approval" ? { kind: "approvalResolved", key, outcome } : { kind: "questionResolved", key });
    }
  }

  async reveal(sessionId: string): Promise<void> {
    if (this.#parts.sessions.shownId !== sessionId) {
      await this.#parts.sessions.resume(sessionId);
    }
    await this.command({ command: "focusApproval" }, { reveal: true });
  }
}
