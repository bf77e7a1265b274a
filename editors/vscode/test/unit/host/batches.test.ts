import { beforeEach, expect, it } from "vitest";
import { Batches } from "../../../src/logic/batches";
import type { ServerEvent } from "../../../src/shared/bridge";

interface Timer {
  readonly run: () => void;
  readonly at: number;
}

let now: number;
let timers: Timer[];
let posted: { batch: number; seqs: number[] }[];
let batches: Batches;

const event = (seq: number): ServerEvent => ({
  method: "agent/message",
  params: { sessionId: "s", seq, messages: [] },
});

/** Lets the time pass, with what becomes due in it. */
function pass(ms: number): void {
  now += ms;
  for (const timer of timers.filter(({ at }) => at <= now)) {
    timers = timers.filter((other) => other !== timer);
    timer.run();
  }
}

beforeEach(() => {
  [now, timers, posted] = [0, [], []];
  batches = new Batches({
    post: (batch, events) => posted.push({ batch, seqs: events.map(({ params }) => (params as { seq: number }).seq) }),
    later: (run, ms) => {
      const timer = { run, at: now + ms };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
    now: () => now,
  });
});

it("what comes together goes together", () => {
  batches.open();
  [0, 1, 2].forEach((seq) => batches.add(event(seq)));
  pass(0);

  expect(posted).toEqual([{ batch: 1, seqs: [0, 1, 2] }]);
});

it("one batch is on its way; the next goes when that was taken, with all that has come", () => {
  batches.open();
  batches.add(event(0));
  pass(0);
  [1, 2].forEach((seq) => batches.add(event(seq)));
  pass(1000);
  expect(posted).toHaveLength(1);

  batches.acknowledge(1);
  pass(0);
  expect(posted[1]).toEqual({ batch: 2, seqs: [1, 2] });
});

it("there is at most one batch a frame", () => {
  batches.open();
  batches.add(event(0));
  pass(0);
  batches.acknowledge(1);
  batches.add(event(1));
  pass(15);
  expect(posted).toHaveLength(1);
  pass(1);
  expect(posted).toHaveLength(2);
});

it("nothing is kept or timed while nobody listens", () => {
  batches.add(event(0));
  batches.open();
  batches.close();
  batches.add(event(1));
  pass(1000);

  expect(posted).toEqual([]);
  expect(timers).toEqual([]);
});

it("a view that comes anew gets nothing of what the one before was owed", () => {
  batches.open();
  batches.add(event(0));
  pass(0);
  batches.add(event(1));
  batches.open();
  batches.add(event(2));
  pass(16);

  expect(posted.at(-1)?.seqs).toEqual([2]);
});

it("what is flushed goes at once, even before the last was taken, and each event goes once", () => {
  batches.open();
  batches.add(event(0));
  pass(0);
  batches.add(event(1));
  batches.flush();
  batches.acknowledge(1);
  batches.add(event(2));
  pass(1000);
  expect(posted.map(({ seqs }) => seqs)).toEqual([[0], [1]]);

  batches.acknowledge(2);
  pass(0);
  expect(posted.map(({ seqs }) => seqs)).toEqual([[0], [1], [2]]);
});

it("there is no timer when everything was taken", () => {
  batches.open();
  batches.add(event(0));
  pass(0);
  batches.acknowledge(1);

  expect(timers).toEqual([]);
});
