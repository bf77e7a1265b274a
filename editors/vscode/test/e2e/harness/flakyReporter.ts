/** Names at the end every test that passed only when it was run again. */

import type { Reporter, TestCase } from "@playwright/test/reporter";

export default class FlakyReporter implements Reporter {
  private readonly flaky = new Set<string>();

  onTestEnd(test: TestCase): void {
    if (test.outcome() === "flaky") this.flaky.add(test.titlePath().filter(Boolean).join(" › "));
  }

  onEnd(): void {
    for (const title of this.flaky) {
      process.stdout.write(`FLAKY ${title}\n`);
    }
  }

  printsToStdio(): boolean {
    return false;
  }
}
