/** The keys that mean something wherever one is in the view. */

import { isComposing } from "../composer/keys";
import type { Find } from "./find";

/** Ctrl+F finds; Escape closes what was found, else stops what runs. */
export function listenForKeys(find: Find, stop: () => void): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isComposing(event)) return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "f") {
      event.preventDefault();
      find.open();
    } else if (event.key === "Escape") {
      if (find.isOpen) find.close();
      else stop();
    }
  });
}
