/** What the engine does by itself is in sight: the gauge, compactions, failures of requests. */

import { COMPACTION_AT_TOKENS, expect, test } from "./harness/fixtures";
import { Gate, refuse, say, turn, turnOf, use } from "./harness/scriptedModel";

test.use({
  config: `
[reconnect]
base_ms = 10

[mcp_servers.sample]
command = "${process.execPath}"
args = ["${__dirname}/harness/mcpServer.mjs"]

[mcp_servers.broken]
command = "${process.execPath}"
args = ["${__dirname}/harness/mcpServer.mjs", "fail"]

[mcp_servers.far]
url = "https://tools.example.org/mcp"
`,
  agentOffline: true,
});

test.beforeEach(({ chat }) => chat.fresh());

test("servers of tools say whether they are ready, with how many tools, off, or why they failed", async ({
  chat,
  model,
  picture,
}) => {
  model.script(turn(say("With tools.")));
  await chat.run("go");

  const card = chat.rows("mcp").last();
  await chat.unfold(card);
  await expect(card).toContainText(/sample.*1 tool/s);
  await expect(card).toContainText(/broken.*failed/s);
  const far = card.getByRole("listitem").filter({ hasText: "far" });
  await expect(far).toContainText(/off: .*offline/);
  await expect(far).not.toContainText("failed");
  await picture("mcp");
});

test("the gauge shows tokens, window, share and cost, and stands at the mark when the engine compacts", async ({
  chat,
  model,
  picture,
}) => {
  const gate = new Gate();
  model.script(turnOf(30_000, say("Half of it.")));
  await chat.run("go");
  const gauge = chat.frame.getByRole("meter");
  await expect(gauge).toHaveAttribute("aria-valuetext", /30[.,]?0?k?|30,0/i);
  await expect(gauge).toHaveAttribute("aria-valuetext", /100k|100,000/i);
  await expect(chat.frame.locator("[data-testid=cost]")).toContainText("$0.09");
  await picture("gauge");

  model.script(
    turnOf(COMPACTION_AT_TOKENS + 100, use("read_file", { file_path: "README.md" })),
    turn(gate, say("A summary of it all.")),
    turn(say("Going on.")),
  );
  await chat.send("more");
  await gate.reached;
  await chat.reaches("compacting");
  const shown = await gauge.getAttribute("aria-valuenow");
  expect(Number(shown) / COMPACTION_AT_TOKENS).toBeGreaterThan(0.95);
  expect(Number(shown) / COMPACTION_AT_TOKENS).toBeLessThan(1.05);
  gate.open();
  await chat.reaches("idle");

  const card = chat.rows("compaction").last();
  await expect(card).toContainText(/60[.,]?\d*k|59[.,]\d*k|59,5\d\d/i);
  await picture("compaction");
  await chat.unfold(card);
  await expect(card).toContainText("A summary of it all.");
  await expect(chat.rows("text").first()).toContainText("Half of it.");
});

test("an unknown window or price shows no made-up figure", async ({ chat, model, bench }) => {
  await bench.command("Agent: Choose Model…");
  await bench.choice("unknown").first().click();
  await expect(chat.frame.getByRole("combobox", { name: "Model" })).toHaveValue("script/unknown");
  model.script(turnOf(1234, say("Hello.")));
  await chat.run("go");

  await expect(chat.frame.getByRole("meter")).toHaveAttribute("aria-valuetext", /^1\.2k tokens$/);
  await expect(chat.frame.locator("[data-testid=cost]")).toBeHidden();
});

test("a run that fails says why in plain words, and the next one goes on", async ({ chat, model, picture }) => {
  model.script(...Array.from({ length: 6 }, () => refuse(400, "this model has no such feature")));
  await chat.run("go");
  await expect(chat.rows("error").last()).toContainText("this model has no such feature");
  await picture("failure");

  model.script(turn(say("Better.")));
  await chat.run("again");
  await expect(chat.rows("text").last()).toContainText("Better.");
});
