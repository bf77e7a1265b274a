/** What must not happen in any test: a script error, a violation of the policy, a request to another machine. */

import type { BrowserContext, Page } from "@playwright/test";

/** What the editor itself says in every session, with or without the extension. */
const NOISE = [
  /vsda/,
  /templates\.png/,
  /build\/Release\/watchdog/,
  /ERR_NAME_NOT_RESOLVED/,
  // Errors without a text are those of a built-in extension that cannot reach its maker.
  /An unknown error occurred\. Please consult the log/,
  /Aborted onWillSaveTextDocument-event/,
  /IndexedDB database 'vscode-web-db' is closed/,
  /Long running operations during shutdown/,
  /Timed out waiting for authentication provider/,
  /An iframe which has both allow-scripts and allow-same-origin/,
  /Found unexpected null|punycode|Unrecognized feature/,
  /Ignoring fetching additional builtin extensions/,
  /navigator is now a global/,
  /\/update\/check|\/mint-key|getServerKeyPart/,
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
      if (message.type() === "error") this.note(`console: ${message.text()} (${message.location().url})`);
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
