/** The chat view: puts its parts together and gives each message of the host to the one it concerns. */

import { NEW_SESSION_DRAFT, type Choices, type Draft, type Root, type SessionShown, type SlashCommand, type ViewCommand, type ViewSettings } from "../../shared/bridge";
import type { SessionInfo, StateParams } from "../../shared/protocol";
import { Composer } from "../composer/composer";
import { draftOf, EMPTY } from "../composer/input";
import { Pickers, type Setting } from "../composer/pickers";
import { Tray } from "../composer/tray";
import { Dock } from "../decide/dock";
import { Frames } from "../list/frames";
import { button, make, setText, show } from "../markdown/nodes";
import type { Conversation } from "../model/conversation";
import { Banner } from "./banner";
import { runCommand } from "./commands";
import { Find } from "./find";
import { Header } from "./header";
import { Memory } from "./memory";
import { Port, type HostMessage } from "./port";
import { Sending } from "./sending";
import { SessionView } from "./session_view";
import { Status } from "./status";
import { Stopping } from "./stopping";
import { welcome } from "./welcome";

const NO_CHOICES: Choices = { models: [], defaultModel: null, approvalModes: [], thinkingLevels: [], modes: [] };
const DRAFT_PAUSE_MS = 300;

export class App {
  private readonly port = new Port((message) => this.receive(message));
  private readonly frames = new Frames();
  private readonly status = new Status();
  private readonly banner = new Banner((act) => this.port.act(act));
  private readonly view: SessionView;
  private readonly header: Header;
  private readonly find: Find;
  private readonly dock: Dock;
  private readonly tray: Tray;
  private readonly pickers: Pickers;
  private readonly composer: Composer;
  private readonly sending: Sending;
  private readonly stopping: Stopping;
  private readonly latest: HTMLButtonElement;
  private readonly welcome: HTMLElement;
  private session: SessionInfo | null = null;
  private state: StateParams | null = null;
  private choices = NO_CHOICES;
  private roots: readonly Root[] = [];
  private settings: ViewSettings = { showThinking: false, sendWithCtrlEnter: false, showCost: true, trusted: true };
  private draftTimer = 0;
  private awaited: ((conversation: Conversation) => void)[] = [];

  constructor(private readonly root: HTMLElement) {
    this.view = this.sessionView();
    this.header = new Header({ act: (act) => this.port.act(act), rename: (title) => void this.update("title", title), find: () => this.find.open() });
    this.find = this.finder();
    this.dock = new Dock(
      {
        act: (act) => this.port.act(act),
        approve: (key, answer) => this.port.post({ kind: "approve", key, answer }),
        answer: (key, answer) => this.port.post({ kind: "answer", key, answer }),
      },
      () => this.composer.field.focus(),
    );
    this.pickers = new Pickers((setting, value) => void this.update(setting, value));
    this.composer = this.newComposer();
    this.sending = this.newSending();
    this.stopping = new Stopping(this.port, () => this.draw());
    this.tray = new Tray({
      takeBack: (entry) => this.view.conversation && void this.sending.takeBack(this.view.conversation, entry),
      denyAndSend: () => this.sending.denyAndSend(),
    });
    this.latest = button("Latest", () => this.view.list.goToEnd(), { class: "latest" });
    this.welcome = welcome((text) => {
      this.composer.set({ text, attachments: [] });
      this.composer.field.focus();
    });
    this.mount();
  }

  /** The script runs: the host may send what it knows. */
  start(): void {
    this.port.post({ kind: "ready" });
  }

  /** Something in the view has failed; it says so and stays as usable as it can be. */
  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.banner.failed(message);
    this.port.post({ kind: "failed", message, ...(error instanceof Error && error.stack ? { stack: error.stack } : {}) });
  }

  private get isBusy(): boolean {
    return this.state !== null && this.state.state !== "idle" && this.state.state !== "auth_required";
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
        this.command(message);
        return;
      default:
        this.told(message);
    }
  }

  private told(message: Exclude<HostMessage, { kind: "hello" | "session" | "batch" | "command" }>): void {
    const { conversation } = this.view;
    switch (message.kind) {
      case "info":
        if (message.session.sessionId === this.session?.sessionId) this.session = message.session;
        break;
      case "approval":
        this.dock.approval(message.approval);
        conversation?.story.tools.asking(message.approval.params.toolCall.tool_call_id, true);
        this.status.approvalNeeded(message.approval.params.title);
        break;
      case "approvalResolved":
        for (const { key, params } of this.dock.openApprovals) {
          if (key === message.key) conversation?.story.tools.asking(params.toolCall.tool_call_id, false);
        }
        this.dock.close(message.key);
        break;
      case "question":
        this.dock.question(message.question);
        this.status.approvalNeeded(message.question.params.question);
        break;
      case "questionResolved":
        this.dock.close(message.key);
        break;
      case "runEnded":
        if (message.sessionId === this.session?.sessionId) this.view.ended(message.result);
        break;
      case "returned":
        if (message.sessionId !== this.session?.sessionId) break;
        for (const entry of conversation?.waiting.all ?? []) if (entry.state === "queued") conversation?.waiting.remove(entry);
        this.composer.returned(message.inputs.map((input) => draftOf(input, this.composer.attachments.id)));
        break;
      case "asked":
        if (message.sessionId === this.session?.sessionId) conversation?.waiting.accepted(conversation.waiting.add("run", message.input, Date.now()));
        break;
      case "edits":
        if (message.sessionId === this.session?.sessionId) this.view.editsChanged(message.edits);
        break;
      case "server":
        this.banner.server(message.server);
        if (message.server.state !== "running") this.lost();
        break;
      case "choices":
        this.choices = message.choices;
        break;
      case "settings":
        this.settings = message.settings;
        break;
      case "roots":
        this.roots = message.roots;
    }
    this.draw();
  }

  /** A session is on screen, another one or the same anew. */
  private shown({ session, state, draft, approvals, questions }: SessionShown): void {
    const isOther = session?.sessionId !== this.session?.sessionId;
    const hadNone = this.session === null;
    this.session = session;
    this.state = state;
    this.sending.forget();
    this.stopping.over();
    this.dock.clear();
    for (const approval of approvals) this.dock.approval(approval);
    for (const question of questions) this.dock.question(question);
    if (isOther || this.composer.draft.text === "") {
      const typed = this.composer.draft;
      this.composer.set(hadNone && typed.text !== "" ? typed : draft);
    }
    this.keep(this.composer.draft, true);
    void this.view.open(session, state).then(() => {
      const { conversation } = this.view;
      if (conversation) for (const resolve of this.awaited.splice(0)) resolve(conversation);
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

  private command(command: ViewCommand): void {
    switch (command.command) {
      case "focusComposer":
        this.composer.field.focus();
        return;
      case "find":
        this.find.open();
        return;
      case "focusApproval":
        if (!this.dock.focus()) this.composer.field.focus();
        return;
      case "nextMessage":
        this.view.reading.step(1);
        return;
      case "previousMessage":
        this.view.reading.step(-1);
        return;
      case "latest":
        this.view.list.goToEnd();
        return;
      case "stop":
        this.stop();
        return;
      case "attach":
        this.composer.attachments.add(command.attachments);
        if (command.focus) this.composer.field.focus();
        return;
      case "insertText":
        this.composer.insert(command.text);
        if (command.focus) this.composer.field.focus();
    }
  }

  private stop(): void {
    if (this.session && this.isBusy) this.stopping.begin(this.session.sessionId);
  }

  private async update(setting: Setting | "title", value: string): Promise<void> {
    if (!this.session || value === "") return;
    try {
      this.session = await this.port.request("agent/session/update", { sessionId: this.session.sessionId, [setting]: value });
      this.composer.say("");
    } catch (error) {
      this.composer.say(error instanceof Error ? error.message : String(error));
    }
    this.draw();
  }

  /** Hands the draft to the host, when typing pauses or at once. */
  private keep(draft: Draft, isUrgent: boolean): void {
    window.clearTimeout(this.draftTimer);
    const session = this.session?.sessionId ?? NEW_SESSION_DRAFT;
    const post = (): void => {
      this.port.act({ act: "draft", session, draft });
      this.root.dataset.draft = "kept";
    };
    if (isUrgent) {
      post();
      return;
    }
    delete this.root.dataset.draft;
    this.draftTimer = window.setTimeout(post, DRAFT_PAUSE_MS);
  }

  private draw(): void {
    this.frames.ask("app", () => this.drawNow());
  }

  private drawNow(): void {
    const { conversation } = this.view;
    const { isBusy, stopping } = this;
    this.root.dataset.state = stopping.state === "no" ? (this.state?.state ?? "idle") : "stopping";
    this.header.draw(this.session, this.roots);
    this.header.gauge.draw(conversation?.story.gauge ?? { total: 0 }, this.settings.showCost);
    this.pickers.draw(this.session, this.choices, this.settings.trusted, isBusy);
    this.composer.mode({ isBusy, stopping: stopping.state, isSending: this.sending.isUnderway });
    this.tray.draw(conversation?.waiting.all.filter((entry) => entry.kind === "steer" || entry.state === "queued") ?? [], this.dock.openApprovals.length > 0, isBusy);
    show(this.welcome, conversation === null || (conversation.isLoaded && conversation.rows.length === 0 && conversation.waiting.all.length === 0));
    const { following } = this.view.list;
    show(this.latest, !following.isOn);
    setText(this.latest, following.newRows > 0 ? `Latest (${following.newRows} new)` : "Latest");
    this.view.scroller.setAttribute("aria-busy", String(isBusy));
    this.find.mark();
  }

  private mount(): void {
    const middle = make("div", { class: "middle" }, this.view.scroller, this.welcome, this.latest);
    const foot = make("div", { class: "foot" }, this.dock.element, this.tray.element, this.composer.element);
    this.root.append(this.header.element, this.banner.element, this.find.element, middle, foot, this.status.element);
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("pagehide", () => this.keep(this.composer.draft, true));
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const isCtrl = event.ctrlKey || event.metaKey;
    if (isCtrl && event.key.toLowerCase() === "f" && !event.shiftKey) {
      event.preventDefault();
      this.find.open();
    } else if (event.key === "Escape") {
      if (this.find.isOpen) this.find.close();
      else this.stop();
    }
  }

  private sessionView(): SessionView {
    const app = (): App => this;
    return new SessionView(this.port, this.frames, new Memory(this.port), this.status, {
      get showThinking() {
        return app().settings.showThinking;
      },
      get showCost() {
        return app().settings.showCost;
      },
      get isBusy() {
        return app().isBusy;
      },
      changed: () => this.draw(),
      moved: () => this.draw(),
      loaded: (page) => this.view.conversation?.waiting.restore([], page.pending, Date.now()),
      failed: (error) => this.composer.say(error instanceof Error ? error.message : String(error)),
    });
  }

  private newComposer(): Composer {
    return new Composer(
      this.port,
      {
        send: (draft, how) => void this.sending.send(draft, how),
        stop: () => this.stop(),
        restart: () => this.port.act({ act: "restart" }),
        runCommand: (command: SlashCommand) => void runCommand(command, this.port, this.session?.sessionId, (words) => this.composer.say(words)),
        keep: (draft, isUrgent) => this.keep(draft, isUrgent),
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

  private conversationToSendTo(): Promise<Conversation> {
    const { conversation } = this.view;
    if (conversation) return Promise.resolve(conversation);
    this.port.act({ act: "newSession" });
    return new Promise((resolve) => this.awaited.push(resolve));
  }

  private finder(): Find {
    return new Find({
      rows: () => this.view.conversation?.rows ?? [],
      loadAll: () => this.view.loadAll(),
      reveal: (row) => this.view.reveal(row),
      mounted: () => [...this.view.list.mountedRows.values()].map((card) => card.element),
      closed: () => this.composer.field.focus(),
    });
  }
}

export { EMPTY };
