import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: ".",
  outputDir: "../../artifacts/results",
  workers: 1,
  retries: 1,
  forbidOnly: true,
  timeout: 90_000,
  globalTimeout: 18 * 60_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["./harness/flakyReporter.ts"]],
  use: {
    actionTimeout: 20_000,
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // As root the sandbox of the browser does not start; the pages are our own.
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    },
  },
});
