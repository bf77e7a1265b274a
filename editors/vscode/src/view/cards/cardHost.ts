/** What cards may ask of the rest of the view. */

import type { Act, BridgeMethod, BridgeMethods } from "../../shared/bridge";
import type { EditInfo } from "../../shared/protocol";
import type { Frames } from "../list/frames";
import type { MarkdownHost } from "../markdown/render";
import type { Row } from "../model/rows";

export interface CardHost extends MarkdownHost {
  readonly frames: Frames;
  act(act: Act): void;
  request<M extends BridgeMethod>(method: M, params: BridgeMethods[M]["params"]): Promise<BridgeMethods[M]["result"]>;
  sessionId(): string;
  /** Where the row stands, from 1, and how many there are; -1 while not all are loaded. */
  position(row: Row): readonly [number, number];
  /** Whether somebody has unfolded it; undefined when nobody has touched it. */
  unfolded(key: string): boolean | undefined;
  /** Somebody folds or unfolds: the view stops following first. */
  fold(key: string, isUnfolded: boolean): void;
  showThinking(): boolean;
  showCost(): boolean;
  /** The edits that a call has made, as far as they are known. */
  edits(callId: string): readonly EditInfo[];
  runEdits(runId: string): readonly EditInfo[];
  decideEdits(edits: readonly EditInfo[], verdict: "keep" | "undo"): void;
  /** Whether something runs in the session. */
  isRunning(): boolean;
  /** The person wants the run that was cut off to go on. */
  goOn(): void;
}
