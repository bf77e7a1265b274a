import { join } from "node:path";
import * as vscode from "vscode";
import { Kept } from "./kept";

/** What the parts of the extension share, and what ends with it. Whatever is owned is disposed of last to first. */
export class Ctx implements vscode.Disposable {
  readonly extension: vscode.ExtensionContext;
  /** The output channel *Agent*. */
  readonly log: vscode.LogOutputChannel;
  /** What outlives a reload. */
  readonly kept: Kept;
  readonly #owned: vscode.Disposable[] = [];

  constructor(extension: vscode.ExtensionContext) {
    this.extension = extension;
    this.kept = new Kept(join((extension.storageUri ?? extension.globalStorageUri).fsPath, "kept"));
    this.log = this.own(vscode.window.createOutputChannel("Agent", { log: true }));
  }

  /** Version of the extension, which is that of the server it carries. */
  get version(): string {
    return (this.extension.extension.packageJSON as { version: string }).version;
  }

  /** Takes over the end of something. */
  own<T extends vscode.Disposable>(disposable: T): T {
    this.#owned.push(disposable);
    return disposable;
  }

  /** Registers a command. What it throws is told to the person in one line. */
  command(name: string, run: (...args: never[]) => unknown): void {
    const guarded = async (...args: never[]): Promise<unknown> => {
      try {
        return await run(...args);
      } catch (error) {
        this.tell(error);
        return undefined;
      }
    };
    this.own(vscode.commands.registerCommand(`agentLsp.${name}`, guarded));
  }

  /** Sets a context key that menus and key bindings look at. */
  setContext(key: string, value: unknown): void {
    void vscode.commands.executeCommand("setContext", `agentLsp.${key}`, value);
  }

  /** Tells the person that something did not work; the whole of it is in the log. */
  tell(error: unknown): void {
    if (error instanceof vscode.CancellationError) {
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(error instanceof Error && error.stack ? error.stack : message);
    void vscode.window.showErrorMessage(message, "Show Log").then((chosen) => {
      if (chosen) {
        this.log.show(true);
      }
    });
  }

  dispose(): void {
    for (const disposable of this.#owned.splice(0).reverse()) {
      disposable.dispose();
    }
  }
}
