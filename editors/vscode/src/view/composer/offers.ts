/** Finds what a trigger offers: files of all roots, the selection, commands. */

import type { Attachment, FileMatch, SlashCommand } from "../../shared/bridge";
import type { Port } from "../page/port";
import type { Offer, Trigger } from "./completion";

const MOST = 12;

/** What an offer does with the field. */
export interface OfferHost {
  /** Puts the text where the trigger stands. */
  replace(trigger: Trigger, text: string): void;
  attach(attachment: Attachment): void;
  run(command: SlashCommand): void;
  id(): string;
}

export async function offersFor(trigger: Trigger, port: Port, host: OfferHost): Promise<Offer[]> {
  return trigger.kind === "command" ? commands(trigger, port, host) : mentions(trigger, port, host);
}

async function mentions(trigger: Trigger, port: Port, host: OfferHost): Promise<Offer[]> {
  const { files } = await port.request("host/files", { query: trigger.query, limit: MOST });
  const offers = files.map((file) => fileOffer(file, trigger, host));
  if (!"selection".startsWith(trigger.query.toLowerCase())) return offers;
  return [selectionOffer(trigger, port, host), ...offers];
}

function fileOffer(file: FileMatch, trigger: Trigger, host: OfferHost): Offer {
  const name = file.path.split("/").pop() ?? file.path;
  const take = (): void => {
    host.attach({ kind: "file", id: host.id(), label: name, uri: file.uri });
    host.replace(trigger, `@${file.path} `);
  };
  return { label: name, detail: file.root ? `${file.root} · ${file.path}` : file.path, take };
}

function selectionOffer(trigger: Trigger, port: Port, host: OfferHost): Offer {
  const take = (): void => {
    host.replace(trigger, "");
    void port.request("host/selection", {}).then((found) => {
      if (found) host.attach({ kind: "file", id: host.id(), label: found.label, uri: found.uri, range: found.range });
    });
  };
  return { label: "selection", detail: "What is selected in the editor", take };
}

async function commands(trigger: Trigger, port: Port, host: OfferHost): Promise<Offer[]> {
  const { commands: found } = await port.request("host/commands", {});
  const query = trigger.query.toLowerCase();
  return found
    .filter((command) => command.name.toLowerCase().startsWith(query))
    .slice(0, MOST)
    .map((command) => ({
      label: `/${command.name}`,
      detail: [command.description, command.hint ?? ""].filter(Boolean).join(" · "),
      take: () => {
        host.replace(trigger, command.method ? "" : `/${command.name} `);
        if (command.method) host.run(command);
      },
    }));
}
