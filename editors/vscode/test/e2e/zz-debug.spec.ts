import { test } from "./harness/fixtures";
import { say, turn } from "./harness/scripted-model";
test("debug", async ({ bench, page, chat, server, model }) => {
  test.setTimeout(60000);
  await chat.open();
  await page.waitForTimeout(1000);
  await chat.app.evaluate(() => { addEventListener("message", (e) => console.log("<<", JSON.stringify(e.data).slice(0, 300))); addEventListener("keydown", (e) => console.log("key", e.key, e.isComposing, e.keyCode, document.activeElement?.outerHTML.slice(0, 80)), true); });
  page.on("console", (m) => console.log("C", m.text().slice(0, 400)));
  model.script(turn(say("x")));
  await chat.composer.fill("go");
  await chat.composer.press("Enter");
  await page.waitForTimeout(5000);
  console.log(await chat.app.evaluate((a) => a.dataset.state + " " + a.textContent.slice(0, 300)), model.asked.length);
  const fs = await import("node:fs");
  const walk = (d: string): string[] => fs.readdirSync(d, { recursive: true, encoding: "utf8" }).filter((n) => /\.log$/.test(n)).map((n) => d + "/" + n);
  for (const l of walk(server.root + "/server/data/logs")) { if (/gent/.test(l)) console.log("LOG", l, fs.readFileSync(l, "utf8").slice(-2500)); }
});
