/** What the view makes of a session that is begun while the host has something else in mind. */

import { expect, test } from "@playwright/test";
import { serveView, show } from "./viewPage";

let view: Awaited<ReturnType<typeof serveView>>;
test.beforeAll(async () => {
  view = await serveView();
});
test.afterAll(() => view.close());

for (const [when, isBefore] of [
  ["before", true],
  ["after", false],
] as const) {
  test(`a view that is told to show no session ${when} the one it begins is there shows what the host does, and loses no text`, async ({
    page,
  }) => {
    await show(page, view.url, [], { session: null });
    await page.evaluate((before) => {
      const nothing = {
        session: null,
        state: null,
        draft: { text: "", attachments: [] },
        approvals: [],
        questions: [],
      };
      const tell = () => window.fake.receive({ kind: "session", ...nothing });
      window.fake.handlers["agent/session/new"] = () => {
        if (before) tell();
        else queueMicrotask(() => queueMicrotask(() => queueMicrotask(tell)));
        return window.fake.info();
      };
      window.fake.handlers["agent/run"] = () => undefined;
    }, isBefore);

    await page.getByRole("textbox", { name: "Message" }).fill("a text to keep");
    await page.keyboard.press("Enter");

    const asked = () => page.evaluate(() => window.fake.posted.filter(({ method }) => method === "agent/run").length);
    if (isBefore) {
      await expect.poll(asked).toBe(1);
      await expect(page.locator("#app")).toHaveAttribute("data-session", "s");
    } else {
      await expect(page.locator("#app")).toHaveAttribute("data-session", "");
      await expect(page.getByText("Another session was opened meanwhile.")).toBeVisible();
      expect(await asked()).toBe(0);
    }
    await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("a text to keep");
  });
}
