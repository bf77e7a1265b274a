import type { Ctx } from "../ctx";
import type { Decisions } from "../decisions";
import type { Interrupted } from "../interrupted";
import type { Server } from "../server";
import type { Sessions } from "../sessions";
import type { Settings } from "../settings";
import type { Drafts } from "./drafts";

/** What the parts of the chat share. */
export interface Parts {
  readonly ctx: Ctx;
  readonly server: Server;
  readonly sessions: Sessions;
  readonly settings: Settings;
  readonly decisions: Decisions;
  readonly interrupted: Interrupted;
  readonly drafts: Drafts;
}
