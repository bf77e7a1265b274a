/** Figures of the view, taken inside its page. */

import { setTimeout as delay } from "node:timers/promises";
import type { Locator } from "@playwright/test";

/** What the page did since it was loaded. */
export interface Activity {
  readonly frames: number;
  readonly timers: number;
  readonly messages: number;
}

/** How a page fared while something went on. Times in milliseconds. */
export interface Strain {
  readonly longTasks: number[];
  readonly mostRows: number;
  readonly mostNodes: number;
}

declare global {
  interface Window {
    activity?: { frames: number; timers: number; messages: number; pages: number; historyAt?: number };
    strain?: { longTasks: number[]; mostRows: number; mostNodes: number; stop: () => void };
    move?: { largest: number; stop: () => void };
  }
}

/**
 * Runs in every frame before its scripts, and counts in the view's own what it asks for and gets. The inner frame of a
 * webview is the one that begins as an empty page of that name.
 */
export function countActivity(): void {
  if (!location.pathname.endsWith("/fake.html")) return;
  const activity: NonNullable<Window["activity"]> = { frames: 0, timers: 0, messages: 0, pages: 0 };
  window.activity = activity;
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => {
    activity.frames++;
    return frame(callback);
  };
  for (const name of ["setTimeout", "setInterval"] as const) {
    const original = window[name].bind(window) as (callback: unknown, ...rest: unknown[]) => number;
    const counting = (callback: (...values: unknown[]) => void, ...rest: unknown[]) =>
      original(
        (...values: unknown[]) => {
          activity.timers++;
          callback(...values);
        },
        ...rest,
      );
    Object.assign(window, { [name]: counting });
  }
  window.addEventListener(
    "message",
    ({ data }: MessageEvent<{ kind?: string; result?: { nextSeq?: number } } | undefined>) => {
      activity.messages++;
      if (data?.kind !== "response" || data.result?.nextSeq === undefined) return;
      activity.pages++;
      activity.historyAt ??= performance.now();
    },
  );
}

/** What the page asks for and gets during that time; nothing, when it rests. */
export async function activityDuring(app: Locator, milliseconds: number): Promise<Activity> {
  const before = await activityOf(app);
  await delay(milliseconds);
  const after = await activityOf(app);
  return {
    frames: after.frames - before.frames,
    timers: after.timers - before.timers,
    messages: after.messages - before.messages,
  };
}

async function activityOf(app: Locator): Promise<Activity> {
  return app.evaluate(() => {
    if (!window.activity) throw new Error("the page was not watched from its beginning");
    const { frames, timers, messages } = window.activity;
    return { frames, timers, messages };
  });
}

/**
 * How long after the first page of history a row with that text can be seen, and how many pages were fetched till then.
 * To be called before the session is opened.
 */
export async function openingTime(app: Locator, text: string): Promise<{ tookMs: number; pages: number }> {
  return app.evaluate(async (root, wanted) => {
    const { activity } = window;
    if (!activity) throw new Error("the page was not watched from its beginning");
    const before = activity.pages;
    delete activity.historyAt;
    const isShown = () =>
      [...root.querySelectorAll("article")].some(
        (row) => row.textContent.includes(wanted) && row.getBoundingClientRect().bottom > 0,
      );
    while (!isShown()) await new Promise((resolve) => requestAnimationFrame(resolve));
    const { historyAt = NaN, pages } = activity as { historyAt?: number; pages: number };
    return { tookMs: performance.now() - historyAt, pages: pages - before };
  }, text);
}

/** Begins to look at long tasks, rows and nodes. */
export async function beginStrain(app: Locator): Promise<void> {
  await app.evaluate(() => {
    const strain = { longTasks: [] as number[], mostRows: 0, mostNodes: 0, stop: (): void => undefined };
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.name === "self") strain.longTasks.push(Math.round(entry.duration));
    });
    observer.observe({ entryTypes: ["longtask"] });
    const timer = setInterval(() => {
      strain.mostRows = Math.max(strain.mostRows, document.querySelectorAll("article").length);
      strain.mostNodes = Math.max(strain.mostNodes, document.getElementsByTagName("*").length);
    }, 100);
    strain.stop = () => {
      observer.disconnect();
      clearInterval(timer);
    };
    window.strain = strain;
  });
}

export async function endStrain(app: Locator): Promise<Strain> {
  return app.evaluate(() => {
    const { strain } = window;
    if (!strain) throw new Error("nothing was begun");
    strain.stop();
    const { longTasks, mostRows, mostNodes } = strain;
    return { longTasks, mostRows, mostNodes };
  });
}

/** Milliseconds from a key to the frame that shows it, of the keys pressed while `press` runs. */
export async function keyLatencies(composer: Locator, press: () => Promise<void>): Promise<number[]> {
  await composer.evaluate((box) => {
    const took: number[] = [];
    let began = 0;
    box.addEventListener("keydown", (event) => (began = event.timeStamp), { capture: true });
    box.addEventListener("input", () => {
      const from = began;
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => took.push(performance.now() - from);
        port2.postMessage(0);
      });
    });
    (box as HTMLElement & { took?: number[] }).took = took;
  });
  await press();
  return composer.evaluate((box) => (box as HTMLElement & { took?: number[] }).took ?? []);
}

/**
 * The most that what stands at the top of the list moved on screen while `act` went on, in CSS pixels. What is taken out
 * of the page counts as infinitely far.
 */
export async function largestMoveWhile(list: Locator, act: () => Promise<void>): Promise<number> {
  await list.evaluate((box) => {
    const { top, left, width } = box.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 3, top + 60);
    const anchor = seen?.closest("p, li, pre, article") ?? seen;
    if (!anchor || !box.contains(anchor)) throw new Error("nothing stands at the top of the list");
    const began = anchor.getBoundingClientRect().top;
    let goesOn = true;
    const move = { largest: 0, stop: () => void (goesOn = false) };
    window.move = move;
    const look = () => {
      const moved = anchor.isConnected ? Math.abs(anchor.getBoundingClientRect().top - began) : Infinity;
      move.largest = Math.max(move.largest, moved);
      if (goesOn) requestAnimationFrame(look);
    };
    look();
  });
  await act();
  return list.evaluate(() => {
    window.move?.stop();
    return window.move?.largest ?? Infinity;
  });
}

/** How far the row near the top of the list went down on screen because of `act`, in CSS pixels. */
export async function displacementBy(list: Locator, act: () => Promise<void>): Promise<number> {
  await scrollRests(list);
  const [key, before] = await list.evaluate((box) => {
    const { top, left, width, height } = box.getBoundingClientRect();
    const row = document.elementFromPoint(left + width / 3, top + height / 4)?.closest("article");
    return [row?.dataset.row ?? "", row?.getBoundingClientRect().top ?? NaN] as const;
  });
  await act();
  await scrollRests(list);
  const after = await list.evaluate((box, wanted) => {
    const row = [...box.querySelectorAll("article")].find((one) => one.dataset.row === wanted);
    return row?.getBoundingClientRect().top ?? NaN;
  }, key);
  return after - before;
}

/** Waits until the list has not scrolled for a few frames. */
export async function scrollRests(list: Locator): Promise<void> {
  await list.evaluate(async (box) => {
    let [still, last] = [0, box.scrollTop];
    while (still < 15) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      still = box.scrollTop === last ? still + 1 : 0;
      last = box.scrollTop;
    }
  });
}
