import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathReference, safeLink } from "../../../src/logic/links";
import { matching } from "../../../src/logic/mentions";
import { filePatches, sides } from "../../../src/logic/patch";
import { chosenRoot, rootOf } from "../../../src/logic/roots";

describe("a link", () => {
  it.each([
    ["https://example.org/a?b#c", "https://example.org/a?b#c"],
    ["  http://example.org ", "http://example.org/"],
    ["mailto:ada@example.org", "mailto:ada@example.org"],
  ])("%s is opened", (href, opened) => {
    expect(safeLink(href)).toBe(opened);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>",
    "command:workbench.action.quit",
    "vscode://file/etc/passwd",
    "file:///etc/passwd",
    "//example.org",
    "example.org",
    "",
  ])("%j is not", (href) => {
    expect(safeLink(href)).toBeUndefined();
  });
});

describe("a path in a text", () => {
  it.each([
    ["src/a.py", { path: "src/a.py" }],
    ["src/a.py:12", { path: "src/a.py", line: 12 }],
    ["src/a.py:12:3", { path: "src/a.py", line: 12, column: 3 }],
    ["src/a.py#L7", { path: "src/a.py", line: 7 }],
    ["src/a.py#L7-L9", { path: "src/a.py", line: 7 }],
    ["/abs/with:colon.txt", { path: "/abs/with:colon.txt" }],
  ])("%s is read", (text, reference) => {
    expect(pathReference(text)).toEqual(reference);
  });
});

describe("files for a mention", () => {
  const files = ["README.md", "src/reader.ts", "src/view/header.ts", "docs/read.md", "src/thread_pool.ts"].map(
    (path) => ({ path }),
  );
  const found = (query: string, limit = 9): string[] => matching(files, query, limit).map(({ path }) => path);

  it("have its characters in their order, the name before the folders", () => {
    expect(found("reader")).toEqual(["src/reader.ts", "src/view/header.ts"]);
    expect(found("srvh")).toEqual(["src/view/header.ts"]);
    expect(found("tp")[0]).toBe("src/thread_pool.ts");
    expect(found("zzz")).toEqual([]);
  });

  it("that begin with it come before those that have it inside", () => {
    expect(found("read").indexOf("docs/read.md")).toBeLessThan(found("read").indexOf("src/thread_pool.ts"));
  });

  it("do not depend on case, and are not more than wanted", () => {
    expect(found("readme")).toEqual(["README.md"]);
    expect(found("r", 2)).toHaveLength(2);
  });

  it("contain every character of any query", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z/]{1,12}$/), { maxLength: 20 }),
        fc.stringMatching(/^[a-z]{1,4}$/),
        (paths, query) => {
          for (const { path } of matching(
            paths.map((one) => ({ path: one })),
            query,
            20,
          )) {
            let at = -1;
            for (const character of query) {
              at = path.indexOf(character, at + 1);
              expect(at).toBeGreaterThanOrEqual(0);
            }
          }
        },
      ),
    );
  });
});

describe("the root", () => {
  const roots = [
    { name: "all", uri: "file:///projects" },
    { name: "inner", uri: "file:///projects/packages/inner" },
    { name: "ünder", uri: "file:///projects%20s/%C3%BCnder" },
  ];

  it("of a file is the innermost one that it is in", () => {
    expect(rootOf(roots, "file:///projects/packages/inner/a.py")?.name).toBe("inner");
    expect(rootOf(roots, "file:///projects/packages/innermost/a.py")?.name).toBe("all");
    expect(rootOf(roots, "file:///projects s/ünder/a.py")?.name).toBe("ünder");
    expect(rootOf(roots, "file:///elsewhere/a.py")).toBeUndefined();
  });

  it("of a new session is the one that is wanted, else the active file's, else the first", () => {
    const name = (wanted?: string, active?: string) => chosenRoot(roots, wanted, active)?.name;

    expect(name("file:///projects/packages/inner/", "file:///projects/a.py")).toBe("inner");
    expect(name(undefined, "file:///projects/packages/inner/a.py")).toBe("inner");
    expect(name("file:///nowhere", undefined)).toBe("all");
    expect(chosenRoot([], undefined, undefined)).toBeUndefined();
  });
});

/** A diff of the server's kind, with three lines around what differs. */
function diffOf(before: string[], after: string[], open: { before?: boolean; after?: boolean } = {}): string {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = Math.max(0, start - 3);
  const context = before.slice(from, start).map((line) => ` ${line}`);
  const tail = before.slice(before.length - end, before.length - end + 3).map((line) => ` ${line}`);
  const old = before.slice(start, before.length - end).map((line) => `-${line}`);
  const made = after.slice(start, after.length - end).map((line) => `+${line}`);
  const [oldLength, newLength] = [
    context.length + old.length + tail.length,
    context.length + made.length + tail.length,
  ];
  const mark = "\\ No newline at end of file";
  const lines = [
    ...context,
    ...old,
    ...(open.before && end === 0 ? [mark] : []),
    ...made,
    ...(open.after && end === 0 ? [mark] : []),
    ...tail,
  ];
  const at = (length: number) => (length === 0 ? from : from + 1);
  return [
    "--- a/x",
    "+++ b/x",
    `@@ -${at(oldLength)},${oldLength} +${at(newLength)},${newLength} @@`,
    ...lines,
    "",
  ].join("\n");
}

describe("the sides of a diff", () => {
  const only = (diff: string) => filePatches(diff)[0]!;

  it("are the whole text before and after, for any change", () => {
    const line = fc.constantFrom("a", "b", "", "--- a/x", "+++ b/y", "@@ -1 +1 @@", "-", "+", " ", "\\ no");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (before, after) => {
        fc.pre(before.join("\n") !== after.join("\n") && before.length > 0);
        const text = (lines: string[]) => lines.map((one) => `${one}\n`).join("");
        const { left, right, whole } = sides(only(diffOf(before, after)), text(before));
        expect({ left, right, whole }).toEqual({ left: text(before), right: text(after), whole: true });
      }),
    );
  });

  it("keep the line ends of the file", () => {
    expect(sides(only(diffOf(["a", "b"], ["a", "B"])), "a\r\nb\r\n").right).toBe("a\r\nB\r\n");
  });

  it("keep a last line that has no end, unless the diff gives it one", () => {
    expect(
      sides(only(diffOf(["a", "b", "c", "d", "e", "f"], ["A", "b", "c", "d", "e", "f"])), "a\nb\nc\nd\ne\nf").right,
    ).toBe("A\nb\nc\nd\ne\nf");
    const context = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n";
    expect(sides(only(context), "a\nb").right).toBe("A\nb");
    expect(sides(only(diffOf(["a"], ["b"], { before: true, after: true })), "a").right).toBe("b");
    expect(sides(only(diffOf(["a"], ["b"], { before: true })), "a").right).toBe("b\n");
    expect(sides(only(diffOf(["a"], ["b"], { after: true })), "a\n").right).toBe("b");
  });

  it("of a new file begin with nothing, those of a removed one end with it", () => {
    expect(sides(only("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n"), undefined)).toEqual({
      left: "",
      right: "a\nb\n",
      whole: true,
    });
    expect(sides(only("--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"), "a\n").right).toBe("");
  });

  it("show the changed places alone when the text is another one by now", () => {
    expect(sides(only(diffOf(["a", "b", "c"], ["a", "B", "c"])), "a\nmine\nc\n")).toEqual({
      left: "a\nb\nc",
      right: "a\nB\nc",
      whole: false,
    });
  });

  it("are of each file that the diff is about", () => {
    const two = `${diffOf(["a"], ["b"])}${diffOf(["c"], ["d"]).replaceAll("/x", "/dir/y")}`;

    expect(filePatches(two).map(({ after }) => after)).toEqual(["x", "dir/y"]);
    expect(filePatches("no diff at all\n--- what\n")).toEqual([]);
  });
});
