/** Figures of the view, taken inside its page. */

import type { Locator } from "@playwright/test";

/** How a page fared while something went on. Times in milliseconds. */
export interface Strain {
  readonly longTasks: number[];
  readonly mostRows: number;
  readonly mostNodes: number;
}

declare global {
  interface Window {
    strain?: { longTasks: number[]; mostRows: number; mostNodes: number; stop: () => void };
    move?: { largest: number; stop: () => void };
  }
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

/** How far the first prompt in sight went down on screen because of `act`, in CSS pixels. Prompts are told apart by their text. */
export async function displacementBy(list: Locator, act: () => Promise<void>): Promise<number> {
  await scrollRests(list);
  const [words, before] = await list.evaluate((box) => {
    const { top } = box.getBoundingClientRect();
    const prompts = [...box.querySelectorAll("article[data-kind=user]")];
    const first = prompts.find((one) => one.getBoundingClientRect().top >= top);
    return [first?.textContent ?? "", first?.getBoundingClientRect().top ?? NaN] as const;
  });
  await act();
  await scrollRests(list);
  const after = await list.evaluate(async (box, wanted) => {
    for (let frames = 0; frames < 120; frames++) {
      const prompt = [...box.querySelectorAll("article[data-kind=user]")].find((one) => one.textContent === wanted);
      if (prompt) return prompt.getBoundingClientRect().top;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return NaN;
  }, words);
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
