import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockScanner, blocksOf, definitions } from "../../../src/view/markdown/blocks";
import { render, type MarkdownHost } from "../../../src/view/markdown/render";
import { MarkdownView } from "../../../src/view/markdown/markdownView";
import { answerText, piecesOf, sizes } from "./streams";

const host: MarkdownHost = {
  highlighter: { later: () => undefined } as unknown as MarkdownHost["highlighter"],
  copy: () => undefined,
  open: () => undefined,
  openText: () => undefined,
};

function html(node: Node): string {
  const holder = document.createElement("div");
  holder.append(node);
  return holder.innerHTML;
}

describe("settled blocks", () => {
  it("joined are the text", () => {
    fc.assert(fc.property(answerText, (text) => blocksOf(text).join("") === text));
  });

  it("are found alike however the text grows", () => {
    fc.assert(
      fc.property(answerText, sizes, (text, cuts) => {
        const whole = new BlockScanner();
        whole.scan(text);
        const grown = new BlockScanner();
        let soFar = "";
        for (const piece of piecesOf(text, cuts)) grown.scan((soFar += piece));
        expect(grown.boundaries).toEqual(whole.boundaries);
      }),
      { numRuns: 60 },
    );
  });

  it("drawn one by one look like the whole", () => {
    fc.assert(
      fc.property(answerText, (text) => {
        const blocks = blocksOf(text).map((block) => html(render(block, definitions(text), host)));
        expect(blocks.join("")).toBe(html(render(text, "", host)));
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ["a list stays one block over its blank lines", "- a\n\n- b\n\n  more of b\n\nend", 2],
    ["a fence is a block of its own", "text\n```js\na\n\nb\n```\nmore", 3],
    ["a fence in a list belongs to it", "- a\n  ```js\n  x\n\n  y\n  ```\n- b", 1],
    ["indented code stays whole", "    a\n\n    b\n\nend", 2],
  ])("%s", (_, text, count) => {
    expect(blocksOf(text)).toHaveLength(count);
  });
});

describe("a Markdown view", () => {
  it("that grew looks like one that was drawn whole", () => {
    fc.assert(
      fc.property(answerText, sizes, (text, cuts) => {
        const grown = new MarkdownView(host);
        let soFar = "";
        for (const piece of piecesOf(text, cuts)) grown.set((soFar += piece), true, "");
        grown.set(text, false, definitions(text));
        const whole = new MarkdownView(host);
        whole.set(text, false, definitions(text));
        expect(grown.element.innerHTML).toBe(whole.element.innerHTML);
      }),
      { numRuns: 40 },
    );
  });

  it("makes links of texts whose definition comes later", () => {
    const view = new MarkdownView(host);
    view.set("See [the page][p].\n\nMore.\n", true, "");
    expect(view.element.querySelector("a")).toBeNull();
    const text = "See [the page][p].\n\nMore.\n\n[p]: https://example.org/\n";
    view.set(text, false, definitions(text));
    expect(view.element.querySelector("a")?.textContent).toBe("the page");
  });

  it("appends to an open fence instead of drawing it anew", () => {
    const view = new MarkdownView(host);
    view.set("```js\nlet a", true, "");
    const code = view.element.querySelector("code");
    view.set("```js\nlet a = 1;\nlet b", true, "");
    expect(view.element.querySelector("code")).toBe(code);
    expect(code?.textContent).toBe("let a = 1;\nlet b");
    view.set("```js\nlet a = 1;\nlet b\n``", true, "");
    expect(view.element.querySelector("code")?.textContent).toBe("let a = 1;\nlet b\n");
  });
});

describe("nothing the model writes", () => {
  const hostile = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<svg onload="alert(1)"/>',
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x) [y](file:///etc/passwd) [z](command:workbench.action.quit)",
    "![p](https://evil.example/p.png) ![d](data:image/svg+xml,<svg/>)",
    '<https://ok.example/?q="onmouseover=x>',
    "| <b>a</b> | ![i](http://evil.example) |\n|---|---|\n| c | d |",
  ].join("\n\n");

  it("becomes an element of its own, an attribute that runs, or a request", () => {
    const holder = document.createElement("div");
    holder.append(render(hostile, "", host));
    expect(holder.querySelector("script, img, svg, iframe, object, embed, style, link, b")).toBeNull();
    for (const element of holder.querySelectorAll("*")) {
      for (const { name } of element.attributes) expect(name).not.toMatch(/^(on|src|href|srcdoc|xlink)/);
    }
  });

  it("hides where an image would come from", () => {
    const holder = document.createElement("div");
    holder.append(render(hostile, "", host));
    expect(holder.textContent).toContain("[image: p from evil.example]");
  });

  it("makes more nodes than a page can bear", () => {
    const holder = document.createElement("div");
    holder.append(render("- a\n".repeat(20_000), "", host));
    expect(holder.querySelectorAll("*").length).toBeLessThan(2_000);
    expect(holder.textContent).toContain("Open all of it");
  });
});
