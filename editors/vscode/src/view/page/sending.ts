/** Sends what is written, and takes it back: each text is on its way, in the composer, or in the transcript. */

import type { Draft, OpenApproval } from "../../shared/bridge";
import type { Input, StateParams } from "../../shared/protocol";
import type { Composer } from "../composer/composer";
import { draftOf, inputOf } from "../composer/input";
import type { Conversation } from "../model/conversation";
import type { Entry } from "../model/waiting";
import { RequestFailed, wordsOf, type Port } from "./port";

export interface SendingHost {
  /** The conversation on screen; one is begun when there is none. */
  conversation(): Promise<Conversation>;
  isBusy(): boolean;
  openApprovals(): readonly OpenApproval[];
  sendingChanged(isSending: boolean): void;
}

/** What is said to the agent when a run that was cut off is to go on. */
export const GO_ON = "Go on where you were cut off.";

/** A text whose acceptance is not known yet. `draft`: what of it is in the composer. */
interface Underway {
  readonly conversation: Conversation;
  readonly entry: Entry;
  readonly draft?: Draft;
}

export class Sending {
  private underway: Underway[] = [];
  private queued = 0;

  constructor(
    private readonly port: Port,
    private readonly composer: Composer,
    private readonly host: SendingHost,
  ) {}

  get isUnderway(): boolean {
    return this.underway.length > 0;
  }

  /** Sends the draft: as steering while something runs, else as a run, or as a run for afterwards. */
  async send(draft: Draft, how: "send" | "queue"): Promise<void> {
    if (this.isUnderway) return;
    this.composer.say("");
    try {
      const conversation = await this.host.conversation();
      if (this.host.isBusy() && how === "send") await this.steer(conversation, draft);
      else await this.run(conversation, inputOf(draft), draft);
    } catch (error) {
      if (this.composer.isEmpty) this.composer.returned([draft]); // another session came on screen meanwhile
      this.composer.say(wordsOf(error));
    }
  }

  /** Begins a run that goes on where the last one was cut off; what is in the composer stays there. */
  async goOn(): Promise<void> {
    if (this.isUnderway || this.host.isBusy()) return;
    this.composer.say("");
    try {
      await this.run(await this.host.conversation(), GO_ON);
    } catch (error) {
      this.composer.say(wordsOf(error));
    }
  }

  /** The session's state tells whether a run was taken. */
  stateChanged(state: StateParams): void {
    const isTaken = state.queued > this.queued || (state.state !== "idle" && state.state !== "auth_required");
    this.queued = state.queued;
    if (isTaken) for (const one of [...this.underway]) if (one.entry.kind === "run") this.accepted(one);
  }

  /** A first message came: the run that it belongs to was taken. */
  messageCame(): void {
    for (const one of [...this.underway])
      if (one.entry.kind === "run" && one.entry.state === "sending") this.accepted(one);
  }

  async takeBack(conversation: Conversation, entry: Entry): Promise<void> {
    const { sessionId } = conversation.session;
    const isTaken =
      entry.kind === "steer" ? await this.unsteer(sessionId, entry) : await this.unqueue(conversation, entry);
    if (!isTaken) {
      this.composer.say("It has already reached the agent.");
      return;
    }
    if (conversation.waiting.remove(entry))
      this.composer.returned([draftOf(entry.input, this.composer.attachments.id)]);
    this.composer.field.focus();
  }

  denyAndSend(): void {
    for (const { key } of this.host.openApprovals())
      this.port.post({ kind: "approve", key, answer: { decision: "deny" } });
  }

  /** Another session is on screen, or the server is another: what was underway is no longer known to be. */
  forget(): void {
    this.underway = [];
    this.queued = 0;
    this.host.sendingChanged(false);
  }

  private async steer(conversation: Conversation, draft: Draft): Promise<void> {
    const input = inputOf(draft);
    const one = this.begin({ conversation, entry: conversation.waiting.add("steer", input, Date.now()), draft });
    try {
      const { sessionId } = conversation.session;
      const { accepted, steerId } = await this.port.request("agent/steer", { sessionId, input });
      if (accepted) {
        this.accepted(one, steerId === undefined ? {} : { steerId });
        return;
      }
      this.refused(one, "The run has just ended. Send it again to begin the next one.");
    } catch (error) {
      this.refused(one, wordsOf(error));
    }
  }

  private async run(conversation: Conversation, input: Input, draft?: Draft): Promise<void> {
    const entry = conversation.waiting.add("run", input, Date.now());
    const one = this.begin({ conversation, entry, ...(draft ? { draft } : {}) });
    try {
      await this.port.request("agent/run", { sessionId: conversation.session.sessionId, input, queueIfBusy: true });
      this.accepted(one);
      conversation.waiting.remove(one.entry);
    } catch (error) {
      const isGone = error instanceof RequestFailed && error.error.kind === "server_gone";
      if (!isGone || this.underway.includes(one)) this.refused(one, isGone ? "" : wordsOf(error));
      else conversation.waiting.remove(one.entry);
    }
  }

  private begin(one: Underway): Underway {
    this.underway.push(one);
    this.host.sendingChanged(true);
    return one;
  }

  private accepted(one: Underway, ids: { steerId?: string } = {}): void {
    if (!this.over(one)) return;
    if (one.entry.state === "sending") one.conversation.waiting.accepted(one.entry, ids);
    if (one.draft) this.composer.accepted(one.draft);
  }

  /** The text is in the composer still; it only stops to be on its way. */
  private refused(one: Underway, why: string): void {
    const wasUnderway = this.over(one);
    one.conversation.waiting.remove(one.entry);
    if (!wasUnderway && one.entry.state === "queued") return;
    if (why) this.composer.say(why);
  }

  private over(one: Underway): boolean {
    const before = this.underway.length;
    this.underway = this.underway.filter((other) => other !== one);
    this.host.sendingChanged(this.isUnderway);
    return this.underway.length < before;
  }

  private async unsteer(sessionId: string, entry: Entry): Promise<boolean> {
    if (entry.steerId === undefined) return false;
    return (await this.port.request("agent/unsteer", { sessionId, steerId: entry.steerId })).withdrawn;
  }

  /** A queued run has a name that only the session's pending list tells. */
  private async unqueue(conversation: Conversation, entry: Entry): Promise<boolean> {
    const { sessionId } = conversation.session;
    const runId = entry.runId ?? (await this.runIdOf(sessionId, entry));
    if (runId === undefined) return false;
    return (await this.port.request("agent/abort", { sessionId, runId })).what === "queued";
  }

  private async runIdOf(sessionId: string, entry: Entry): Promise<string | undefined> {
    const { pending } = await this.port.request("agent/session/history", { sessionId, limit: 1, fromEnd: true });
    const wanted = JSON.stringify(entry.input);
    return pending.runs.find((run) => JSON.stringify(run.input) === wanted)?.runId;
  }
}
