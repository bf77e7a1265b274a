/** A call that edits goes through its whole life, and nothing below it moves for whoever reads there. */

import { expect, test } from "@playwright/test";
import { scrollRests } from "../harness/measure";
import { longSession, serveView, show } from "./viewPage";

let view: Awaited<ReturnType<typeof serveView>>;
test.use({ viewport: { width: 420, height: 900 } });
test.beforeAll(async () => {
  view = await serveView();
});
test.afterAll(() => view.close());

const running = { state: { sessionId: "s", state: "running", queued: 0, pendingApprovals: 0 } };
const message = (payload: object) => ({
  timestamp: new Date().toISOString(),
  type: "role" in payload ? "model_msg" : "event_msg",
  payload,
});

test("an edit that asks, is allowed and made moves nothing that is read below it", async ({ page }) => {
  await show(page, view.url, longSession(40), running);
  const feed = page.getByRole("feed");
  await expect(feed).toContainText("Part 37");
  const call = { name: "edit_file", tool_call_id: "e1" };
  const params = JSON.stringify({ file_path: "src/a.py", old_string: "one\ntwo", new_string: "1\n2\n3" });
  const stream = (...messages: object[]) => page.evaluate((all) => window.fake.stream(all), messages);
  await stream(
    message({ type: "tool_call", role: "assistant", ...call, arguments: params }),
    message({ type: "text", role: "assistant", text: "What is read meanwhile.\n\n".repeat(3) }),
  );
  const below = feed.locator("article", { hasText: "What is read meanwhile." });
  await expect(below).toBeVisible();
  await feed.focus();
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => document.querySelector<HTMLElement>(".latest")?.hidden === false);
  const drawn = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await scrollRests(feed);
  const begins = () => below.evaluate((row) => row.getBoundingClientRect().top);
  const from = await begins();
  const card = feed.locator('article[data-call="e1"]');
  const steps: Record<string, () => Promise<void>> = {
    "is asked about": async () => {
      const approval = { key: "w1", shownAt: 0, params: { sessionId: "s", permission: "rw", title: "Edit src/a.py", toolCall: { ...call, arguments: params } } }; // prettier-ignore
      await page.evaluate((one) => window.fake.receive({ kind: "approval", approval: one }), approval);
      await expect(card).toHaveAttribute("data-status", "asking");
    },
    "is allowed": async () => {
      await page.evaluate(() => window.fake.receive({ kind: "approvalResolved", key: "w1", outcome: "allow" }));
      await stream(message({ type: "approval_decision", tool_call_id: "e1", decision: "allow", decided_by: "user" }));
      await expect(card).toHaveAttribute("data-status", "running");
    },
    "is made": async () => {
      await stream(message({ type: "tool_call_output", role: "user", tool_call_id: "e1", output: "Edited src/a.py" }));
      await expect(card).toHaveAttribute("data-status", "done");
    },
    "can be undone": async () => {
      const position = { line: 0, character: 0 };
      const edit = { editId: "1", tool_call_id: "e1", runId: "r1", uri: "file:///a.py", state: "pending", range: { start: position, end: position } }; // prettier-ignore
      await page.evaluate((one) => window.fake.receive({ kind: "edits", sessionId: "s", edits: [one] }), edit);
      await expect(card.getByRole("button", { name: "Undo" })).toBeVisible();
    },
  };
  await expect(card.locator(".diff")).toBeVisible();

  for (const [what, step] of Object.entries(steps)) {
    await step();
    await drawn();
    expect(Math.abs((await begins()) - from), what).toBeLessThanOrEqual(1);
  }
});
