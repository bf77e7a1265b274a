/** Keys of providers: in secret storage, in the server's environment, and nowhere else. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";

const KEY = "sk-not-a-real-key-0123456789";

test("a key reaches the server's environment and no file", async ({ chat, bench, server, page }) => {
  await chat.fresh();
  await bench.command("Agent: Set API Key…");
  await bench.choice("Anthropic").first().click();
  await bench.quickInput.locator("input").fill(KEY);
  await page.keyboard.press("Enter");

  await expect.poll(() => environmentOf(server.agent?.pid)).toContain(`ANTHROPIC_API_KEY=${KEY}`);
  await chat.reaches("idle");
  expect(filesWith(server.root, KEY)).toEqual([]);

  await bench.command("Agent: Remove API Key…");
  await bench.choice("Anthropic").first().click();
  await expect.poll(() => environmentOf(server.agent?.pid)).not.toContain(`ANTHROPIC_API_KEY=${KEY}`);
});

function environmentOf(pid: number | undefined): string[] {
  try {
    return readFileSync(`/proc/${pid ?? 0}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path).includes(text));
}
