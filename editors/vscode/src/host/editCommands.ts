import * as vscode from "vscode";
import { editAt, step, type Place, type Standing } from "../logic/edits";
import type { Ctx } from "./ctx";
import type { Edits } from "./edits";
import { vscodeRange } from "./places";
import type { Sessions } from "./sessions";
import type { Settings } from "./settings";

/** *Keep* and *Undo* in the editor: lenses above each edit, marks beside it, and commands for the keyboard. */
export class EditCommands implements vscode.CodeLensProvider {
  readonly #edits: Edits;
  readonly #sessions: Sessions;
  readonly #settings: Settings;
  readonly #mark: vscode.TextEditorDecorationType;
  readonly onDidChangeCodeLenses: vscode.Event<void>;

  constructor(ctx: Ctx, edits: Edits, sessions: Sessions, settings: Settings) {
    this.#edits = edits;
    this.#sessions = sessions;
    this.#settings = settings;
    const lenses = ctx.own(new vscode.EventEmitter<void>());
    this.onDidChangeCodeLenses = lenses.event;
    this.#mark = ctx.own(
      vscode.window.createTextEditorDecorationType({
        isWholeLine: true,
        borderStyle: "solid",
        borderWidth: "0 0 0 2px",
        borderColor: new vscode.ThemeColor("editorGutter.addedBackground"),
        overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
      }),
    );
    ctx.own(vscode.languages.registerCodeLensProvider({ scheme: "file" }, this));
    const changed = (): void => {
      lenses.fire();
      vscode.window.visibleTextEditors.forEach((editor) => this.#decorate(editor));
    };
    ctx.own(edits.onDidChange(changed));
    ctx.own(settings.onDidChange(changed));
    ctx.own(
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.#decorate(editor))),
    );
    this.#register(ctx);
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.#settings.codeLens) {
      return [];
    }
    return this.#in(uri).flatMap(({ range, sessionId, editId }) => {
      const line = new vscode.Range(range.start.line, 0, range.start.line, 0);
      const lens = (title: string, command: string): vscode.CodeLens =>
        new vscode.CodeLens(line, { title, command, arguments: [{ sessionId, editId }] });
      return [lens("Keep", "agentLsp.keepEdit"), lens("Undo", "agentLsp.undoEdit")];
    });
  }

  /** Goes to the next edit that stands, or the one before. */
  async step(direction: "next" | "previous"): Promise<void> {
    const found = step(this.#edits.standing, here(), direction);
    if (!found) {
      void vscode.window.showInformationMessage("No edit of the agent waits to be kept or undone.");
      return;
    }
    const at = vscodeRange(found.range).start;
    await vscode.window.showTextDocument(vscode.Uri.parse(found.uri), { selection: new vscode.Range(at, at) });
  }

  #register(ctx: Ctx): void {
    ctx.command("nextEdit", () => this.step("next"));
    ctx.command("previousEdit", () => this.step("previous"));
    ctx.command("keepEdit", (chosen?: Chosen) => this.#one("keep", chosen));
    ctx.command("undoEdit", (chosen?: Chosen) => this.#one("undo", chosen));
    for (const what of ["keep", "undo"] as const) {
      ctx.command(`${what}File`, () => this.#all(what, this.#in(vscode.window.activeTextEditor?.document.uri)));
      ctx.command(`${what}Run`, () => this.#lastRun(what));
      ctx.command(`${what}All`, () =>
        this.#all(
          what,
          this.#edits.standing.filter(({ sessionId }) => sessionId === this.#sessions.shownId),
        ),
      );
    }
  }

  async #one(what: "keep" | "undo", chosen: Chosen | undefined): Promise<void> {
    const edit = chosen ?? editAt(this.#edits.standing, here());
    if (!edit) {
      void vscode.window.showInformationMessage("Put the cursor into an edit of the agent first.");
      return;
    }
    await this.#edits[what]({ sessionId: edit.sessionId, editIds: [edit.editId] });
  }

  async #lastRun(what: "keep" | "undo"): Promise<void> {
    const sessionId = this.#sessions.shownId;
    const last =
      sessionId === undefined ? undefined : this.#edits.of(sessionId).findLast(({ state }) => state === "pending");
    if (sessionId === undefined || !last) {
      void vscode.window.showInformationMessage("No edit of the session waits to be kept or undone.");
      return;
    }
    const { note } = await this.#edits[what]({ sessionId, runId: last.runId });
    remind(what, note);
  }

  /** Session by session. */
  async #all(what: "keep" | "undo", edits: readonly Standing[]): Promise<void> {
    for (const sessionId of new Set(edits.map((edit) => edit.sessionId))) {
      const editIds = edits.filter((edit) => edit.sessionId === sessionId).map(({ editId }) => editId);
      const { note } = await this.#edits[what]({ sessionId, editIds });
      remind(what, note);
    }
  }

  #in(uri: vscode.Uri | undefined): Standing[] {
    return this.#edits.standing.filter((edit) => edit.uri === uri?.toString());
  }

  #decorate(editor: vscode.TextEditor): void {
    editor.setDecorations(
      this.#mark,
      this.#in(editor.document.uri).map(({ range }) => vscodeRange(range)),
    );
  }
}

interface Chosen {
  readonly sessionId: string;
  readonly editId: string;
}

function here(): Place {
  const editor = vscode.window.activeTextEditor;
  const { line, character } = editor?.selection.active ?? { line: 0, character: 0 };
  return { uri: editor?.document.uri.toString(), position: { line, character } };
}

/** What commands have changed is not among the edits: said where somebody may think that all is undone. */
function remind(what: "keep" | "undo", note: string | undefined): void {
  if (what === "undo" && note !== undefined) {
    void vscode.window.showInformationMessage(note);
  }
}
