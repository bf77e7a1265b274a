/** The chat view: gives each message of the host to the part it concerns, and each wish of the person to the host. */

import type { Choices, Draft, Root, SessionShown, ViewSettings } from "../../shared/bridge";
import type { NewParams, SessionInfo, StateParams } from "../../shared/protocol";
import { draftOf } from "../composer/input";
import type { Setting } from "../composer/pickers";
import { Frames } from "../list/frames";
import type { Conversation } from "../model/conversation";
import { assemble, type Assembled } from "./assemble";
import { Drafts } from "./drafts";
import { listenForKeys } from "./keys";
import { isAtWork, Layout, stateOf } from "./layout";
import { Port, wordsOf, type HostMessage } from "./port";
import { Stopping } from "./stopping";
import { perform } from "./viewCommands";

type Decision = Extract<HostMessage, { kind: "approval" | "approvalResolved" | "question" | "questionResolved" }>;
type Told = Exclude<HostMessage, Decision | { kind: "hello" | "session" | "batch" | "command" }>;

type Chosen = Readonly<Partial<Record<Setting, string>>>;

const NOTHING: Draft = { text: "", attachments: [] };
const NO_CHOICES: Choices = { models: [], defaultModel: null, approvalModes: [], thinkingLevels: [], modes: [] };

export class App {
  private readonly port = new Port((message) => this.receive(message));
  private readonly frames = new Frames();
  private readonly stopping = new Stopping(this.port, () => this.draw());
  private readonly drafts: Drafts;
  private readonly parts: Assembled;
  private readonly layout: Layout;
  private session: SessionInfo | null = null;
  private state: StateParams | null = null;
  private choices = NO_CHOICES;
  private roots: readonly Root[] = [];
  private settings: ViewSettings = { showThinking: false, sendWithCtrlEnter: false, showCost: true, trusted: true };
  /** What the host gave the composer last. */
  private given: Draft = NOTHING;
  private beginning: Promise<Conversation> | null = null;
  private isAskingForSession = false;

  constructor(root: HTMLElement) {
    this.drafts = new Drafts(this.port, root);
    this.parts = assemble(this.port, this.frames, {
      settings: () => this.settings,
      session: () => this.session,
      isBusy: () => isAtWork(this.state),
      draw: () => this.draw(),
      drawRows: () => this.drawRows(),
      stop: () => this.stop(),
      update: (setting, value) => void this.update(setting, value),
      keep: (isUrgent) => this.keep(isUrgent),
      conversation: () => this.conversationToSendTo(),
    });
    this.layout = new Layout(root, this.parts);
    listenForKeys(this.parts.find, () => this.stop());
  }

  /** The script runs. */
  start(): void {
    this.port.post({ kind: "ready" });
  }

  /** Something in the view has failed; it says so and stays as usable as it can be. */
  failed(error: unknown): void {
    const message = wordsOf(error);
    this.parts.banner.failed(message);
    this.port.post({
      kind: "failed",
      message,
      ...(error instanceof Error && error.stack ? { stack: error.stack } : {}),
    });
  }

  private receive(message: HostMessage): void {
    switch (message.kind) {
      case "hello":
        document.getElementById("boot")?.remove();
        this.settings = message.settings;
        this.choices = message.choices;
        this.roots = message.roots;
        this.parts.banner.server(message.server);
        this.shown(message);
        return;
      case "session":
        // None, told before the host heard of the one that is being begun.
        if (message.session === null && this.isAskingForSession) return;
        this.shown(message);
        return;
      case "batch":
        for (const event of message.events) {
          if (event.method === "agent/state") this.stateChanged(event.params);
          else this.streamed(event.params);
        }
        this.port.post({ kind: "ack", batch: message.batch });
        return;
      case "command":
        perform(message, { ...this.parts, stop: () => this.stop() });
        return;
      case "approval":
      case "approvalResolved":
      case "question":
      case "questionResolved":
        this.decision(message);
        break;
      default:
        this.told(message);
    }
    this.draw();
  }

  private told(message: Told): void {
    // While the server starts the session is not here yet; texts of its that come back belong before what is typed.
    const isComing = this.session === null && message.kind === "returned";
    if ("sessionId" in message && message.sessionId !== this.session?.sessionId && !isComing) return;
    switch (message.kind) {
      case "info":
        if (message.session.sessionId === this.session?.sessionId) this.session = message.session;
        return;
      case "runEnded":
        this.parts.view.ended(message.result);
        return;
      case "returned":
        this.parts.view.conversation?.waiting.drainQueued();
        this.parts.composer.returned(message.inputs.map((input) => draftOf(input, this.parts.composer.attachments.id)));
        return;
      case "asked":
        this.parts.view.conversation?.waiting.asked(message.input, Date.now());
        return;
      case "edits":
        this.parts.view.editsChanged(message.edits);
        return;
      case "server":
        this.parts.banner.server(message.server);
        if (message.server.state !== "running") this.lost();
        return;
      case "choices":
        this.choices = message.choices;
        return;
      case "settings":
        this.settings = message.settings;
        return;
      case "roots":
        this.roots = message.roots;
    }
  }

  private decision(message: Decision): void {
    const tools = this.parts.view.conversation?.story.tools;
    switch (message.kind) {
      case "approval": {
        const { params } = message.approval;
        this.parts.dock.approval(message.approval);
        tools?.asking(params.toolCall.tool_call_id, true);
        this.parts.status.approvalNeeded(params.title);
        return;
      }
      case "approvalResolved": {
        const open = this.parts.dock.openApprovals.find(({ key }) => key === message.key);
        if (open) tools?.asking(open.params.toolCall.tool_call_id, false);
        this.parts.dock.close(message.key);
        return;
      }
      case "question":
        this.parts.dock.question(message.question);
        this.parts.status.approvalNeeded(message.question.params.question);
        return;
      case "questionResolved":
        this.parts.dock.close(message.key);
    }
  }

  /** A session is on screen, another one or the same anew. */
  private shown({ session, state, draft, approvals, questions, cut }: SessionShown): void {
    const isOther = session?.sessionId !== this.session?.sessionId;
    this.drafts.flush();
    const hadNone = this.session === null;
    this.session = session;
    this.state = state ?? stateOf(session, approvals.length);
    this.parts.sending.forget();
    this.stopping.over();
    this.parts.dock.clear();
    for (const approval of approvals) this.parts.dock.approval(approval);
    for (const question of questions) this.parts.dock.question(question);
    if (hadNone || isOther || this.parts.composer.isEmpty) this.adopt(draft, hadNone);
    void this.parts.view.open(session, state, cut).then(() => {
      const { conversation } = this.parts.view;
      if (!conversation) return;
      for (const { params } of this.parts.dock.openApprovals)
        conversation.story.tools.asking(params.toolCall.tool_call_id, true);
    });
    this.draw();
  }

  /** Shows the draft of the session, or what was typed before it came and the host has nothing newer than. */
  private adopt(draft: Draft, hadNone: boolean): void {
    const { composer } = this.parts;
    const isNewer = hadNone && !composer.isEmpty && JSON.stringify(draft) === JSON.stringify(this.given);
    this.given = draft;
    if (isNewer) {
      this.drafts.keep(undefined, NOTHING, true);
      this.keep(true);
    } else {
      composer.set(draft);
      this.drafts.received();
    }
  }

  private stateChanged(state: StateParams): void {
    if (state.sessionId !== this.session?.sessionId) return;
    this.state = state;
    this.parts.sending.stateChanged(state);
    if (!isAtWork(this.state)) this.stopping.over();
    this.parts.view.state(state);
    this.draw();
  }

  private streamed(params: Parameters<Conversation["receive"]>[0]): void {
    if (params.sessionId !== this.session?.sessionId) return;
    if (params.runId !== undefined) this.parts.sending.messageCame();
    this.parts.view.conversation?.receive(params);
  }

  /** The server is gone: nothing runs, nobody can be asked. */
  private lost(): void {
    if (this.state) this.state = { ...this.state, state: "idle", queued: 0, pendingApprovals: 0 };
    this.stopping.over();
    this.parts.dock.clear();
    this.parts.view.conversation?.running(false);
  }

  private stop(): void {
    if (this.session && isAtWork(this.state)) this.stopping.begin(this.session.sessionId);
  }

  private async update(setting: Setting | "title", value: string): Promise<void> {
    if (value === "") return;
    try {
      if (this.session)
        this.session = await this.port.request("agent/session/update", {
          sessionId: this.session.sessionId,
          [setting]: value,
        });
      else if (setting !== "title") await this.conversationToSendTo({ [setting]: value });
      this.parts.composer.say("");
    } catch (error) {
      this.parts.composer.say(wordsOf(error));
    }
    this.draw();
  }

  private keep(isUrgent: boolean): void {
    this.drafts.keep(this.session?.sessionId, this.parts.composer.draft, isUrgent);
  }

  private draw(): void {
    this.frames.ask("app", () => {
      const { session, state, choices, roots, settings } = this;
      this.layout.draw({
        session,
        state,
        choices,
        roots,
        settings,
        stopping: this.stopping.state,
        isSending: this.parts.sending.isUnderway,
      });
    });
  }

  private drawRows(): void {
    this.frames.ask("rows", () => this.layout.drawRows(this.settings.showCost));
  }

  /** A session is begun by the first text or the first choice; two at once begin one. */
  private conversationToSendTo(chosen: Chosen = {}): Promise<Conversation> {
    const { conversation } = this.parts.view;
    if (conversation) return Promise.resolve(conversation);
    this.beginning ??= this.begin(chosen).finally(() => (this.beginning = null));
    return this.beginning;
  }

  private async begin(chosen: Chosen): Promise<Conversation> {
    const { workspace } = this.parts.header;
    this.isAskingForSession = true;
    const params = { ...(workspace === undefined ? {} : { workspace }), ...(chosen as NewParams) };
    const made = this.port.request("agent/session/new", params);
    this.session = await made.finally(() => (this.isAskingForSession = false));
    this.state = null;
    // What was typed before there was a session belongs to the one that came.
    this.drafts.keep(undefined, NOTHING, true);
    this.keep(true);
    const opened = this.parts.view.open(this.session, null);
    this.draw();
    await opened;
    const { conversation } = this.parts.view;
    if (!conversation) throw new Error("Another session was opened meanwhile.");
    return conversation;
  }
}
