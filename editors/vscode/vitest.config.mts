import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "host", include: ["test/unit/host/**/*.test.ts"], environment: "node" } },
      { test: { name: "view", include: ["test/unit/view/**/*.test.ts"], environment: "jsdom" } },
    ],
  },
});
