/** Failures in plain words, and what to do about them. */

import type { StopReason } from "../../shared/protocol";
import { button } from "../markdown/nodes";
import type { ErrorRow } from "../model/rows";
import type { CardHost } from "./cardHost";

/** Why a request did not work; `message` is the engine's, which names the HTTP status where there was one. */
export function why(status: StopReason, message = ""): string {
  if (/\bHTTP 429\b/.test(message)) return "the model provider asks to slow down";
  if (/\bHTTP 5\d\d\b/.test(message)) return "the model provider is overloaded or down";
  switch (status) {
    case "timeout":
      return "the model did not answer in time";
    case "malformed":
      return "the reply could not be read";
    case "auth":
      return "the model provider refused the key";
    case "aborted":
      return "it was stopped";
    case "completed":
      return "it ended";
    case "failed":
      return "the model provider reported an error";
  }
}

/** What somebody can do after a request that is not made again. */
export function remedyOf(
  row: ErrorRow,
  host: CardHost,
): { readonly text: string; readonly buttons: HTMLButtonElement[] } {
  const settings = button("Open settings", () => host.act({ act: "openSettings" }), { class: "small-button" });
  const log = button("Open log", () => host.act({ act: "openLog" }), { class: "small-button" });
  switch (row.status) {
    case "auth": {
      const key = button("Set a key", () => host.act({ act: "openWalkthrough" }), { class: "small-button" });
      return {
        text: "Set the provider's key, then send your message again. What was done so far is kept.",
        buttons: [key, settings],
      };
    }
    case "timeout":
      return {
        text: "Send a message to go on, or choose another model. What was done so far is kept.",
        buttons: [log],
      };
    case "malformed":
      return { text: "Send a message to try again; if it repeats, choose another model.", buttons: [log] };
    default:
      return { text: "Send a message to go on. If it repeats, the log says more.", buttons: [log, settings] };
  }
}
