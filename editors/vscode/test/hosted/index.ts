/** Runs every test of this folder, one after the other, and writes down how each ended. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { model, prepare } from "./stage";
import "./decisions.test";
import "./documents.test";
import "./edits.test";
import "./life.test";
import "./server.test";
import { tests } from "./testing";

const ROOT = process.env.AGENT_LSP_HOSTED_ROOT ?? "";
const ONLY = process.env.AGENT_LSP_HOSTED_ONLY ?? "";

export async function run(): Promise<void> {
  const lines: string[] = [];
  let failed = 0;
  await prepare(ROOT);
  for (const { name, body } of tests.filter((test) => test.name.includes(ONLY))) {
    const began = Date.now();
    try {
      model.reset();
      await body();
      lines.push(`ok    ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      lines.push(`FAIL  ${name}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    writeFileSync(join(ROOT, "results.txt"), lines.join("\n"));
  }
  if (failed > 0) {
    throw new Error(`${failed} of ${lines.length} failed`);
  }
}
