/** The page of the chat view as the host hands it to the editor: readable before its script runs, and without it. */

export interface PageParts {
  /** `webview.cspSource`. */
  readonly cspSource: string;
  /** Fresh for every page; letters and digits only. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUri: string;
}

/** The policy: nothing from outside, nothing inline, images that came with a message. */
export function policy(cspSource: string, nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    `img-src ${cspSource} data: blob:`,
  ].join("; ");
}

/** The whole document. */
export function chatPage({ cspSource, nonce, scriptUri, styleUri }: PageParts): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(policy(cspSource, nonce))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent</title>
<link rel="stylesheet" href="${attribute(styleUri)}">
</head>
<body>
<main id="app">
<div class="boot" id="boot">
<p class="boot-title">Starting the chat…</p>
<p class="boot-note">If this stays, run the command <em>Agent: Restart Server</em> or <em>Agent: Show Log</em> from the Command Palette (F1).
Your sessions and what you have typed are kept.</p>
</div>
</main>
<script nonce="${attribute(nonce)}" src="${attribute(scriptUri)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
