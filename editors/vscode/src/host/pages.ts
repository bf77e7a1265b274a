import * as vscode from "vscode";
import { MOST_PAGE_BYTES, inColours, tooLarge, type Theme } from "../logic/pages";
import { ERROR_CODES, type PageAnswer, type SessionInfo } from "../shared/protocol";
import { told } from "./connection";
import type { Ctx } from "./ctx";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

const TAB = "agentLsp.page";
const USAGE = "usage";
const OPEN_IN_BROWSER = "Open in Browser";

/** A page in a tab. `make` has the server make it anew. */
interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly make: Make;
  uri: vscode.Uri;
}

type Make = (token: vscode.CancellationToken) => Promise<PageAnswer>;

/**
 * The server's pages of sessions and of what was used, each in a tab of its own. They are shown as they were made, with
 * their own policy: that works wherever the window is, where a browser would look for the file on another machine.
 */
export class Pages {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #tabs = new Map<string, Tab>();

  constructor(ctx: Ctx, server: Server, sessions: Sessions) {
    this.#ctx = ctx;
    this.#server = server;
    this.#sessions = sessions;
    ctx.own(vscode.window.onDidChangeActiveColorTheme(() => this.#redrawAll()));
    ctx.own(sessions.onDidChange((change) => change.kind === "deleted" && this.#close(change.sessionId)));
    ctx.own(new vscode.Disposable(() => this.#closeAll()));
  }

  register(): void {
    this.#ctx.command("showTrace", (session?: SessionInfo) => this.showTrace(session));
    this.#ctx.command("showUsage", () => this.showUsage());
    this.#ctx.command("refreshPage", () => this.#refresh());
    this.#ctx.command("openPageInBrowser", () => this.#openInBrowser());
  }

  /** Shows the trace of a session, by default of the one on screen. */
  async showTrace(given?: SessionInfo): Promise<void> {
    const session = given?.sessionId === undefined ? this.#sessions.shown : given;
    if (!session) {
      void vscode.window.showInformationMessage("There is no session yet.");
      return;
    }
    const { sessionId, title } = session;
    try {
      await this.#show(sessionId, `Trace: ${title ?? "Untitled"}`, (token) =>
        this.#server.request("agent/session/page", { sessionId }, token),
      );
    } catch (error) {
      if (told(error).code !== ERROR_CODES.sessionNotFound) {
        throw error;
      }
      void vscode.window.showInformationMessage("Nothing was said in this session yet.");
    }
  }

  /** Shows what all sessions have used. */
  showUsage(): Promise<void> {
    return this.#show(USAGE, "Agent Usage", (token) => this.#server.request("agent/usage/page", {}, token));
  }

  /** The tab that has the keyboard, or shows in the group that has. */
  get #active(): [string, Tab] | undefined {
    return [...this.#tabs].find(([, { panel }]) => panel.active);
  }

  async #show(key: string, title: string, make: Make): Promise<void> {
    const uri = await made(title, make);
    const page = await read(uri);
    if (page === undefined) {
      return;
    }
    const tab = this.#tabs.get(key) ?? this.#begin(key, title, make, uri);
    tab.uri = uri;
    tab.panel.title = title;
    tab.panel.webview.html = page;
    tab.panel.reveal();
  }

  #begin(key: string, title: string, make: Make, uri: vscode.Uri): Tab {
    const panel = vscode.window.createWebviewPanel(TAB, title, vscode.ViewColumn.Active, {
      enableScripts: true, // its own, by its policy: to find words and to unfold
      enableFindWidget: true,
      enableForms: false,
      localResourceRoots: [],
    });
    const tab = { panel, make, uri };
    this.#tabs.set(key, tab);
    panel.onDidDispose(() => this.#tabs.delete(key));
    return tab;
  }

  async #refresh(): Promise<void> {
    const [key, tab] = this.#active ?? [];
    if (key !== undefined && tab) {
      await this.#show(key, tab.panel.title, tab.make);
    }
  }

  async #openInBrowser(): Promise<void> {
    const tab = this.#active?.[1];
    if (tab) {
      await vscode.env.openExternal(tab.uri);
    }
  }

  /** In other colours; a page whose file is gone meanwhile stays as it is. */
  #redrawAll(): void {
    for (const [key, { panel, uri }] of this.#tabs) {
      const isOpen = (): boolean => this.#tabs.get(key)?.panel === panel; // it may be closed while the file is read
      read(uri).then(
        (page) => page !== undefined && isOpen() && (panel.webview.html = page),
        (error: unknown) => this.#ctx.log.info(`${uri.toString()} was not drawn again: ${told(error).message}`),
      );
    }
  }

  #close(key: string): void {
    this.#tabs.get(key)?.panel.dispose();
  }

  #closeAll(): void {
    for (const key of [...this.#tabs.keys()]) {
      this.#close(key);
    }
  }
}

/** Has the server make a page, in the sight of the person, who can stop it. */
async function made(title: string, make: Make): Promise<vscode.Uri> {
  const options = { location: vscode.ProgressLocation.Notification, title: `${title}: being made`, cancellable: true };
  return vscode.window.withProgress(options, async (_, token) => {
    try {
      return vscode.Uri.parse((await make(token)).uri, true);
    } catch (error) {
      throw token.isCancellationRequested ? new vscode.CancellationError() : error;
    }
  });
}

/** The page in the colours of the editor; undefined, and said, when it is too large for a tab. */
async function read(uri: vscode.Uri): Promise<string | undefined> {
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MOST_PAGE_BYTES) {
    void sayTooLarge(uri, size);
    return undefined;
  }
  const page = inColours(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)), theme());
  if (page === undefined) {
    throw new Error(`${uri.fsPath} is no page of the agent's server.`);
  }
  return page;
}

async function sayTooLarge(uri: vscode.Uri, size: number): Promise<void> {
  const choices = opensFiles() ? [OPEN_IN_BROWSER] : [];
  const chosen = await vscode.window.showInformationMessage(`${tooLarge(size)} It is ${uri.fsPath}.`, ...choices);
  if (chosen !== undefined) {
    await vscode.env.openExternal(uri);
  }
}

/** Whether the browser of the person sees the files that are here. */
function opensFiles(): boolean {
  return vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
}

function theme(): Theme {
  const { kind } = vscode.window.activeColorTheme;
  return kind === vscode.ColorThemeKind.Dark || kind === vscode.ColorThemeKind.HighContrast ? "dark" : "light";
}
