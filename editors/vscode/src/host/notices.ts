import * as vscode from "vscode";

/** An answer that a notification offers. `command` runs with `args`, which have to fit into JSON. */
export interface Choice {
  readonly title: string;
  readonly command: string;
  readonly args: readonly unknown[];
}

/**
 * A notification that can be answered and taken away again. The editor's messages with buttons stay until somebody closes
 * them; only one that shows progress can be ended by its extension, so it is one of those, with links for answers and one
 * button, *Show*. `text` must have no link in it.
 */
export function notice(text: string, choices: readonly Choice[], show: () => void): vscode.Disposable {
  const links = choices.map(
    ({ title, command, args }) => `[${title}](command:${command}?${encodeURIComponent(JSON.stringify(args))})`,
  );
  const options: vscode.ProgressOptions = {
    location: vscode.ProgressLocation.Notification,
    title: [text, links.join(" · ")].filter((part) => part !== "").join(" — "),
    // A text here labels the button, which the declared type does not know; were it not so, the label would be "Cancel".
    cancellable: "Show" as unknown as boolean,
  };
  let close = (): void => undefined;
  void vscode.window.withProgress(options, (_, token) => {
    token.onCancellationRequested(show);
    return new Promise<void>((resolve) => (close = resolve));
  });
  return new vscode.Disposable(() => close());
}
