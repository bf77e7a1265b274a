import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the extension and the server it carries have one version", () => {
  const server = /^__version__ = "(.+)"$/m.exec(read("../../../../../agent_lsp/__init__.py"))?.[1];
  const extension = (JSON.parse(read("../../../package.json")) as { version: string }).version;

  expect(extension).toBe(server);
});
