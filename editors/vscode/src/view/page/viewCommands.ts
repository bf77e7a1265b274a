/** What is asked for outside of the view: by a command, a key binding, another part of the extension. */

import type { ViewCommand } from "../../shared/bridge";
import type { Composer } from "../composer/composer";
import type { Dock } from "../decide/dock";
import type { Find } from "./find";
import type { SessionView } from "./sessionView";

export interface Commanded {
  readonly composer: Composer;
  readonly view: SessionView;
  readonly find: Find;
  readonly dock: Dock;
  readonly stop: () => void;
}

export function perform(command: ViewCommand, { composer, view, find, dock, stop }: Commanded): void {
  switch (command.command) {
    case "focusComposer":
      composer.field.focus();
      return;
    case "find":
      find.open();
      return;
    case "focusApproval":
      if (!dock.focus()) composer.field.focus();
      return;
    case "nextMessage":
      view.reading.step(1);
      return;
    case "previousMessage":
      view.reading.step(-1);
      return;
    case "latest":
      view.list.goToEnd();
      return;
    case "stop":
      stop();
      return;
    case "attach":
      composer.attachments.add(command.attachments);
      if (command.focus) composer.field.focus();
      return;
    case "insertText":
      composer.insert(command.text);
      if (command.focus) composer.field.focus();
  }
}
