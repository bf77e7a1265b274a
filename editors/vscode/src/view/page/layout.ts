/** The parts of the view in their places, and what they show of the session's state. */

import type { Choices, Root, ViewSettings } from "../../shared/bridge";
import type { SessionInfo, StateParams } from "../../shared/protocol";
import type { Composer } from "../composer/composer";
import type { Pickers } from "../composer/pickers";
import type { Tray } from "../composer/tray";
import type { Dock } from "../decide/dock";
import { icon } from "../markdown/icons";
import { button, make, setText, show } from "../markdown/nodes";
import type { Banner } from "./banner";
import type { Find } from "./find";
import type { Header } from "./header";
import type { SessionView } from "./sessionView";
import type { Status } from "./status";
import type { Stopping } from "./stopping";
import { welcome } from "./welcome";

export interface Parts {
  readonly view: SessionView;
  readonly header: Header;
  readonly banner: Banner;
  readonly find: Find;
  readonly dock: Dock;
  readonly tray: Tray;
  readonly pickers: Pickers;
  readonly composer: Composer;
  readonly status: Status;
}

/** What is drawn. */
export interface Shown {
  readonly session: SessionInfo | null;
  readonly state: StateParams | null;
  readonly choices: Choices;
  readonly roots: readonly Root[];
  readonly settings: ViewSettings;
  readonly stopping: Stopping["state"];
  readonly isSending: boolean;
}

export class Layout {
  private readonly latest: HTMLButtonElement;
  private readonly latestLabel = make("span");
  private readonly welcome: HTMLElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly parts: Parts,
  ) {
    const { view, header, banner, find, dock, tray, composer, status } = parts;
    this.latest = button("Latest", () => view.list.goToEnd(), { class: "latest" }, icon("down"), this.latestLabel);
    this.latest.removeAttribute("aria-label");
    this.welcome = welcome((text) => composer.begin(text));
    const middle = make("div", { class: "middle" }, view.scroller, this.welcome, this.latest);
    const foot = make("div", { class: "foot" }, dock.element, tray.element, composer.element);
    root.append(header.element, banner.element, find.element, middle, foot, status.element);
  }

  /** What a row that came or grew may change. */
  drawRows(showCost: boolean): void {
    const { view, header, find } = this.parts;
    const { conversation } = view;
    const { following } = view.list;
    const isEmpty =
      conversation === null ||
      (conversation.isLoaded && conversation.rows.length === 0 && conversation.waiting.all.length === 0);
    header.gauge.draw(conversation?.story.gauge ?? { total: 0 }, showCost);
    show(this.welcome, isEmpty);
    show(this.latest, !following.isOn);
    setText(this.latestLabel, following.newRows > 0 ? `Latest (${following.newRows} new)` : "Latest");
    find.mark();
  }

  draw({ session, state, choices, roots, settings, stopping, isSending }: Shown): void {
    const { view, header, pickers, composer, tray, dock } = this.parts;
    const isBusy = isAtWork(state);
    this.root.dataset.state = stopping === "no" ? (state?.state ?? "idle") : "stopping";
    this.root.dataset.session = session?.sessionId ?? "";
    header.draw(session, roots);
    pickers.draw(session, choices, settings.trusted, isBusy);
    composer.mode({ isBusy, stopping, isSending });
    const waiting = view.conversation?.waiting.all ?? [];
    // What is still on its way to an idle session is in the composer: it is to be seen in one place.
    tray.draw(waiting.filter((entry) => entry.kind === "steer" || entry.state === "queued"), dock.openApprovals.length > 0, isBusy); // prettier-ignore
    view.scroller.setAttribute("aria-busy", String(isBusy));
    this.drawRows(settings.showCost);
  }
}

/** Whether something runs, waits or is being compacted. */
export function isAtWork(state: StateParams | null): boolean {
  return state !== null && state.state !== "idle" && state.state !== "auth_required";
}

/** The state of a session of which only its description is known. */
export function stateOf(session: SessionInfo | null, pendingApprovals: number): StateParams | null {
  if (!session) return null;
  return { sessionId: session.sessionId, state: session.state, queued: 0, pendingApprovals };
}
