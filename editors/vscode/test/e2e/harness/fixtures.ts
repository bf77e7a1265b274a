/**
 * What every test gets: one editor with the extension, one page and one scripted model per worker, and the check after
 * each test that nothing went wrong behind the scenes. Starting them takes a quarter of a minute, so tests share them
 * and begin with a session of their own.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test as base, type Page } from "@playwright/test";
import { Chat } from "./chat";
import { ScriptedModel } from "./scriptedModel";
import { VsCodeServer } from "./vscodeServer";
import { Watch } from "./watch";
import { Workbench } from "./workbench";

/** Prompt tokens at which the engine compacts in these tests. */
export const COMPACTION_AT_TOKENS = 60_000;
export const ARTIFACTS = `${__dirname}/../../../artifacts`;

export interface Stage {
  readonly server: VsCodeServer;
  readonly model: ScriptedModel;
  readonly page: Page;
  readonly watch: Watch;
  readonly bench: Workbench;
  readonly chat: Chat;
}

interface WorkerOptions {
  readonly trusted: boolean;
  /** Further settings of the editor from its start. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** `null`: the scripted model; else `provider/model`. */
  readonly defaultModel: string | null;
  /** Whether the tests want to see the walkthrough that opens at the first start. */
  readonly firstStart: boolean;
  /** Further configuration of the agent's server, as TOML: tables. */
  readonly config: string;
  /** Whether the agent's server contacts nothing but this machine. */
  readonly agentOffline: boolean;
  /** Whether the tests install the extension themselves, into an editor where nothing of ours is set. */
  readonly bare: boolean;
}

interface TestFixtures {
  readonly server: VsCodeServer;
  readonly model: ScriptedModel;
  readonly bench: Workbench;
  readonly chat: Chat;
  readonly watch: Watch;
  /** Takes a picture that is kept whether or not the test passes. */
  readonly picture: (name: string) => Promise<void>;
  readonly nothingWentWrong: undefined;
}

export const test = base.extend<TestFixtures, WorkerOptions & { stage: Stage }>({
  trusted: [true, { option: true, scope: "worker" }],
  settings: [{}, { option: true, scope: "worker" }],
  defaultModel: [null, { option: true, scope: "worker" }],
  firstStart: [false, { option: true, scope: "worker" }],
  config: ["", { option: true, scope: "worker" }],
  agentOffline: [false, { option: true, scope: "worker" }],
  bare: [false, { option: true, scope: "worker" }],

  stage: [
    async ({ browser, trusted, settings, defaultModel, config, agentOffline, firstStart, bare }, use) => {
      const model = await ScriptedModel.start();
      const server = new VsCodeServer({
        trusted,
        settings,
        config: configuration(model.url, defaultModel, agentOffline) + config,
        bare,
      });
      try {
        await server.start();
        const context = await browser.newContext({
          viewport: { width: 1280, height: 860 },
          permissions: ["clipboard-read", "clipboard-write"],
        });
        const page = await context.newPage();
        const watch = new Watch();
        await watch.over(context, page);
        const bench = new Workbench(page);
        await bench.open(server.url);
        if (!firstStart && !bare) await bench.dismissWalkthrough();
        await use({ server, model, page, watch, bench, chat: new Chat(bench) });
        await context.close();
      } finally {
        await model.close();
        await server.stop();
      }
    },
    { scope: "worker", timeout: 180_000 },
  ],

  page: ({ stage }, use) => use(stage.page),
  server: ({ stage }, use) => use(stage.server),
  model: ({ stage }, use) => use(stage.model),
  bench: ({ stage }, use) => use(stage.bench),
  chat: ({ stage }, use) => use(stage.chat),
  watch: ({ stage }, use) => use(stage.watch),

  picture: async ({ page }, use) => {
    await use(async (name) => {
      await page.screenshot({ path: `${ARTIFACTS}/pictures/${name}.png` });
    });
  },

  nothingWentWrong: [
    async ({ stage }, use, info) => {
      stage.model.reset();
      stage.watch.take();
      await use(undefined);
      if (info.status !== info.expectedStatus) {
        await stage.page.screenshot({
          path: `${ARTIFACTS}/failures/${info.titlePath
            .slice(1)
            .join(" ")
            .replace(/[^\w]+/g, "-")}-${info.retry}.png`,
        });
      }
      expect(stage.watch.take(), "script errors, violations of the policy").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Keeps figures beside the pictures. */
export function keepFigures(name: string, figures: object): void {
  mkdirSync(ARTIFACTS, { recursive: true });
  writeFileSync(`${ARTIFACTS}/figures-${name}.json`, `${JSON.stringify(figures, undefined, 2)}\n`);
}

function configuration(modelUrl: string, defaultModel: string | null, offline: boolean): string {
  return `
default_model = "${defaultModel ?? "script/one"}"
titles = false
offline = ${offline}

[providers.script]
api = "openai-chat"
base_url = "${modelUrl}"

[providers.script.models.one]
context_window = 100000
vision = true
prices = { input = 3.0, output = 15.0 }

[providers.script.models.unknown]

[compaction]
max_context_length = ${COMPACTION_AT_TOKENS}
`;
}
