/** The chat view: gives each message of the host to the part it concerns, and each wish of the person to the host. */

import type { Choices, Root, SessionShown, ViewSettings } from "../../shared/bridge";
import type { NewParams, SessionInfo, StateParams } from "../../shared/protocol";
import { Composer } from "../composer/composer";
import { draftOf } from "../composer/input";
import { Pickers, type Setting } from "../composer/pickers";
import { Tray } from "../composer/tray";
import { Dock } from "../decide/dock";
import { Frames } from "../list/frames";
import type { Conversation } from "../model/conversation";
import { Banner } from "./banner";
import { runCommand } from "./commands";
import { Drafts } from "./drafts";
import { Find } from "./find";
import { Header } from "./header";
import { isAtWork, Layout } from "./layout";
import { Memory } from "./memory";
import { Port, wordsOf, type HostMessage } from "./port";
import { Sending } from "./sending";
import { SessionView } from "./session_view";
import { Status } from "./status";
import { Stopping } from "./stopping";
import { perform } from "./view_commands";

type Decision = Extract<HostMessage, { kind: "approval" | "approvalResolved" | "question" | "questionResolved" }>;
type Told = Exclude<HostMessage, Decision | { kind: "hello" | "session" | "batch" | "command" }>;

type Chosen = Readonly<Partial<Record<Setting, string>>>;

const NO_CHOICES: Choices = { models: [], defaultModel: null, approvalModes: [], thinkingLevels: [], modes: [] };

export class App {
  private readonly port = new Port((message) => this.receive(message));
  private readonly frames = new Frames();
  private readonly status = new Status();
  private readonly banner = new Banner((act) => this.port.act(act));
  private readonly header = new Header({
    act: (act) => this.port.act(act),
    rename: (title) => void this.update("title", title),
    find: () => this.find.open(),
  });
  private readonly stopping = new Stopping(this.port, () => this.draw());
  private readonly drafts: Drafts;
  private readonly view = this.newView();
  private readonly find = this.newFind();
  private readonly pickers = new Pickers((setting, value) => void this.update(setting, value));
  private readonly composer = this.newComposer();
  private readonly sending = this.newSending();
  private readonly dock = this.newDock();
  private readonly layout: Layout;
  private session: SessionInfo | null = null;
  private state: StateParams | null = null;
  private choices = NO_CHOICES;
  private roots: readonly Root[] = [];
  private settings: ViewSettings = { showThinking: false, sendWithCtrlEnter: false, showCost: true, trusted: true };
  private beginning: Promise<Conversation> | null = null;

  constructor(root: HTMLElement) {
    this.drafts = new Drafts(this.port, root);
    const { view, header, banner, find, dock, pickers, composer, status } = this;
    const tray = new Tray({
      takeBack: (entry) => this.view.conversation && void this.sending.takeBack(this.view.conversation, entry),
      denyAndSend: () => this.sending.denyAndSend(),
    });
    this.layout = new Layout(root, { view, header, banner, find, dock, tray, pickers, composer, status });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** The script runs: the host may send what it knows. */
  start(): void {
    this.port.post({ kind: "ready" });
  }

  /** Something in the view has failed; it says so and stays as usable as it can be. */
  failed(error: unknown): void {
    const message = wordsOf(error);
    this.banner.failed(message);
    this.port.post({ kind: "failed", message, ...(error instanceof Error && error.stack ? { stack: error.stack } : {}) });
  }

  private get isBusy(): boolean {
    return isAtWork(this.state);
  }

  private receive(message: HostMessage): void {
    switch (message.kind) {
      case "hello":
        document.getElementById("boot")?.remove();
        this.settings = message.settings;
        this.choices = message.choices;
        this.roots = message.roots;
        this.banner.server(message.server);
        this.shown(message);
        return;
      case "session":
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
        perform(message, { composer: this.composer, view: this.view, find: this.find, dock: this.dock, stop: () => this.stop() });
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
    if ("sessionId" in message && message.sessionId !== this.session?.sessionId) return;
    switch (message.kind) {
      case "info":
        if (message.session.sessionId === this.session?.sessionId) this.session = message.session;
        return;
      case "runEnded":
        this.view.ended(message.result);
        return;
      case "returned":
        this.view.conversation?.waiting.drainQueued();
        this.composer.returned(message.inputs.map((input) => draftOf(input, this.composer.attachments.id)));
        return;
      case "asked":
        this.view.conversation?.waiting.asked(message.input, Date.now());
        return;
      case "edits":
        this.view.editsChanged(message.edits);
        return;
      case "server":
        this.banner.server(message.server);
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
    const tools = this.view.conversation?.story.tools;
    switch (message.kind) {
      case "approval": {
        const { params } = message.approval;
        this.dock.approval(message.approval);
        tools?.asking(params.toolCall.tool_call_id, true);
        this.status.approvalNeeded(params.title);
        return;
      }
      case "approvalResolved": {
        const open = this.dock.openApprovals.find(({ key }) => key === message.key);
        if (open) tools?.asking(open.params.toolCall.tool_call_id, false);
        this.dock.close(message.key);
        return;
      }
      case "question":
        this.dock.question(message.question);
        this.status.approvalNeeded(message.question.params.question);
        return;
      case "questionResolved":
        this.dock.close(message.key);
    }
  }

  /** A session is on screen, another one or the same anew. */
  private shown({ session, state, draft, approvals, questions }: SessionShown): void {
    const isOther = session?.sessionId !== this.session?.sessionId;
    const typed = this.session === null ? this.composer.draft : null;
    this.session = session;
    this.state = state;
    this.sending.forget();
    this.stopping.over();
    this.dock.clear();
    for (const approval of approvals) this.dock.approval(approval);
    for (const question of questions) this.dock.question(question);
    // What was typed before there was a session belongs to the one that comes.
    if (isOther || this.composer.isEmpty) this.composer.set(typed && typed.text !== "" ? typed : draft);
    this.keep(true);
    void this.view.open(session, state).then(() => {
      const { conversation } = this.view;
      if (!conversation) return;
      for (const { params } of this.dock.openApprovals) conversation.story.tools.asking(params.toolCall.tool_call_id, true);
    });
    this.draw();
  }

  private stateChanged(state: StateParams): void {
    if (state.sessionId !== this.session?.sessionId) return;
    this.state = state;
    this.sending.stateChanged(state);
    if (!this.isBusy) this.stopping.over();
    this.view.state(state);
    this.draw();
  }

  private streamed(params: Parameters<Conversation["receive"]>[0]): void {
    if (params.sessionId !== this.session?.sessionId) return;
    if (params.runId !== undefined) this.sending.messageCame();
    this.view.conversation?.receive(params);
  }

  /** The server is gone: nothing runs, nobody can be asked. */
  private lost(): void {
    if (this.state) this.state = { ...this.state, state: "idle", queued: 0, pendingApprovals: 0 };
    this.stopping.over();
    this.dock.clear();
    this.view.conversation?.running(false);
  }

  private stop(): void {
    if (this.session && this.isBusy) this.stopping.begin(this.session.sessionId);
  }

  private async update(setting: Setting | "title", value: string): Promise<void> {
    if (value === "") return;
    try {
      if (this.session) this.session = await this.port.request("agent/session/update", { sessionId: this.session.sessionId, [setting]: value });
      else if (setting !== "title") await this.conversationToSendTo({ [setting]: value });
      this.composer.say("");
    } catch (error) {
      this.composer.say(wordsOf(error));
    }
    this.draw();
  }

  private keep(isUrgent: boolean): void {
    this.drafts.keep(this.session?.sessionId, this.composer.draft, isUrgent);
  }

  private draw(): void {
    this.frames.ask("app", () => {
      const { session, state, choices, roots, settings } = this;
      this.layout.draw({ session, state, choices, roots, settings, stopping: this.stopping.state, isSending: this.sending.isUnderway });
    });
  }

  private drawRows(): void {
    this.frames.ask("rows", () => this.layout.drawRows(this.settings.showCost));
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "f") {
      event.preventDefault();
      this.find.open();
    } else if (event.key === "Escape") {
      if (this.find.isOpen) this.find.close();
      else this.stop();
    }
  }

  private newView(): SessionView {
    return new SessionView(this.port, this.frames, new Memory(this.port), this.status, {
      settings: () => this.settings,
      isBusy: () => this.isBusy,
      changed: () => this.drawRows(),
      waiting: () => this.draw(),
      failed: (error) => this.composer.say(wordsOf(error)),
    });
  }

  private newFind(): Find {
    return new Find({
      rows: () => this.view.conversation?.rows ?? [],
      loadAll: () => this.view.loadAll(),
      reveal: (row) => this.view.reveal(row),
      mounted: () => [...this.view.list.mountedRows.values()].map((card) => card.element),
      closed: () => this.composer.field.focus(),
    });
  }

  private newComposer(): Composer {
    return new Composer(
      this.port,
      {
        send: (draft, how) => void this.sending.send(draft, how),
        stop: () => this.stop(),
        restart: () => this.port.act({ act: "restart" }),
        runCommand: (command) => void runCommand(command, this.port, this.session?.sessionId, (words) => this.composer.say(words)),
        keep: (isUrgent) => this.keep(isUrgent),
        sendsWithCtrlEnter: () => this.settings.sendWithCtrlEnter,
      },
      this.pickers.element,
    );
  }

  private newSending(): Sending {
    return new Sending(this.port, this.composer, {
      conversation: () => this.conversationToSendTo(),
      isBusy: () => this.isBusy,
      openApprovals: () => this.dock.openApprovals,
      sendingChanged: () => this.draw(),
    });
  }

  private newDock(): Dock {
    const { port } = this;
    return new Dock(
      {
        act: (act) => port.act(act),
        approve: (key, answer) => port.post({ kind: "approve", key, answer }),
        answer: (key, answer) => port.post({ kind: "answer", key, answer }),
      },
      () => this.composer.field.focus(),
    );
  }

  /** A session is begun by the first text or the first choice; two at once begin one. */
  private conversationToSendTo(chosen: Chosen = {}): Promise<Conversation> {
    const { conversation } = this.view;
    if (conversation) return Promise.resolve(conversation);
    this.beginning ??= this.begin(chosen).finally(() => (this.beginning = null));
    return this.beginning;
  }

  private async begin(chosen: Chosen): Promise<Conversation> {
    this.session = await this.port.request("agent/session/new", chosen as NewParams);
    this.state = null;
    // What was typed before there was a session belongs to the one that came.
    this.drafts.keep(undefined, { text: "", attachments: [] }, true);
    this.keep(true);
    const opened = this.view.open(this.session, null);
    this.draw();
    await opened;
    const { conversation } = this.view;
    if (!conversation) throw new Error("Another session was opened meanwhile.");
    return conversation;
  }
}
