/** Whether the server that answered is one that this extension can work with. */

import { SERVER_PATH, type Remedy } from "../shared/bridge";
import { METHODS, PROTOCOL_VERSION } from "../shared/protocol";
import { NOT_CARRIED } from "./carried";
import type { ServerCommand } from "./discovery";

/** What the server said of itself in its answer to `initialize`; nothing of it is believed to be there. */
export interface Introduction {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly protocolVersion: number | undefined;
  readonly methods: readonly string[] | undefined;
}

/** `works`: go on. `notice`: one line that says what is wrong and what to do about it, and `remedy` where. */
export interface Judgement {
  readonly works: boolean;
  readonly notice?: string;
  readonly remedy?: Remedy;
}

/** `wanted` is the version of the extension, `origin` tells who has named the program. */
export interface Judged {
  readonly wanted: string;
  readonly origin: ServerCommand["origin"];
  readonly carriesServer: boolean;
}

/** Judges the server by what it said of itself. */
export function judge(server: Introduction, { wanted, origin, carriesServer }: Judged): Judgement {
  const mend = mending(origin, carriesServer);
  const bad = (what: string): Judgement => ({ works: false, notice: `${what}. ${mend.how}`, remedy: mend.remedy });
  if (server.protocolVersion === undefined) {
    return bad(`${server.name ? `“${server.name}”` : "The program"} is not agent-lsp, or older than 0.1`);
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
    return bad(`agent-lsp ${version} is too old for this extension (${wanted})`);
  }
  if (release(version) !== release(wanted)) {
    return { ...bad(`agent-lsp ${version} runs, this extension is ${wanted}`), works: true };
  }
  return { works: true };
}

/** An installed server comes before the one on PATH, and what the setting names before both. */
function mending(origin: ServerCommand["origin"], carriesServer: boolean): { how: string; remedy: Remedy } {
  if (origin === "setting") {
    const instead = carriesServer ? ", or clear the setting and run “Agent: Install Server”" : "";
    return { how: `Name another program in ${SERVER_PATH}${instead}.`, remedy: "settings" };
  }
  return carriesServer
    ? { how: "Run “Agent: Install Server” to get the version that belongs to this extension.", remedy: "install" }
    : { how: NOT_CARRIED, remedy: "settings" };
}

/** The part of a version within which nothing changes that the two would have to agree on. */
function release(version: string): string {
  return version.split(".", 2).join(".");
}
