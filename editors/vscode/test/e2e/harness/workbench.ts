/** The editor around the view, as a person sees it. */

import { expect, type FrameLocator, type Locator, type Page } from "@playwright/test";

/** At the right edge of the window: pages in tabs are frames of the extension, too. */
const SHOWN_VIEW = '.webview-overlay-outer-right > iframe.webview.ready[src*="extensionId=agent-lsp.agent-lsp"]';

export class Workbench {
  constructor(readonly page: Page) {}

  /** Goes to a workspace. The editor at times shows one without its folders until it is loaded again. */
  async open(url: string): Promise<void> {
    const rows = this.page.locator(".monaco-workbench .explorer-folders-view .monaco-list-row");
    await expect(async () => {
      await this.page.goto(url, { waitUntil: "domcontentloaded" });
      await rows.first().waitFor({ timeout: 20_000 });
    }).toPass({ timeout: 80_000 });
  }

  /** Runs a command by its title in the palette, which closes by itself when something else takes the keyboard. */
  async command(title: string): Promise<void> {
    const row = this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first();
    await expect(async () => {
      await this.page.keyboard.press("F1");
      await this.quickInput.locator("input.input").fill(`>${title}`, { timeout: 2_000 });
      await row.click({ timeout: 3_000 });
    }).toPass({ timeout: 20_000 });
  }

  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget:visible");
  }

  /** An entry of the list that is open now. */
  choice(text: string | RegExp): Locator {
    return this.quickInput.locator(".monaco-list-row").filter({ hasText: text });
  }

  /** Chooses an entry of a list that may be longer than what is drawn of it. */
  async choose(text: string): Promise<void> {
    await this.quickInput.locator("input.input").fill(text);
    await this.choice(text).first().click();
  }

  get toasts(): Locator {
    return this.page.locator(".notification-toast");
  }

  /** The number on the icon of the extension's side bar. */
  get badge(): Locator {
    return this.page.locator(".part.auxiliarybar .composite-bar .badge:visible");
  }

  status(text: string | RegExp): Locator {
    return this.page.locator(".statusbar-item").filter({ hasText: text });
  }

  /** Opens a file of the workspace by its path. */
  async openFile(path: string): Promise<void> {
    const name = path.split("/").at(-1) ?? path;
    await expect(async () => {
      await this.page.keyboard.press("Control+P");
      await this.quickInput.locator("input.input").fill(path, { timeout: 2_000 });
      await this.choice(name).first().click({ timeout: 3_000 });
    }).toPass({ timeout: 20_000 });
    await expect(this.tab(path)).toBeVisible();
  }

  tab(path: string): Locator {
    return this.page.locator(".tabs-container .tab").filter({ hasText: path.split("/").at(-1) ?? path });
  }

  get editorArea(): Locator {
    return this.page.locator(".part.editor");
  }

  get editor(): Locator {
    return this.page.locator(".editor-group-container.active .monaco-editor").first();
  }

  /** What the active editor shows of its text. The editor draws blanks that do not break: they are turned back. */
  async editorText(): Promise<string> {
    const lines = await this.editor.locator(".view-line").evaluateAll((all) =>
      all
        .map((line) => ({ top: Number.parseFloat((line as HTMLElement).style.top), text: line.textContent }))
        .sort((one, other) => one.top - other.top)
        .map(({ text }) => text),
    );
    return lines.join("\n").replaceAll("\u00a0", " ");
  }

  /** The document of the extension's view while it is shown; two frames deep. */
  get view(): FrameLocator {
    return this.page.frameLocator(SHOWN_VIEW).frameLocator("iframe#active-frame");
  }

  get shownViews(): Locator {
    return this.page.locator(SHOWN_VIEW);
  }

  /** At the first start of the extension its walkthrough opens; it is closed here. */
  async dismissWalkthrough(): Promise<void> {
    await this.tab("Welcome").waitFor({ timeout: 60_000 });
    await this.closeEditors();
  }

  /** A lens above a line of the active editor. */
  lens(text: string): Locator {
    return this.editor.locator(".codelens-decoration a").filter({ hasText: text });
  }

  /** Closes all editors, and throws away what was not saved in them. */
  async closeEditors(): Promise<void> {
    const tabs = this.page.locator(".tabs-container .tab");
    while ((await tabs.count()) > 0) {
      await this.command("View: Revert and Close Editor");
    }
  }

  async sideBarWidth(): Promise<number> {
    return (await this.page.locator(".part.auxiliarybar").boundingBox())?.width ?? 0;
  }

  /** Drags the edge of the secondary side bar. */
  async setSideBarWidth(width: number): Promise<void> {
    const box = await this.page.locator(".part.auxiliarybar").boundingBox();
    if (!box) throw new Error("the secondary side bar is hidden");
    const middle = box.y + box.height / 2;
    await this.page.mouse.move(box.x - 1, middle);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x - 1 + box.width - width, middle, { steps: 4 });
    await this.page.mouse.up();
    await expect.poll(() => this.sideBarWidth()).toBeLessThanOrEqual(width + 4);
  }
}
