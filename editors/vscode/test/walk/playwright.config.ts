import { defineConfig } from "@playwright/test";
import e2e from "../e2e/playwright.config";

/** A walk is gone once: what a person would have to try twice is not as the page says. */
export default defineConfig(e2e, {
  testDir: ".",
  outputDir: "../../artifacts/walk-results",
  retries: 0,
  timeout: 6 * 60_000,
  reporter: [["list", { printSteps: true }]],
});
