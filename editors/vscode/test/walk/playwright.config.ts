import { defineConfig } from "@playwright/test";
import e2e from "../e2e/playwright.config";

/** One that fails is gone once more, and told as FLAKY. */
export default defineConfig(e2e, {
  testDir: ".",
  outputDir: "../../artifacts/walk-results",
  timeout: 6 * 60_000,
  reporter: [["list", { printSteps: true }], ["../e2e/harness/flakyReporter.ts"]],
});
