/** Figures as people read them. */

/** `850`, `8.1k`, `128k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 10_000) return `${trim((count / 1_000).toFixed(1))}k`;
  if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
  return `${trim((count / 1_000_000).toFixed(1))}M`;
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${trim((ms / 1_000).toFixed(1))} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** US dollars; small sums keep their digits. */
export function money(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `1 turn`, `2 turns`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function trim(figure: string): string {
  return figure.replace(/\.0$/, "");
}
