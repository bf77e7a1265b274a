/** A folder that is not trusted: the agent reads and plans, and changes nothing. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness/fixtures";
import { say, turn, use } from "./harness/scriptedModel";

test.use({ trusted: false });

test("in a folder that is not trusted nothing is edited and no command runs", async ({
  chat,
  model,
  server,
  bench,
  page,
  picture,
}) => {
  const stay = page.locator(".monaco-dialog-box .monaco-button").filter({ hasText: /^No/ });
  await stay.or(bench.status("Restricted Mode")).first().waitFor();
  if (await stay.isVisible()) await stay.click();
  await chat.fresh();
  model.script(
    turn(
      use("edit_file", { file_path: "greeter.py", old_string: "Helo", new_string: "Hello" }),
      use("exec_command", { cmd: "touch never.txt", description: "a test" }),
      use("read_file", { file_path: "README.md" }),
    ),
    turn(say("I can only read here.")),
  );
  await chat.run("go");

  await picture("untrusted");
  expect(readFileSync(join(server.workspace, "greeter.py"), "utf8")).toContain("Helo");
  expect(existsSync(join(server.workspace, "never.txt"))).toBe(false);
  await expect(chat.rows("tool").last()).toHaveAttribute("data-status", "done");
  await expect(chat.app).toContainText(/not trusted|read.only/i);
});
