/** How a process has ended, in words, and what to do when that was the server while it started. */

/** `forced`: it had to be killed here, because it did not end when it was asked to. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly forced: boolean;
}

/** What the process did, to be read behind its name. */
export function howItEnded({ code, signal, forced }: Ending): string {
  if (forced) {
    return "closed its output, went on and was killed";
  }
  return signal === null ? `exited with status ${code ?? "unknown"}` : `was killed by ${signal}`;
}

/** One line about a server that has ended before it answered; `lastLine` is what it said last, if anything. */
export function startFailure(ending: Ending, lastLine: string): string {
  const what = `The server ${howItEnded(ending)} while it started`;
  if (ending.signal !== null && !ending.forced) {
    return `${what}. It did not do that itself: see what kills processes here (often a lack of memory), then restart it.`;
  }
  return lastLine === ""
    ? `${what} and said nothing. Is it agent-lsp? See agentLsp.server.path and agentLsp.server.args, then restart it.`
    : `${what}. Mend what it said last, then restart it; the log has the rest.`;
}

/** One line about a program that could not be started at all. */
export function spawnFailure(command: string, message: string): string {
  return `${command} cannot be run (${message}). It, or the Python that its first line names, is gone or broken: install it again.`;
}
