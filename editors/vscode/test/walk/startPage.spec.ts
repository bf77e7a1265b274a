/**
 * docs/start/vscode.md from its second step on, in an editor that has nothing of ours: the package is installed, the
 * walkthrough followed, the first task given to the rehearsal. `make walk` runs it; pictures go to $PICTURES.
 */

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "../e2e/harness/fixtures";

test.use({ bare: true, settings: { "workbench.colorTheme": "Default Dark Modern" } });

const PACKAGE = process.env.VSIX ?? "";
const PICTURES = process.env.PICTURES ?? `${__dirname}/../../artifacts/walk`;
const INSTALLATION_MS = 240_000;

test("a new user gets from the package to a mended file", async ({ server, page, bench, chat }) => {
  let pictures = 0;
  const step = async (title: string, body: () => Promise<void>): Promise<void> => {
    await test.step(title, body);
    const name = `${String(++pictures).padStart(2, "0")}-${title.replace(/\W+/g, "-")}`;
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  };
  const welcome = bench.editorArea;
  const greeter = (): string => readFileSync(join(server.workspace, "greeter.py"), "utf8");

  await step("install from VSIX", async () => {
    // A window that was opened while its server began may never hear of a place for extensions: load it again.
    await expect(async () => {
      try {
        await bench.command("Extensions: Install from VSIX...");
      } catch (error) {
        await page.reload();
        throw error;
      }
    }).toPass({ timeout: 80_000 });
    const dialog = bench.quickInput.filter({ hasText: "Install from VSIX" });
    const path = dialog.getByRole("textbox");
    await expect(async () => {
      await path.fill(PACKAGE); // the dialog begins with the home folder, even over what was typed already
      await dialog.getByRole("option", { name: basename(PACKAGE) }).waitFor({ timeout: 3_000 });
      await expect(path).toHaveValue(PACKAGE, { timeout: 1_000 });
    }).toPass({ timeout: 30_000 });
    await dialog.getByRole("button", { name: "Install" }).click();
    await expect(bench.toasts.filter({ hasText: "Completed installing" })).toBeVisible({ timeout: 60_000 });
  });

  await step("the walkthrough opens by itself", async () => {
    await expect(welcome).toContainText("Get started with the agent", { timeout: 60_000 });
    await expect(welcome).toContainText("Install the server");
  });

  await step("install the server", async () => {
    await welcome.getByRole("button", { name: "Install Server" }).click();
    await expect(bench.status("being installed")).toBeVisible();
    await expect(welcome.getByRole("checkbox", { name: "Install the server: Completed" })).toBeVisible({
      timeout: INSTALLATION_MS,
    });
  });

  await step("choose a model", async () => {
    await welcome.getByText("Choose a model").click();
    await expect(async () => {
      await welcome.getByRole("button", { name: "Choose Model…" }).click();
      await bench.choice("rehearsal").first().click({ timeout: 3_000 });
    }).toPass({ timeout: 30_000 }); // the list closes when a notification that goes gives the keyboard back
    await expect(bench.status("rehearsal")).toBeVisible();
    await expect(welcome.getByRole("checkbox", { name: "Choose a model: Completed" })).toBeVisible();
  });

  await step("open the chat", async () => {
    await page.keyboard.press("Control+Alt+A");
    await expect(chat.composer).toBeVisible();
    await chat.reaches("idle");
  });

  await step("ask for something", async () => {
    await bench.openFile("greeter.py");
    await bench.setSideBarWidth(460); // lines of code are wide
    await bench.editor.hover();
    await chat.send("fix the greeting in greeter.py");
    await expect(chat.approval).toContainText("Hello");
    await chat.gracePassed(); // until then its buttons are pale
  });

  await step("allow it", async () => {
    await chat.decide("Allow");
    await chat.reaches("idle");
    expect(greeter()).toContain("Hello");
  });

  await step("see it in the file", async () => {
    await chat.button("Show in file").click();
    await expect.poll(() => bench.editorText()).toContain("Hello");
    await expect(bench.lens("Undo")).toBeVisible();
  });

  await step("undo it", async () => {
    await bench.lens("Undo").click();
    await expect.poll(greeter).toContain("Helo");
  });
});
