import * as vscode from "vscode";
import { merged, sessionItem, type SessionItem } from "../logic/sessionItems";
import type { SessionInfo } from "../shared/protocol";
import type { Drafts } from "./chat/drafts";
import type { Ctx } from "./ctx";
import { roots } from "./roots";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

const PAGE = 100;
const TRACE = { iconPath: new vscode.ThemeIcon("graph-line"), tooltip: "Show Trace" };
const FORK = { iconPath: new vscode.ThemeIcon("repo-forked"), tooltip: "Fork" };
const RENAME = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Rename" };
const DELETE = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Delete" };
const COMMANDS = new Map<vscode.QuickInputButton, string>([
  [TRACE, "showTrace"],
  [FORK, "forkSession"],
  [RENAME, "renameSession"],
  [DELETE, "deleteSession"],
]);
const MORE = { label: "$(ellipsis) Older sessions", alwaysShow: true } as const;

type Line = SessionItem | typeof MORE;

/** Lists what there is of sessions: one to go on with, or to fork, rename or delete. */
export class SessionPicker {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #drafts: Drafts;

  constructor(ctx: Ctx, server: Server, sessions: Sessions, drafts: Drafts) {
    this.#ctx = ctx;
    this.#server = server;
    this.#sessions = sessions;
    this.#drafts = drafts;
  }

  register(): void {
    this.#ctx.command("pickSession", () => this.#pick());
    this.#ctx.command("forkSession", (session?: SessionInfo) => this.#with(session, (one) => this.#fork(one)));
    this.#ctx.command("renameSession", (session?: SessionInfo) => this.#with(session, (one) => this.#rename(one)));
    this.#ctx.command("deleteSession", (session?: SessionInfo) => this.#with(session, (one) => this.#delete(one)));
  }

  async #pick(): Promise<void> {
    this.#server.needed();
    const picker = vscode.window.createQuickPick<vscode.QuickPickItem>();
    picker.title = "Sessions of this workspace";
    picker.placeholder = "Go on with…";
    picker.matchOnDetail = true;
    picker.busy = true;
    picker.show();
    const closed = new Promise<void>((resolve) => picker.onDidHide(() => resolve()));
    try {
      const listed = new Listing(this.#server);
      const fill = async (): Promise<void> => {
        await listed.more();
        const items = listed.sessions.map((one) => this.#line(one));
        picker.items = listed.hasMore ? [...items, MORE] : items;
        picker.busy = false;
      };
      picker.onDidAccept(() => {
        const [line] = picker.activeItems as readonly Line[];
        if (line === MORE) {
          void fill();
        } else if (line && "session" in line) {
          picker.hide();
          void this.#open(line.session);
        }
      });
      picker.onDidTriggerItemButton(({ button, item }) => {
        picker.hide();
        void this.#button(button, (item as SessionItem).session);
      });
      await fill();
      await closed;
    } finally {
      picker.dispose();
    }
  }

  #line(session: SessionInfo): SessionItem & vscode.QuickPickItem {
    return { ...sessionItem(session, this.#sessions.shownId, Date.now()), buttons: [TRACE, FORK, RENAME, DELETE] };
  }

  #button(button: vscode.QuickInputButton, session: SessionInfo): Thenable<unknown> {
    const command = COMMANDS.get(button) ?? "openSession";
    return vscode.commands.executeCommand(`agentLsp.${command}`, session);
  }

  async #open({ sessionId }: SessionInfo): Promise<void> {
    await vscode.commands.executeCommand("agentLsp.openSession", sessionId);
  }

  /** The given session, else the one on screen. */
  async #with(session: SessionInfo | undefined, work: (session: SessionInfo) => Promise<void>): Promise<void> {
    const one = session?.sessionId === undefined ? this.#sessions.shown : session;
    if (one) {
      await work(one);
    }
  }

  async #fork({ sessionId }: SessionInfo): Promise<void> {
    this.#sessions.adopt(await this.#server.request("agent/session/fork", { sessionId }));
    await vscode.commands.executeCommand("agentLsp.openChat");
  }

  async #rename({ sessionId, title }: SessionInfo): Promise<void> {
    const ask = "Let the model find one";
    const given = await vscode.window.showInputBox({
      title: "Title of the session",
      value: title ?? "",
      prompt: `Leave it empty: ${ask.toLowerCase()}.`,
    });
    if (given === undefined) {
      return;
    }
    const before = this.#sessions.get(sessionId);
    if (!before) {
      await this.#server.request("agent/session/resume", { sessionId });
    }
    if (given.trim() === "") {
      await this.#server.request("agent/title", { sessionId });
    } else {
      await this.#sessions.update({ sessionId, title: given.trim() });
    }
    if (!before) {
      await this.#sessions.close(sessionId);
    }
  }

  async #delete({ sessionId, title }: SessionInfo): Promise<void> {
    const detail = "Its conversation is removed for good. Files that were edited stay as they are.";
    const question = `Delete “${title ?? "Untitled"}”?`;
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, "Delete");
    if (answer === "Delete") {
      await this.#sessions.delete(sessionId);
      this.#drafts.set(sessionId, { text: "", attachments: [] });
    }
  }
}

/** The sessions of all roots, page by page. */
class Listing {
  readonly #server: Server;
  readonly #cursors: Map<string | undefined, string | undefined>;
  #lists: SessionInfo[][] = [];

  constructor(server: Server) {
    this.#server = server;
    const uris = roots().map(({ uri }) => uri);
    this.#cursors = new Map((uris.length > 0 ? uris : [undefined]).map((uri) => [uri, ""]));
  }

  get sessions(): SessionInfo[] {
    return merged(this.#lists);
  }

  get hasMore(): boolean {
    return this.#cursors.size > 0;
  }

  /** The next page of each root that has one. */
  async more(): Promise<void> {
    for (const [workspace, cursor] of [...this.#cursors]) {
      const { sessions, nextCursor } = await this.#server.request("agent/session/list", {
        limit: PAGE,
        ...(workspace === undefined ? {} : { workspace }),
        ...(cursor ? { cursor } : {}),
      });
      this.#lists = [...this.#lists, sessions];
      if (nextCursor === undefined) {
        this.#cursors.delete(workspace);
      } else {
        this.#cursors.set(workspace, nextCursor);
      }
    }
  }
}
