/** How full the context is and what the session has used. What is not known is undefined, never a guess. */

import type { CompactionEnd, SessionInfo, TokenUsage } from "../../shared/protocol";

export interface Gauge {
  /** Tokens in the context after the last request. */
  used?: number;
  window?: number;
  /** Tokens at which the engine compacts. */
  compactAt?: number;
  /** Tokens of the whole session, as `TokenCounts.total`. */
  total: number;
  /** US dollars of the whole session, null where a price is unknown. */
  cost?: number | null;
}

/** What is known when a session is opened. */
export function gaugeOf(session: SessionInfo): Gauge {
  return defined({
    used: session.contextTokens > 0 ? session.contextTokens : undefined,
    window: session.contextWindow,
    compactAt: session.compactionAt,
    total: session.usage.total,
  });
}

/** After a request. */
export function used(gauge: Gauge, usage: TokenUsage): Gauge {
  const { request, session } = usage;
  return defined({
    ...gauge,
    used: request.total,
    window: usage.context_window ?? gauge.window,
    compactAt: usage.compaction_at ?? gauge.compactAt,
    total: session.total,
  });
}

/** After a compaction: how much is left is known with the next request. */
export function compacted(gauge: Gauge, end: CompactionEnd): Gauge {
  return end.status === "completed" ? defined({ ...gauge, used: undefined }) : gauge;
}

/** The share of the window that is used, 0 to 1; undefined without a window. */
export function share(gauge: Gauge): number | undefined {
  return gauge.used !== undefined && gauge.window ? Math.min(1, gauge.used / gauge.window) : undefined;
}

function defined(gauge: { [K in keyof Gauge]: Gauge[K] | undefined } & { total: number }): Gauge {
  return Object.fromEntries(Object.entries(gauge).filter(([, value]) => value !== undefined)) as unknown as Gauge;
}
