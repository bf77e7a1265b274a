/**
 * Where the person writes. Enter sends (steers, while something runs), Shift+Enter begins a line, nothing is sent while an
 * input method composes. What is written is the session's draft: the host keeps it, and it leaves the field only when the
 * server has taken it.
 */

import type { Draft, SlashCommand } from "../../shared/bridge";
import { icon } from "../markdown/icons";
import { button, make, setText, show } from "../markdown/nodes";
import type { Port } from "../page/port";
import { Attachments } from "./attachments";
import { Completion, triggerAt, type Trigger } from "./completion";
import { isEmpty, merged, without } from "./input";
import { offersFor } from "./offers";
import { isComposing } from "./keys";

export interface ComposerHost {
  send(draft: Draft, how: "send" | "queue"): void;
  stop(): void;
  restart(): void;
  runCommand(command: SlashCommand): void;
  /** The draft has to be kept: at once, or when typing pauses. */
  keep(isUrgent: boolean): void;
  sendsWithCtrlEnter(): boolean;
}

export class Composer {
  readonly element: HTMLElement;
  readonly field = make("textarea", {
    class: "field",
    attributes: { "aria-label": "Message", rows: "2", "aria-autocomplete": "list", spellcheck: "true" },
  });
  readonly attachments: Attachments;
  private readonly notice = make("p", { class: "composer-notice", attributes: { role: "alert" } });
  private readonly completion = new Completion(this.field);
  private readonly sendButton: HTMLButtonElement;
  private readonly queueButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly restartButton: HTMLButtonElement;
  private asked = 0;

  constructor(
    private readonly port: Port,
    private readonly host: ComposerHost,
    pickers: HTMLElement,
  ) {
    this.attachments = new Attachments(() => this.changed(true), (why) => this.say(why)); // prettier-ignore
    this.sendButton = button("Send", () => this.send("send"), { class: "primary-button send-button" });
    this.queueButton = button(
      "Queue for afterwards",
      () => this.send("queue"),
      { class: "small-button queue-button", title: "Queue for afterwards: send when the run has ended (Alt+Enter)" },
      icon("queue"),
      make("span", { class: "queue-label", text: "Queue for afterwards" }),
    );
    this.stopButton = button("Stop", () => host.stop(), { class: "small-button stop-button", title: "Stop (Esc)" });
    this.restartButton = button("Restart server", () => host.restart(), { class: "small-button" });
    const attach = button(
      "Attach…",
      () => port.act({ act: "pickAttachment" }),
      { class: "icon-button", title: "Attach files or images" },
      icon("attach"),
    );
    const actions = make(
      "div",
      { class: "composer-actions" },
      attach,
      make("span", { class: "spacer" }),
      this.restartButton,
      this.stopButton,
      this.queueButton,
      this.sendButton,
    );
    const box = make("div", { class: "composer-box" }, this.attachments.element, this.field, actions);
    this.element = make("div", { class: "composer" }, this.completion.element, this.notice, box, pickers);
    this.notice.hidden = this.restartButton.hidden = true;
    this.listen(box);
  }

  get draft(): Draft {
    return { text: this.field.value, attachments: [...this.attachments.all] };
  }

  get isEmpty(): boolean {
    return isEmpty(this.draft);
  }

  /** A way to begin, to be changed or sent. */
  begin(text: string): void {
    this.set({ text, attachments: [] });
    this.host.keep(true);
    this.field.focus();
  }

  set(draft: Draft): void {
    this.field.value = draft.text;
    this.attachments.set(draft.attachments);
    this.completion.close();
    this.refresh();
  }

  /** The server has taken this: what was typed since stays. */
  accepted(sent: Draft): void {
    this.set(without(this.draft, sent));
    this.say("");
    this.host.keep(true);
  }

  /** Texts that come back stand before what is there. */
  returned(drafts: readonly Draft[]): void {
    this.set(merged(drafts, this.draft));
    this.host.keep(true);
  }

  insert(text: string): void {
    const { selectionStart, selectionEnd, value } = this.field;
    this.field.setRangeText(text, selectionStart || value.length, selectionEnd || value.length, "end");
    this.changed(true);
  }

  /** One line above the field, for what went wrong; empty takes it away. */
  say(sentence: string): void {
    setText(this.notice, sentence);
    show(this.notice, sentence !== "");
  }

  /** What the buttons say: a run is on, it is being stopped, the server does not answer. */
  mode(state: {
    readonly isBusy: boolean;
    readonly stopping: "no" | "yes" | "unanswered";
    readonly isSending: boolean;
  }): void {
    setText(this.sendButton, state.isBusy ? "Steer" : "Send");
    show(this.queueButton, state.isBusy && state.stopping === "no");
    show(this.stopButton, state.isBusy || state.stopping !== "no");
    setText(this.stopButton, state.stopping === "no" ? "Stop" : "Stopping…");
    this.stopButton.disabled = state.stopping !== "no";
    show(this.restartButton, state.stopping === "unanswered");
    this.element.setAttribute("aria-busy", String(state.isSending));
    this.field.placeholder = state.isBusy
      ? "Steer the agent, or queue what comes next"
      : "Ask, or say what to change. @ mentions files, / lists commands";
    this.refresh();
  }

  private listen(box: HTMLElement): void {
    const { field } = this;
    field.addEventListener("input", () => this.changed(false));
    field.addEventListener("keydown", (event) => this.key(event));
    field.addEventListener("blur", () => {
      this.completion.close();
      this.host.keep(true);
    });
    field.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (!files.some((file) => file.type.startsWith("image/"))) return;
      event.preventDefault();
      void this.attachments.images(files);
    });
    box.addEventListener("dragover", (event) => {
      event.preventDefault();
      box.classList.add("is-target");
    });
    box.addEventListener("dragleave", () => box.classList.remove("is-target"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("is-target");
      void this.dropped(event.dataTransfer);
    });
  }

  private async dropped(data: DataTransfer | null): Promise<void> {
    if (!data) return;
    const uris = data
      .getData("text/uri-list")
      .split(/\r?\n/)
      .filter((uri) => uri !== "" && !uri.startsWith("#"));
    if (await this.attachments.images([...data.files])) return;
    if (uris.length === 0) return;
    const { files } = await this.port.request("host/dropped", { uris });
    this.attachments.add(
      files.map((file) => ({
        kind: "file",
        id: this.attachments.id(),
        label: file.path.split("/").pop() ?? file.path,
        uri: file.uri,
      })),
    );
  }

  private key(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (this.completion.key(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    const isCtrl = event.ctrlKey || event.metaKey;
    if (this.host.sendsWithCtrlEnter() && !isCtrl && !event.altKey) return;
    event.preventDefault();
    this.send(event.altKey && !this.queueButton.hidden ? "queue" : "send");
  }

  private send(how: "send" | "queue"): void {
    this.completion.close();
    if (isEmpty(this.draft)) return;
    this.host.send(this.draft, how);
    this.field.focus();
  }

  private changed(isUrgent: boolean): void {
    this.refresh();
    this.host.keep(isUrgent);
    void this.complete();
  }

  private refresh(): void {
    this.sendButton.disabled = this.queueButton.disabled = isEmpty(this.draft);
  }

  private async complete(): Promise<void> {
    const trigger = triggerAt(this.field.value, this.field.selectionStart);
    const number = ++this.asked;
    if (!trigger || document.activeElement !== this.field) {
      this.completion.close();
      return;
    }
    const offers = await offersFor(trigger, this.port, {
      replace: (at, text) => this.replace(at, text),
      attach: (attachment) => this.attachments.add([attachment]),
      run: (command) => this.host.runCommand(command),
      id: this.attachments.id,
    });
    if (number === this.asked) this.completion.set(offers);
  }

  private replace(trigger: Trigger, text: string): void {
    this.asked++;
    this.completion.close();
    this.field.setRangeText(text, trigger.start, this.field.selectionStart, "end");
    this.refresh();
    this.host.keep(true);
  }
}
