/**
 * Every message between the extension host and the chat view.
 *
 * The server holds the truth, the host relays, the view draws. A view may be thrown away at any moment: what it needs to
 * come back is in `hello`, in `agent/session/history` and in its own `setState`. Nothing is sent while nothing happens.
 *
 *     view ── ready ──▶ host                  the script runs; answered by `hello`
 *     view ── request ─▶ host ── response ─▶  one of `AgentMethods` (relayed) or `HostMethods` (answered by the host)
 *     view ── act ─────▶ host                 what only an editor can do; no answer
 *     host ── batch ───▶ view ── ack ──────▶  notifications of the server in their order, one batch in flight
 *
 * The page itself is `page.ts`.
 */

import type { BridgeMethod, BridgeMethods } from "./requests";
import type {
  ApprovalMode,
  ApproveParams,
  ApproveResult,
  AskParams,
  EditInfo,
  Input,
  MessageParams,
  ModelInfo,
  ModelRef,
  RunResult,
  SessionInfo,
  StateParams,
  ThinkingLevel,
} from "./protocol";

export * from "./requests";

// --- what both know -------------------------------------------------------------------------------------------------

/** Text and attachments that were not sent yet; one per session, kept by the host. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** Something that goes along with a text. */
export type Attachment =
  | { readonly kind: "image"; readonly id: string; readonly name: string; readonly dataUrl: string }
  | {
      readonly kind: "file";
      readonly id: string;
      readonly label: string;
      readonly uri: string;
      readonly range?: TextRange;
    };

/** Zero-based, from `start` up to, not including, `end`; characters are UTF-16 units. */
export interface TextRange {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

/** Key of the draft of a session that does not exist yet. */
export const NEW_SESSION_DRAFT = "new";

/** An answer to an approval or a question counts only this long after the person could see it, in milliseconds. */
export const DECISION_GRACE_MS = 300;

/** An approval that the host holds open. `key` is the host's own; `shownAt` is the host's clock, ms since the epoch. */
export interface OpenApproval {
  readonly key: string;
  readonly params: ApproveParams;
  readonly shownAt: number;
}

/** A question of the agent that the host holds open. */
export interface OpenQuestion {
  readonly key: string;
  readonly params: AskParams;
  readonly shownAt: number;
}

/** Where a server that is missing or does not fit is mended: by *Install Server*, or in a setting. */
export type Remedy = "install" | "settings";
/** The setting. */
export const SERVER_PATH = "agentLsp.server.path";

/** Why a run was cut off: the window was closed or reloaded, the server has crashed, or was ended by the person. */
export type CutBy = "window" | "crash" | "restart";

/** The last run of a session, if it was cut off; `asked` is what waited for a decision then, and is void. */
export interface Cut {
  readonly runId: string;
  readonly by: CutBy;
  readonly asked: readonly string[];
}

/** How the server process is. `lastLogLine` is what it said last; `hint` what the person can do. */
export interface ServerStatus {
  readonly state: "installing" | "starting" | "running" | "stopped" | "crashed" | "failed" | "missing" | "incompatible";
  readonly lastLogLine?: string;
  readonly hint?: string;
  /** Whether the host has given up starting it again by itself. */
  readonly gaveUp?: boolean;
  readonly remedy?: Remedy;
}

/** The settings that the view follows; posted again whenever one of them changes. */
export interface ViewSettings {
  /** Whether thoughts begin unfolded. */
  readonly showThinking: boolean;
  /** Whether Ctrl+Enter sends and Enter begins a new line. */
  readonly sendWithCtrlEnter: boolean;
  /** Currency figures are shown only when this is on. */
  readonly showCost: boolean;
  /** Whether the workspace is trusted; if not, modes that let the agent change something are not offered. */
  readonly trusted: boolean;
}

/** A workspace folder. */
export interface Root {
  readonly name: string;
  readonly uri: string;
}

/** What the server can do and offers to choose from. */
export interface Choices {
  readonly models: readonly ModelInfo[];
  readonly defaultModel: ModelRef | null;
  readonly approvalModes: readonly ApprovalMode[];
  readonly thinkingLevels: readonly ThinkingLevel[];
  readonly modes: readonly ("native" | "loop")[];
}

/**
 * Why a request failed: the server's error, or the host's with the same shape. `kind` is `server_gone` when the server
 * has ended before it answered: what a run or a word to it has not delivered then comes back by `returned`, and by nothing
 * else. `not_running`: there was no server, nothing was sent.
 */
export interface BridgeError {
  readonly code: number;
  readonly message: string;
  readonly kind?: string;
  readonly hint?: string;
}

// --- view to host ---------------------------------------------------------------------------------------------------

/** What only an editor can do. Nothing here is answered. */
export type Act =
  /** The whole diff of an approval, read-only, in the one preview tab; or that of an edit that stands. */
  | {
      readonly act: "openDiff";
      readonly key?: string;
      readonly uri: string;
      readonly diff: string;
      readonly title: string;
    }
  | { readonly act: "openFile"; readonly uri: string; readonly range?: TextRange }
  /** A path that stands in a text, perhaps with `:line`; opened only when it exists. */
  | { readonly act: "openPath"; readonly path: string; readonly line?: number }
  /** A link; the host checks its scheme (http, https, mailto) and asks the editor to open it. */
  | { readonly act: "openLink"; readonly href: string }
  /** A text that is too long for the view, as an untitled read-only document. */
  | { readonly act: "openText"; readonly title: string; readonly text: string; readonly language?: string }
  | { readonly act: "openTranscript" }
  | { readonly act: "openLog" }
  | { readonly act: "openSettings"; readonly query?: string }
  | { readonly act: "openWalkthrough" }
  | { readonly act: "installServer" }
  | { readonly act: "copy"; readonly text: string }
  | { readonly act: "restart" }
  | { readonly act: "newSession"; readonly workspace?: string }
  | { readonly act: "pickSession" }
  /** Opens the session with that id, in this view. */
  | { readonly act: "openSession"; readonly sessionId: string }
  | { readonly act: "pickAttachment" }
  /** Replaces the session's draft in the host's storage; an empty one removes it. `session`: id or NEW_SESSION_DRAFT. */
  | { readonly act: "draft"; readonly session: string; readonly draft: Draft }
  /** Next or previous edit that stands, in the editor. */
  | { readonly act: "stepEdit"; readonly direction: "next" | "previous" };

export type ViewToHost =
  | { readonly kind: "ready" }
  | { readonly kind: "ack"; readonly batch: number }
  | RequestMessage
  | { readonly kind: "approve"; readonly key: string; readonly answer: ApproveResult }
  | { readonly kind: "answer"; readonly key: string; readonly answer: string | string[] | null }
  | ({ readonly kind: "act" } & Act)
  /** A script error of the view, for the log; the view already shows it. */
  | { readonly kind: "failed"; readonly message: string; readonly stack?: string };

export type RequestMessage = {
  [M in BridgeMethod]: {
    readonly kind: "request";
    readonly id: number;
    readonly method: M;
    readonly params: BridgeMethods[M]["params"];
  };
}[BridgeMethod];

// --- host to view ---------------------------------------------------------------------------------------------------

/** A notification of the server, unchanged. */
export type ServerEvent =
  | { readonly method: "agent/message"; readonly params: MessageParams }
  | { readonly method: "agent/state"; readonly params: StateParams };

/** What somebody asked for outside the view: a command, a key binding, another part of the extension. */
export type ViewCommand =
  | { readonly command: "focusComposer" }
  | { readonly command: "find" }
  | { readonly command: "focusApproval" }
  | { readonly command: "nextMessage" | "previousMessage" | "latest" }
  | { readonly command: "stop" }
  /** Adds to the draft of the session on screen, without taking the focus unless `focus`. */
  | { readonly command: "attach"; readonly attachments: readonly Attachment[]; readonly focus: boolean }
  | { readonly command: "insertText"; readonly text: string; readonly focus: boolean };

/** The session on screen, everything of it that the server does not keep. `null`: none yet. */
export interface SessionShown {
  readonly session: SessionInfo | null;
  readonly state: StateParams | null;
  readonly draft: Draft;
  readonly approvals: readonly OpenApproval[];
  readonly questions: readonly OpenQuestion[];
  readonly cut?: Cut | undefined;
}

export type HostToView =
  | ({
      readonly kind: "hello";
      readonly version: string;
      readonly server: ServerStatus;
      readonly choices: Choices;
      readonly settings: ViewSettings;
      readonly roots: readonly Root[];
    } & SessionShown)
  /** Another session is on screen, or the same one after the server came back: history is to be fetched anew. */
  | ({ readonly kind: "session" } & SessionShown)
  /** What is told of the session changed (title, model, mode, …); same session. */
  | { readonly kind: "info"; readonly session: SessionInfo }
  | { readonly kind: "batch"; readonly batch: number; readonly events: readonly ServerEvent[] }
  | { readonly kind: "response"; readonly id: number; readonly result: unknown }
  | { readonly kind: "response"; readonly id: number; readonly error: BridgeError }
  | { readonly kind: "approval"; readonly approval: OpenApproval }
  | { readonly kind: "approvalResolved"; readonly key: string; readonly outcome: "allow" | "deny" | "withdrawn" }
  | { readonly kind: "question"; readonly question: OpenQuestion }
  | { readonly kind: "questionResolved"; readonly key: string }
  /** A run has ended, whoever asked for it: also the view that was there before a reload. After its last event. */
  | { readonly kind: "runEnded"; readonly sessionId: string; readonly result: RunResult }
  /**
   * Inputs that were accepted and will never reach the agent, because their run or the server has ended: back into the
   * composer with them, before what is in it. Only posted to a view that shows the session; else they are in its draft.
   */
  | { readonly kind: "returned"; readonly sessionId: string; readonly inputs: readonly Input[] }
  /** A run was asked for outside of the view (a code action, a command): its input, which the stream does not repeat. */
  | { readonly kind: "asked"; readonly sessionId: string; readonly input: Input }
  /** Edits of the session on screen were kept, undone or changed, here or in the editor. */
  | { readonly kind: "edits"; readonly sessionId: string; readonly edits: readonly EditInfo[] }
  | { readonly kind: "server"; readonly server: ServerStatus }
  | { readonly kind: "choices"; readonly choices: Choices }
  | { readonly kind: "settings"; readonly settings: ViewSettings }
  | { readonly kind: "roots"; readonly roots: readonly Root[] }
  | ({ readonly kind: "command" } & ViewCommand);
