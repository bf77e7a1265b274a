/**
 * How long the tasks of a page take, as its own thread counts its time: what a busy machine gives to other processes
 * meanwhile is not in it.
 */

import type { Browser, Page } from "@playwright/test";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread's own time. */
  readonly tdur?: number;
  /** Microseconds by the clock. */
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** Times in milliseconds, longest first. */
export interface Tasks {
  readonly ownMs: readonly number[];
  readonly byTheClockMs: readonly number[];
}

/** The tasks that the main thread of the page did while `act` went on. */
export async function tasksWhile(browser: Browser, page: Page, act: () => Promise<void>): Promise<Tasks> {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const pages = new Set(traceEvents.filter(isMainOfAPage).map(thread));
  const tasks = traceEvents.filter((one) => one.name === "ThreadControllerImpl::RunTask" && pages.has(thread(one)));
  if (!tasks.some(({ tdur }) => tdur !== undefined)) throw new Error("the browser tells no time of threads");
  return {
    ownMs: longestFirst(tasks.map(({ tdur }) => tdur ?? 0)),
    byTheClockMs: longestFirst(tasks.map(({ dur }) => dur ?? 0)),
  };
}

const isMainOfAPage = ({ name, args }: TraceEvent) => name === "thread_name" && args?.name === "CrRendererMain";
const thread = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
const longestFirst = (microseconds: number[]) => microseconds.map((one) => one / 1_000).sort((a, b) => b - a);
