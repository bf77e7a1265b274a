/** What goes along with a text: chips above it, images with the bytes that the browser had. */

import type { Attachment } from "../../shared/bridge";
import { icon } from "../markdown/icons";
import { button, make, show } from "../markdown/nodes";

const MOST_IMAGE_BYTES = 10 * 2 ** 20;

export class Attachments {
  readonly element = make("ul", { class: "chips", attributes: { "aria-label": "Attachments" } });
  private shown: Attachment[] = [];
  private counter = 0;

  constructor(
    private readonly changed: () => void,
    private readonly refuse: (why: string) => void,
  ) {
    this.element.hidden = true;
  }

  get all(): readonly Attachment[] {
    return this.shown;
  }

  set(attachments: readonly Attachment[]): void {
    this.shown = [...attachments];
    this.draw();
  }

  add(attachments: readonly Attachment[]): void {
    const known = new Set(this.shown.map(identity));
    this.shown.push(...attachments.filter((attachment) => !known.has(identity(attachment))));
    this.draw();
    this.changed();
  }

  /** A name that no other attachment of this view has. */
  readonly id = (): string => `a${Date.now().toString(36)}-${++this.counter}`;

  /** Takes the images among the files; whether there were any. */
  async images(files: Iterable<File>): Promise<boolean> {
    const images = [...files].filter((file) => file.type.startsWith("image/"));
    for (const file of images) {
      if (file.size > MOST_IMAGE_BYTES) {
        this.refuse(`${file.name || "The image"} is larger than 10 MB. Attach a smaller one.`);
        continue;
      }
      const dataUrl = await readDataUrl(file);
      this.add([{ kind: "image", id: this.id(), name: file.name || "image", dataUrl }]);
    }
    return images.length > 0;
  }

  private draw(): void {
    show(this.element, this.shown.length > 0);
    this.element.replaceChildren(...this.shown.map((attachment) => this.chip(attachment)));
  }

  private chip(attachment: Attachment): HTMLElement {
    const name = attachment.kind === "image" ? attachment.name : attachment.label;
    const sign =
      attachment.kind === "image"
        ? make("img", { class: "thumb", attributes: { src: attachment.dataUrl, alt: "" } })
        : icon("file");
    const remove = button(
      `Remove ${name}`,
      () => this.remove(attachment),
      { class: "chip-remove", title: "Remove" },
      icon("cross"),
    );
    return make(
      "li",
      { class: "chip", title: attachment.kind === "file" ? attachment.uri : name },
      sign,
      make("span", { text: name }),
      remove,
    );
  }

  private remove(attachment: Attachment): void {
    this.shown = this.shown.filter((one) => one !== attachment);
    this.draw();
    this.changed();
  }
}

function identity(attachment: Attachment): string {
  return attachment.kind === "image" ? attachment.id : `${attachment.uri}:${JSON.stringify(attachment.range ?? null)}`;
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name} could not be read`));
    reader.readAsDataURL(file);
  });
}
