/** Makes the parts of the view and ties what they ask for to whoever grants it. */

import type { ViewSettings } from "../../shared/bridge";
import type { SessionInfo } from "../../shared/protocol";
import { Composer } from "../composer/composer";
import { Pickers, type Setting } from "../composer/pickers";
import { Tray } from "../composer/tray";
import { Dock } from "../decide/dock";
import type { Frames } from "../list/frames";
import type { Conversation } from "../model/conversation";
import { Banner } from "./banner";
import { runCommand } from "./commands";
import { Find } from "./find";
import { Header } from "./header";
import type { Parts } from "./layout";
import { Memory } from "./memory";
import { wordsOf, type Port } from "./port";
import { Sending } from "./sending";
import { SessionView } from "./sessionView";
import { Status } from "./status";

/** What the parts ask for. */
export interface Wishes {
  settings(): ViewSettings;
  session(): SessionInfo | null;
  isBusy(): boolean;
  /** The state of the session, or what can be done, is another. */
  draw(): void;
  /** Rows came or grew. */
  drawRows(): void;
  stop(): void;
  update(setting: Setting | "title", value: string): void;
  /** The draft is another; `isUrgent`: it has to be handed over at once. */
  keep(isUrgent: boolean): void;
  /** The conversation that is sent to; one is begun when there is none. */
  conversation(): Promise<Conversation>;
}

export interface Assembled extends Parts {
  readonly sending: Sending;
}

export function assemble(port: Port, frames: Frames, wishes: Wishes): Assembled {
  const status = new Status();
  const view = new SessionView(port, frames, new Memory(port), status, {
    settings: () => wishes.settings(),
    isBusy: () => wishes.isBusy(),
    changed: () => wishes.drawRows(),
    waiting: () => wishes.draw(),
    failed: (error) => composer.say(wordsOf(error)),
    goOn: () => void sending.goOn(),
  });
  const pickers = new Pickers((setting, value) => wishes.update(setting, value));
  const composer: Composer = newComposer(port, wishes, pickers, () => sending);
  const sending = new Sending(port, composer, {
    conversation: () => wishes.conversation(),
    isBusy: () => wishes.isBusy(),
    openApprovals: () => dock.openApprovals,
    sendingChanged: () => wishes.draw(),
  });
  const dock: Dock = newDock(port, () => composer.field.focus());
  const find = newFind(view, () => composer.field.focus());
  const header = new Header({
    act: (act) => port.act(act),
    rename: (title) => wishes.update("title", title),
    find: () => find.open(),
  });
  const tray = new Tray({
    takeBack: (entry) => view.conversation && void sending.takeBack(view.conversation, entry),
    denyAndSend: () => sending.denyAndSend(),
  });
  const banner = new Banner((act) => port.act(act));
  return { view, header, banner, find, dock, tray, pickers, composer, status, sending };
}

function newComposer(port: Port, wishes: Wishes, pickers: Pickers, sending: () => Sending): Composer {
  const composer: Composer = new Composer(
    port,
    {
      send: (draft, how) => void sending().send(draft, how),
      stop: () => wishes.stop(),
      restart: () => port.act({ act: "restart" }),
      runCommand: (command) =>
        void runCommand(command, port, wishes.session()?.sessionId, (words) => composer.say(words)),
      keep: (isUrgent) => wishes.keep(isUrgent),
      sendsWithCtrlEnter: () => wishes.settings().sendWithCtrlEnter,
    },
    pickers.element,
  );
  return composer;
}

function newDock(port: Port, closed: () => void): Dock {
  return new Dock(
    {
      act: (act) => port.act(act),
      approve: (key, answer) => port.post({ kind: "approve", key, answer }),
      answer: (key, answer) => port.post({ kind: "answer", key, answer }),
    },
    closed,
  );
}

function newFind(view: SessionView, closed: () => void): Find {
  return new Find({
    rows: () => view.conversation?.rows ?? [],
    loadAll: () => view.loadAll(),
    reveal: (row) => view.reveal(row),
    mounted: () => [...view.list.mountedRows.values()].map((card) => card.element),
    closed,
  });
}
