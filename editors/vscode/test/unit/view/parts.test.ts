import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { balance, diffOf, unified } from "../../../src/view/cards/diffLines";
import { duration, money, tokens } from "../../../src/view/cards/figures";
import { tailStart } from "../../../src/view/cards/toolBody";
import { triggerAt } from "../../../src/view/composer/completion";
import { draftOf, inputOf, merged, without } from "../../../src/view/composer/input";
import { Following } from "../../../src/view/list/following";
import { Heights } from "../../../src/view/list/heights";
import { GrowingText } from "../../../src/view/markdown/codeBlock";
import { highlighted } from "../../../src/view/markdown/highlight";
import { targetOf } from "../../../src/view/markdown/links";
import { readArguments } from "../../../src/view/model/partialJson";
import { planSteps } from "../../../src/view/model/toolTitles";
import { spans, visible, visibleLine } from "../../../src/view/model/visible";
import { piecesOf, sizes } from "./streams";

describe("heights", () => {
  it("begin where the sum of all before ends, whatever was changed", () => {
    const change = fc.record({ at: fc.nat({ max: 60 }), size: fc.integer({ min: 1, max: 500 }) });
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 }),
        fc.array(change),
        (first, changes) => {
          const heights = new Heights();
          const plain = [...first];
          heights.reset([...first]);
          for (const { at, size } of changes) {
            if (at < plain.length) {
              plain[at] = size;
              heights.set(at, size);
            } else {
              plain.push(size);
              heights.push(size);
            }
            heights.top(at % (plain.length + 1));
          }
          let sum = 0;
          for (const [index, size] of plain.entries()) {
            expect(heights.top(index)).toBe(sum);
            expect(heights.at(sum)).toBe(index);
            expect(heights.at(sum + size - 1)).toBe(index);
            sum += size;
          }
          expect(heights.total).toBe(sum);
        },
      ),
    );
  });
});

describe("following", () => {
  const following = (): Following => new Following(() => undefined);

  it("is left by one pixel upwards and not taken up again near the bottom", () => {
    const one = following();
    one.scrolled(0, 1);
    expect(one.isOn).toBe(false);
    one.scrolled(40, 3);
    expect(one.isOn).toBe(false);
    one.scrolled(3, 2);
    expect(one.isOn).toBe(true);
  });

  it("counts what has come since", () => {
    const one = following();
    one.row();
    one.leave();
    one.row();
    one.row();
    expect(one.newRows).toBe(2);
    one.enter();
    expect([one.isOn, one.newRows]).toEqual([true, 0]);
  });
});

describe("arguments that are being written", () => {
  it("never raise, and end up as what they are", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 8 }),
          fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.constant(null)),
        ),
        (value) => {
          const text = JSON.stringify(value);
          for (let end = 0; end <= text.length; end++) readArguments(text.slice(0, end));
          expect(readArguments(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it("show a string as far as it goes", () => {
    expect(readArguments('{"cmd": "make te')).toEqual({ cmd: "make te" });
    expect(readArguments('{"a": "x\\')).toEqual({ a: "x" });
    expect(readArguments('{"a": "x\\\\')).toEqual({ a: "x\\" });
    expect(readArguments('{"a": "x", "b')).toMatchObject({ a: "x" });
    expect(planSteps(readArguments('{"items": [{"text": "one"}, {"te'))).toEqual([{ text: "one", status: "pending" }]);
  });
});

describe("characters that would fool the eye", () => {
  it("are spelled out", () => {
    expect(visible("a\u001b[2K\u202eb\r\n\tc")).toBe("a\\x1b[2K\\u202eb\\x0d\n\tc");
    expect(visibleLine("a\nb")).toBe("a\\nb");
    expect([...spans("x\u202ey")]).toEqual([
      { text: "x", marked: false },
      { text: "\\u202e", marked: true },
      { text: "y", marked: false },
    ]);
  });

  it("and nothing else is", () => {
    expect(visible("naïve 🙂 日本\u200d")).toBe("naïve 🙂 日本\u200d");
  });
});

describe("links", () => {
  it.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "command:x",
    "vscode://x",
    "#here",
    "//evil.example",
    " JavaScript:x",
    "",
  ])("to %j lead nowhere", (href) => {
    expect(targetOf(href)).toBeNull();
  });

  it.each([
    ["https://example.org/a", { kind: "web", href: "https://example.org/a", host: "example.org" }],
    ["mailto:ada@example.org", { kind: "web", href: "mailto:ada@example.org", host: "ada@example.org" }],
    ["src/a.py#L3", { kind: "path", path: "src/a.py", line: 3 }],
    ["src/a.py:12:4", { kind: "path", path: "src/a.py", line: 12 }],
    ["file:///w/a%20b.py", { kind: "path", path: "/w/a b.py" }],
  ])("to %s are understood", (href, target) => {
    expect(targetOf(href)).toEqual(target);
  });
});

describe("differences", () => {
  it("show what an edit takes and gives, with what stays around it", () => {
    const lines = diffOf("edit_file", { old_string: "a\nb\nc", new_string: "a\nx\ny\nc" });
    expect(lines?.map((line) => `${line.kind[0]!}${line.text}`)).toEqual(["sa", "rb", "ax", "ay", "sc"]);
    expect(balance(lines ?? [])).toEqual({ added: 2, removed: 1 });
  });

  it("are read from a unified diff", () => {
    expect(unified("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n").map((line) => line.kind)).toEqual([
      "head",
      "head",
      "head",
      "remove",
      "add",
      "same",
    ]);
  });
});

describe("the trigger of a completion", () => {
  it.each([
    ["@", 1, { kind: "mention", query: "", start: 0 }],
    ["look at @src/pa", 15, { kind: "mention", query: "src/pa", start: 8 }],
    ["/rev", 4, { kind: "command", query: "rev", start: 0 }],
    ["ada@example.org", 15, null],
    ["say /rev", 8, null],
  ])("in %j is found", (text, caret, trigger) => {
    expect(triggerAt(text, caret)).toEqual(trigger);
  });
});

describe("a draft", () => {
  const image = { kind: "image", id: "i", name: "n", dataUrl: "data:image/png;base64,AA==" } as const;
  const file = { kind: "file", id: "f", label: "a.py", uri: "file:///w/a.py" } as const;

  it("is an input and comes back as it was", () => {
    const draft = { text: "look", attachments: [image, file] };
    const input = inputOf(draft);
    expect(input).toEqual([
      { type: "text", text: "look" },
      { type: "image", data: image.dataUrl },
      { type: "resource", uri: file.uri },
    ]);
    expect(inputOf(draftOf(input, () => "new"))).toEqual(input);
    expect(inputOf({ text: "plain", attachments: [] })).toBe("plain");
  });

  it("keeps what was typed while it was sent", () => {
    expect(
      without({ text: "sent and more", attachments: [image, file] }, { text: "sent", attachments: [image] }),
    ).toEqual({ text: " and more", attachments: [file] });
  });

  it("takes what comes back before what is there", () => {
    expect(merged([{ text: "back", attachments: [image] }], { text: "here", attachments: [] })).toEqual({
      text: "back\n\nhere",
      attachments: [image],
    });
  });
});

describe("growing text", () => {
  it("is the text, in whatever pieces it came", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9_000, unit: fc.constantFrom("a", "b", "\n", " ") }), sizes, (text, cuts) => {
        const holder = document.createElement("pre");
        const grown = new GrowingText(holder);
        for (const piece of piecesOf(text, cuts)) grown.append(piece);
        expect(holder.textContent).toBe(text);
      }),
      { numRuns: 40 },
    );
  });

  it("breaks its chunks only behind line ends", () => {
    const holder = document.createElement("pre");
    const grown = new GrowingText(holder);
    for (let index = 0; index < 900; index++) grown.append(`word${index}${index % 7 === 0 ? "\n" : " "}`);
    const chunks = [...holder.children].map((chunk) => chunk.textContent);
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks.slice(0, -1)) expect(chunk.endsWith("\n")).toBe(true);
  });
});

describe("highlighted code", () => {
  it("is the code, in spans", () => {
    const code = 'def f(x: str) -> int:\n    return len(x)  # "quoted" <b>\n';
    const holder = document.createElement("code");
    holder.append(highlighted(code, "python")!);
    expect(holder.textContent).toBe(code);
    expect(holder.querySelectorAll("span.hl-keyword").length).toBeGreaterThan(0);
    expect(holder.querySelector("b")).toBeNull();
  });

  it("is left as it is when there is too much of it or the language is unknown", () => {
    expect(highlighted("x = 1\n".repeat(20_000), "python")).toBeNull();
    expect(highlighted("x", "klingon")).toBeNull();
  });
});

describe("the end of an output", () => {
  it("begins at a line and holds at most 200 of them", () => {
    const output = Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join("\n");
    const tail = output.slice(tailStart(output));
    expect(tail.split("\n")).toHaveLength(200);
    expect(tail.endsWith("line 999")).toBe(true);
    expect(tailStart("short")).toBe(0);
  });
});

describe("figures", () => {
  it("are as people read them", () => {
    expect([850, 8_100, 8_000, 128_000, 1_200_000].map(tokens)).toEqual(["850", "8.1k", "8k", "128k", "1.2M"]);
    expect([400, 12_000, 200_000, 7_500_000].map(duration)).toEqual(["0.4 s", "12 s", "3 min 20 s", "2 h 5 min"]);
    expect([0, 0.0012, 0.5].map(money)).toEqual(["$0", "$0.0012", "$0.50"]);
  });
});
