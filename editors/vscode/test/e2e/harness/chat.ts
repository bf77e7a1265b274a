/** The chat view as a person uses it: found by roles and names wherever there are any. */

import { setTimeout as delay } from "node:timers/promises";
import { expect, type FrameLocator, type Locator } from "@playwright/test";
import { DECISION_GRACE_MS } from "../../../src/shared/bridge";
import type { Workbench } from "./workbench";

export type State = "idle" | "running" | "waiting_approval" | "reconnecting" | "compacting" | "stopping";

export class Chat {
  constructor(private readonly bench: Workbench) {}

  get frame(): FrameLocator {
    return this.bench.view;
  }

  get app(): Locator {
    return this.frame.locator("#app");
  }

  get composer(): Locator {
    return this.frame.getByRole("textbox", { name: "Message" });
  }

  get transcript(): Locator {
    return this.frame.getByRole("feed");
  }

  /** The rows on screen or near it, of one kind if it is given. */
  rows(kind?: string): Locator {
    return this.transcript.locator(kind ? `article[data-kind="${kind}"]` : "article");
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole("button", { name });
  }

  get approval(): Locator {
    return this.frame.getByRole("group", { name: /^Approval needed/ });
  }

  get queued(): Locator {
    return this.frame.getByRole("list", { name: "Queued" }).getByRole("listitem");
  }

  /** What a screen reader is told. */
  get announced(): Locator {
    return this.frame.getByRole("status");
  }

  /** Shows the view, with the keyboard in the composer. */
  async open(): Promise<void> {
    await this.bench.command("Agent: Open Chat");
    await expect(this.composer).toBeVisible({ timeout: 60_000 });
  }

  /** An empty session in the view. A command runs some time after it was chosen: it is only used where its end shows. */
  async fresh(): Promise<void> {
    await this.open();
    await expect(this.frame.getByTestId("banner")).toBeHidden();
    await this.app.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    if ((await this.app.getAttribute("data-session")) !== "") await this.bench.command("Agent: New Session");
    await expect(this.app).toHaveAttribute("data-session", "");
    await expect(this.rows()).toHaveCount(0);
    await this.reaches("idle");
  }

  /** Answers the approval that is open, once it may be answered. */
  async decide(answer: "Allow" | "Deny", reason?: string): Promise<void> {
    await expect(this.approval).toBeVisible();
    await this.gracePassed();
    if (reason !== undefined) await this.approval.getByRole("textbox", { name: /^Reason/ }).fill(reason);
    await this.approval.getByRole("button", { name: answer, exact: true }).click();
  }

  /** Answers count only after a while, by the clocks of host and view: there is no condition to wait for but time. */
  async gracePassed(): Promise<void> {
    await delay(DECISION_GRACE_MS + 150);
  }

  async unfold(row: Locator): Promise<void> {
    const button = row.locator("[aria-expanded=false]").first();
    if ((await button.count()) > 0) await button.click();
  }

  /** Presses Stop; fails unless the view says within that time, by its own clock, that it is stopping or has stopped. */
  async stopsWithin(milliseconds: number): Promise<void> {
    const took = await this.app.evaluate(async (app) => {
      const stop = [...app.querySelectorAll("button")].find(
        (one) => one.textContent.trim().startsWith("Stop") && one.offsetParent,
      );
      if (!stop) throw new Error("there is no Stop button");
      const began = performance.now();
      const shown = new Promise<void>((resolve) => {
        const look = () => {
          const { state } = app.dataset; // a run may have ended before a single frame is drawn
          if (state === "stopping" || state === "idle" || app.textContent.includes("Stopping…")) resolve();
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
      stop.click();
      await shown;
      return performance.now() - began;
    });
    expect(took).toBeLessThan(milliseconds);
  }

  /** Throws the page away and lets the editor make it anew. */
  async reload(): Promise<void> {
    await this.bench.command("View: Toggle Secondary Side Bar Visibility");
    await expect(this.bench.shownViews).toHaveCount(0);
    await this.open();
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  async reaches(state: State, timeoutMs = 20_000): Promise<void> {
    await expect(this.app).toHaveAttribute("data-state", state, { timeout: timeoutMs });
  }

  /** Runs a task to its end. */
  async run(text: string): Promise<void> {
    await this.send(text);
    await expect(this.rows("user").filter({ hasText: text })).toBeVisible();
    await this.reaches("idle");
  }

  /** Lets the session of the view do more, or less, without asking. */
  async approves(mode: "ask" | "auto-edit" | "allow-all" | "read-only"): Promise<void> {
    await this.bench.command("Agent: Choose Approval Mode…");
    await this.bench.choice(mode).first().click();
    await expect(this.frame.getByRole("combobox", { name: "Approvals" })).toHaveValue(mode);
  }

  /** Waits until the host has the draft that is in the composer: it is handed over when typing pauses. */
  async draftKept(): Promise<void> {
    await expect(this.app).toHaveAttribute("data-draft", "kept");
  }

  /** The words of all answers on screen or near it that match, in order. */
  async words(pattern: RegExp): Promise<string[]> {
    const texts = await this.rows("text").allInnerTexts();
    return texts
      .join(" ")
      .split(/\s+/)
      .filter((word) => pattern.test(word));
  }

  async distanceFromBottom(): Promise<number> {
    return this.transcript.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
  }

  /** How many rows are in the page. */
  async mounted(): Promise<number> {
    return this.rows().count();
  }

  async focusIsWithin(place: Locator): Promise<boolean> {
    return place.evaluate((element) => element.contains(element.ownerDocument.activeElement));
  }

  /** Presses Tab until the keyboard is there. */
  async tabTo(target: Locator): Promise<void> {
    for (let presses = 0; presses < 30; presses++) {
      if (await this.focusIsWithin(target)) return;
      await this.bench.page.keyboard.press("Tab");
    }
    throw new Error("30 presses of Tab do not lead there");
  }

  /** How far the page can be scrolled sideways, in CSS pixels. */
  async sidewaysScroll(): Promise<number> {
    return this.app.evaluate(() =>
      Math.max(
        0,
        ...[document.scrollingElement, document.querySelector("[role=feed]")].map((one) =>
          one ? one.scrollWidth - one.clientWidth : 0,
        ),
      ),
    );
  }
}
