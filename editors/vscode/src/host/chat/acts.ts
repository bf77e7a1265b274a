import { statSync } from "node:fs";
import * as vscode from "vscode";
import { pathReference, safeLink } from "../../logic/links";
import { proposedDiff } from "../../logic/patch";
import { NEW_SESSION_DRAFT, type Act } from "../../shared/bridge";
import type { Diffs } from "../diffs";
import type { EditCommands } from "../editCommands";
import { fileOf } from "../mentions";
import { vscodeRange } from "../places";
import { roots } from "../roots";
import type { Texts } from "../transcripts";
import type { Parts } from "./parts";
import type { ChatView } from "./view";

type Doers = { [A in Act["act"]]: (act: Extract<Act, { act: A }>) => unknown };

/** Does what only an editor can do, when the view says that the person wants it. */
export class Acts {
  readonly #parts: Parts;
  readonly #view: ChatView;
  readonly #doers: Doers;

  constructor(parts: Parts, view: ChatView, diffs: Diffs, texts: Texts, edits: EditCommands) {
    this.#parts = parts;
    this.#view = view;
    const { sessions, server, ctx } = parts;
    this.#doers = {
      openDiff: ({ key, uri, diff, title }) =>
        diffs.show({ ...this.#proposed(key, uri, diff), title, workspace: sessions.shown?.workspace }),
      openFile: ({ uri, range }) => openFile(vscode.Uri.parse(uri), range && vscodeRange(range)),
      openPath: ({ path, line }) => this.#openPath(path, line),
      openLink: ({ href }) => openLink(href),
      openText: ({ title, text, language }) => texts.show(title, text, language),
      openTranscript: () => texts.openTranscript(),
      openLog: () => ctx.log.show(),
      openSettings: ({ query }) =>
        vscode.commands.executeCommand("workbench.action.openSettings", query ?? "@ext:agent-lsp.agent-lsp"),
      openWalkthrough: () => vscode.commands.executeCommand("agentLsp.openWalkthrough"),
      installServer: () => vscode.commands.executeCommand("agentLsp.installServer"),
      copy: ({ text }) => vscode.env.clipboard.writeText(text),
      restart: () => server.restart(),
      newSession: ({ workspace }) => sessions.leave(workspace),
      pickSession: () => vscode.commands.executeCommand("agentLsp.pickSession"),
      openSession: ({ sessionId }) => sessions.resume(sessionId),
      pickAttachment: () => this.#pickAttachment(),
      draft: ({ session, draft }) =>
        parts.drafts.set(session === NEW_SESSION_DRAFT ? this.#newDraftKey : session, draft),
      stepEdit: ({ direction }) => edits.step(direction),
    };
  }

  async do(act: Act): Promise<void> {
    const doer = this.#doers[act.act] as ((act: Act) => unknown) | undefined;
    await doer?.(act);
  }

  /** What an approval shows is taken from the approval itself, not from what the view says of it. */
  #proposed(key: string | undefined, uri: string, diff: string): { uri: string | undefined; diff: string } {
    const waiting = key === undefined ? undefined : this.#parts.decisions.book.get(key);
    const proposed = waiting?.kind === "approval" ? proposedDiff(waiting.params.preview) : undefined;
    return proposed ?? { uri: uri === "" ? undefined : uri, diff };
  }

  /** While the server starts, the view knows of no session, but the one that was on screen will be there again. */
  get #newDraftKey(): string | undefined {
    const { server, sessions } = this.#parts;
    return server.status.state === "running" ? undefined : sessions.remembered;
  }

  async #openPath(text: string, line: number | undefined): Promise<void> {
    const { path, line: inText, column } = pathReference(text);
    const bases = [this.#parts.sessions.shown?.workspace, ...roots().map(({ uri }) => uri)].filter(
      (base) => base !== undefined,
    );
    const candidates = path.startsWith("/")
      ? [vscode.Uri.file(path)]
      : bases.map((base) => vscode.Uri.joinPath(vscode.Uri.parse(base), path));
    const file = candidates.find((uri) => statSync(uri.fsPath, { throwIfNoEntry: false })?.isFile() === true);
    if (!file) {
      void vscode.window.setStatusBarMessage(`There is no file ${path}`, 4000);
      return;
    }
    const at = (line ?? inText ?? 0) - 1;
    await openFile(file, at < 0 ? undefined : new vscode.Range(at, (column ?? 1) - 1, at, (column ?? 1) - 1));
  }

  async #pickAttachment(): Promise<void> {
    const chosen = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: "Attach" });
    if (chosen && chosen.length > 0) {
      await this.#view.command({ command: "attach", attachments: chosen.map(fileOf), focus: true }, { reveal: true });
    }
  }
}

async function openFile(uri: vscode.Uri, selection: vscode.Range | undefined): Promise<void> {
  await vscode.window.showTextDocument(uri, { preview: true, ...(selection ? { selection } : {}) });
}

async function openLink(href: string): Promise<void> {
  const link = safeLink(href);
  if (link === undefined) {
    void vscode.window.showWarningMessage("This link is not opened: only http, https and mailto are.");
    return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(link, true));
}
