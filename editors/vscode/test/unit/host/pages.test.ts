import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inColours, tooLarge } from "../../../src/logic/pages";

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`;
const PAGE = `${HEAD}x</title></head><body><html lang="en"></body></html>`;

describe("a page of the server", () => {
  it.each(["light", "dark"] as const)("gets the editor's colours and is otherwise as it was: %s", (theme) => {
    const coloured = inColours(PAGE, theme);
    expect(coloured).toContain(`<html lang="en" data-theme="${theme}">`);
    expect(coloured?.replace(` data-theme="${theme}"`, "")).toBe(PAGE);
  });

  it.each([
    ["nothing", ""],
    ["something else", "<p>hello</p>"],
    ["one without a policy", PAGE.replace(/<meta http.*\n/, "")],
    ["one whose policy lets things load", PAGE.replace("default-src 'none'", "default-src *")],
    ["one with something before its policy", PAGE.replace("<meta charset", "<script>1</script>\n<meta charset")],
  ])("is not %s", (_, page) => {
    expect(inColours(page, "dark")).toBeUndefined();
  });

  it("has both kinds of colours in its style", () => {
    const root = join(import.meta.dirname, "../../../../../agent_lsp");
    for (const style of ["cli/assets/usage.css", "trace/view/assets/page.css"]) {
      const css = readFileSync(join(root, style), "utf8");
      expect(css).toContain(':root[data-theme="dark"]');
      expect(css).toContain(':root[data-theme="light"]');
    }
  });

  it("that is too large is told with its size", () => {
    expect(tooLarge(70 * 1024 * 1024)).toBe("The page has 70 MB, too much for a tab.");
  });
});
