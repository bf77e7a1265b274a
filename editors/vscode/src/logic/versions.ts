/** Whether the server that answered is one that this extension can work with. */

import { METHODS, PROTOCOL_VERSION } from "../shared/protocol";

/** What the server said of itself in its answer to `initialize`; nothing of it is believed to be there. */
export interface Introduction {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly protocolVersion: number | undefined;
  readonly methods: readonly string[] | undefined;
}

/** `works`: go on. `notice`: one line that says what is wrong and what to do about it. */
export interface Judgement {
  readonly works: boolean;
  readonly notice?: string;
}

const INSTALL = "run “Agent: Install Server” to get the version that belongs to this extension";

/** Judges the server by what it said; `wanted` is the version of the extension. */
export function judge(server: Introduction, wanted: string): Judgement {
  if (server.protocolVersion === undefined) {
    const what = server.name ? `“${server.name}”` : "The program in agentLsp.server.path";
    return { works: false, notice: `${what} is not agent-lsp, or older than 0.1: ${INSTALL}.` };
  }
  const version = server.version ?? "of an unknown version";
  if (server.protocolVersion > PROTOCOL_VERSION) {
    return {
      works: false,
      notice: `agent-lsp ${version} is newer than this extension (${wanted}): update the extension.`,
    };
  }
  const missing = METHODS.filter((method) => !server.methods?.includes(method));
  if (server.protocolVersion < PROTOCOL_VERSION || missing.length > 0) {
    return { works: false, notice: `agent-lsp ${version} is too old for this extension (${wanted}): ${INSTALL}.` };
  }
  if (release(version) !== release(wanted)) {
    return { works: true, notice: `agent-lsp ${version} runs, this extension is ${wanted}: ${INSTALL}.` };
  }
  return { works: true };
}

/** The part of a version within which nothing changes that the two would have to agree on. */
function release(version: string): string {
  return version.split(".", 2).join(".");
}
