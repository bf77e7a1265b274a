/** What must not happen in any test: a script error, a violation of the policy, a request to another machine. */

import type { BrowserContext, Page } from "@playwright/test";

/** What the editor logs of its own, about itself and the extensions it brings, is no fault of this one. */
function isOfTheEditor(url: string, text: string): boolean {
  return url.endsWith("/workbench.js") && !text.includes("agent-lsp.agent-lsp");
}

/** Files that the editor asks for and does without. */
const NOISE = [
  /vsda/,
  /templates\.png/,
  /ERR_NAME_NOT_RESOLVED/,
  /An iframe which has both allow-scripts and allow-same-origin/,
  /Unrecognized feature/,
  /\/update\/check|\/mint-key/,
  /ServiceWorker|when fetching the script/,
];

export class Watch {
  readonly requests: string[] = [];
  private readonly faults: string[] = [];

  /** Begins to watch a page; to be called before it goes anywhere. */
  async over(context: BrowserContext, page: Page): Promise<void> {
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        // eslint-disable-next-line no-console -- the only way out of any frame
        console.error(
          `policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${String(event.lineNumber)} ${event.sample}`,
        );
      });
    });
    page.on("pageerror", (error) => this.note(`script error: ${error.message}\n${error.stack ?? ""}`));
    page.on("console", (message) => {
      const { url } = message.location();
      if (message.type() !== "error" || isOfTheEditor(url, message.text())) return;
      this.note(`console: ${message.text()} (${url})`);
    });
    page.on("request", (request) => this.requests.push(request.url()));
  }

  /** Requests that left this machine, or tried to, since the last call. */
  outside(): string[] {
    return this.requests
      .splice(0)
      .filter((url) => /^(https?|wss?|ftp):/.test(url) && new URL(url).hostname !== "127.0.0.1");
  }

  /** What went wrong since the last call. */
  take(): string[] {
    return this.faults.splice(0);
  }

  private note(fault: string): void {
    if (!NOISE.some((pattern) => pattern.test(fault))) this.faults.push(fault);
  }
}
