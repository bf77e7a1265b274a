import { beforeEach, describe, expect, it } from "vitest";
import { Cuts } from "../../../src/logic/cuts";

let cuts: Cuts;
beforeEach(() => {
  cuts = new Cuts();
});

const readAgain = (): Cuts => new Cuts(JSON.parse(JSON.stringify(cuts)));

describe("a run", () => {
  it("that has ended was not cut off", () => {
    cuts.saw("s", "run-1");
    cuts.ended("s");
    cuts.cut("window");

    expect(cuts.of("s")).toBeUndefined();
    expect(readAgain().of("s")).toBeUndefined();
  });

  it.each(["window", "crash", "restart"] as const)("that was going was cut off by the %s", (by) => {
    cuts.saw("s", "run-1");
    cuts.saw("other", "run-2");
    cuts.ended("other");
    cuts.cut(by);

    expect(cuts.of("s")).toEqual({ runId: "run-1", by, asked: [] });
    expect(cuts.of("other")).toBeUndefined();
    expect(cuts.of(undefined)).toBeUndefined();
  });

  it("was cut off by the window when nobody had the time to say so", () => {
    cuts.saw("s", "run-1");
    cuts.waits([["s", "Run make"]]);

    expect(readAgain().of("s")).toEqual({ runId: "run-1", by: "window", asked: ["Run make"] });
  });

  it("is cut off once: what it ends with afterwards counts for nothing", () => {
    cuts.saw("s", "run-1");
    cuts.waits([["s", "Run make"]]);
    cuts.cut("window");
    cuts.waits([]);
    cuts.saw("s", "run-2");
    cuts.ended("s");
    cuts.cut("restart");

    expect(cuts.of("s")).toEqual({ runId: "run-1", by: "window", asked: ["Run make"] });
    expect(readAgain().of("s")).toEqual({ runId: "run-1", by: "window", asked: ["Run make"] });
  });

  it("whose server has crashed is known to have, though its end is told first", () => {
    cuts.saw("s", "run-1");
    cuts.cut("restart");
    cuts.cut("crash");

    expect(cuts.of("s")?.by).toBe("crash");
  });

  it("that was cut off stays so until another one begins", () => {
    cuts.saw("s", "run-1");
    cuts.cut("window");
    cuts = readAgain();
    cuts.resume();
    cuts.saw("s", undefined);
    expect(cuts.of("s")?.runId).toBe("run-1");
    expect(readAgain().of("s")?.runId).toBe("run-1");

    cuts.saw("s", "run-2");

    expect(cuts.of("s")).toBeUndefined();
  });
});

describe("what waits for a decision", () => {
  it("belongs to its session, and is gone when it was decided", () => {
    cuts.saw("s", "run-1");
    cuts.saw("other", "run-2");
    const open = [
      ["s", "a"],
      ["other", "b"],
      ["s", "c"],
    ] as const;
    expect(cuts.waits(open)).toBe(true);
    expect(cuts.waits(open)).toBe(false);
    cuts.waits([["s", "c"]]);
    cuts.cut("window");

    expect(cuts.of("s")?.asked).toEqual(["c"]);
    expect(cuts.of("other")?.asked).toEqual([]);
  });
});

it.each([
  [null],
  [3],
  ["x"],
  [{ going: 1, cuts: [] }],
  [{ going: { s: { runId: 1 } }, cuts: { s: { runId: "r", asked: [] } } }],
])("what was written down as %j is nothing", (saved) => {
  expect(new Cuts(saved).of("s")).toBeUndefined();
});
