/** What the person said, as it was typed: no Markdown, so that nothing of it is read as something else. */

import type { Card } from "../list/virtualList";
import { icon } from "../markdown/icons";
import { button, make, show } from "../markdown/nodes";
import type { UserRow } from "../model/rows";
import { article } from "./article";
import type { CardHost } from "./cardHost";

const SHORT_LINES = 12;
const SHORT_CHARS = 1_500;
const MOST_CHARS = 50_000;

export function userCard(row: UserRow, host: CardHost): Card {
  const author = row.via === "steer" ? "You, while the agent worked" : "You";
  const words = make("div", { class: "words" });
  const attached = make("div", { class: "attached" });
  const more = button("Show all", () => {
    host.fold(row.key, true);
    draw();
  }, { class: "link-button" }); // prettier-ignore
  const label = row.via === "steer" && make("div", { class: "via" }, icon("send"), "Steered here");
  const element = article(row, author, host, make("div", { class: "bubble" }, label, words, more, attached));

  const draw = (): void => {
    const isUnfolded = host.unfolded(row.key) ?? false;
    const text = isUnfolded ? row.text.slice(0, MOST_CHARS) : short(row.text);
    words.textContent = text;
    show(more, !isUnfolded && text.length < row.text.length);
    attached.replaceChildren(
      ...row.images.map(picture),
      ...row.files.map((file) => fileChip(file.path, file.text, host)),
    );
  };
  draw();
  return { element, update: draw, dispose: () => undefined };
}

function short(text: string): string {
  const lines = text.split("\n");
  const cut = lines.length > SHORT_LINES ? lines.slice(0, SHORT_LINES).join("\n") : text;
  return cut.length > SHORT_CHARS ? `${cut.slice(0, SHORT_CHARS)}…` : cut === text ? text : `${cut}\n…`;
}

/** Pictures that came with the message are shown; one from elsewhere is only named. */
function picture(url: string): HTMLElement {
  if (!/^data:image\/(?:png|jpe?g|gif|webp|bmp);/i.test(url))
    return make("span", { class: "chip" }, icon("file"), hostOf(url));
  return make("img", { class: "picture", attributes: { src: url, alt: "Attached image" } });
}

function hostOf(url: string): string {
  try {
    return `image from ${new URL(url).host || "this message"}`;
  } catch {
    return "image";
  }
}

function fileChip(path: string, text: string, host: CardHost): HTMLElement {
  const open = (): void => host.act({ act: "openPath", path });
  const name = path.split("/").pop() ?? path;
  const size = text ? ` · ${text.split("\n").length} lines` : "";
  return button(`Open ${path}`, open, { class: "chip", title: path }, icon("file"), `${name}${size}`);
}
