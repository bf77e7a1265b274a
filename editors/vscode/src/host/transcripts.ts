import * as vscode from "vscode";
import { Transcript } from "../logic/transcript";
import type { Ctx } from "./ctx";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

const SCHEME = "agent-lsp-text";
const PAGE = 500;

/** Texts that are shown in an editor and cannot be changed there: whole transcripts, and what is too long for the chat. */
export class Texts implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #server: Server;
  readonly #sessions: Sessions;
  #made = 0;

  constructor(ctx: Ctx, server: Server, sessions: Sessions) {
    this.#server = server;
    this.#sessions = sessions;
    ctx.own(vscode.workspace.registerTextDocumentContentProvider(SCHEME, this));
    ctx.own(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => uri.scheme === SCHEME && this.#texts.delete(uri.toString())),
    );
    ctx.command("openTranscript", () => this.openTranscript());
  }

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.#texts.get(uri.toString());
  }

  /** Shows a text under that title. */
  async show(title: string, text: string, language?: string): Promise<void> {
    this.#made += 1;
    const name = title.replace(/[/\\?#]/g, "-").slice(0, 80) || "text";
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${this.#made}/${name}` });
    this.#texts.set(uri.toString(), text);
    const document = await vscode.workspace.openTextDocument(uri);
    if (language !== undefined && (await vscode.languages.getLanguages()).includes(language)) {
      await vscode.languages.setTextDocumentLanguage(document, language);
    }
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** Shows the whole session on screen as Markdown. */
  async openTranscript(): Promise<void> {
    const session = this.#sessions.shown;
    if (!session) {
      void vscode.window.showInformationMessage("There is no session yet.");
      return;
    }
    const { sessionId } = session;
    const transcript = new Transcript(session);
    let cursor: string | undefined;
    do {
      const page = await this.#server.request("agent/session/history", {
        sessionId,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      transcript.add(page.messages);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    await this.show(`${session.title ?? "Transcript"}.md`, transcript.text, "markdown");
  }
}
