import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Kept } from "../../../src/host/kept";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "kept-")), "below");
});
afterEach(() => {
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

it("what is kept is there for whoever comes next", () => {
  new Kept(folder).set("draft:a/../b", { text: "ü" });

  expect(new Kept(folder).get("draft:a/../b")).toEqual({ text: "ü" });
  expect(readdirSync(folder)).toHaveLength(1);
});

it("nothing is kept of what is removed, and nobody minds when it was not there", () => {
  const kept = new Kept(folder);
  kept.set("a", 1);
  kept.set("a", undefined);
  kept.set("b", undefined);

  expect(kept.get("a")).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

it("what cannot be read is nothing", () => {
  const kept = new Kept(folder);
  kept.set("a", 1);
  writeFileSync(join(folder, "a.json"), "{");

  expect(kept.get("a")).toBeUndefined();
});

it("what is kept is the person's alone", () => {
  new Kept(folder).set("a", 1);

  expect(statSync(join(folder, "a.json")).mode & 0o077).toBe(0);
});
