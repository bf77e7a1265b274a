/** What is below the head of a call: arguments or their difference, the end of the output, pictures. */

import { button, make, show } from "../markdown/nodes";
import { GrowingText } from "../markdown/codeBlock";
import { field, readArguments, type Arguments } from "../model/partialJson";
import type { ToolRow } from "../model/rows";
import { toolTitle } from "../model/toolTitles";
import { visible } from "../model/visible";
import type { CardHost } from "./cardHost";
import { diffOf } from "./diffLines";
import { diffView } from "./diffView";

const TAIL_CHARS = 16_000;
const TAIL_LINES = 200;
const SHORT_DIFF_LINES = 24;
const MOST_DIFF_LINES = 400;
const MOST_FIELD_CHARS = 4_000;

export class ToolBody {
  private readonly input = make("div", { class: "tool-input" });
  private readonly out = make("pre", { class: "output", attributes: { tabindex: "0", "aria-label": "Output" } });
  private readonly more: HTMLButtonElement;
  private readonly pictures = make("div", { class: "attached" });
  private readonly grown = new GrowingText(this.out);
  private drawnInput: string | null = null;
  private drawn = "";
  private showsWholeDiff = false;

  constructor(
    private readonly row: ToolRow,
    private readonly host: CardHost,
    parent: HTMLElement,
  ) {
    this.more = button("Open the whole output", () => this.openOutput(), { class: "link-button" });
    parent.append(this.input, this.out, this.more, this.pictures);
  }

  draw(): void {
    this.drawInput();
    this.drawOutput();
    if (this.row.images.length !== this.pictures.childElementCount) {
      const shown = this.row.images.filter((url) => /^data:image\/(?:png|jpe?g|gif|webp|bmp);/i.test(url));
      this.pictures.replaceChildren(
        ...shown.map((url) => make("img", { class: "picture", attributes: { src: url, alt: "Image from the tool" } })),
      );
    }
  }

  private drawInput(): void {
    if (this.drawnInput === this.row.arguments) return;
    this.drawnInput = this.row.arguments;
    const args = readArguments(this.row.arguments);
    this.input.replaceChildren(...(this.diff(args) ?? fields(this.row.name, args)));
  }

  private diff(args: Arguments): Node[] | null {
    const lines = diffOf(this.row.name, args);
    if (!lines) return null;
    const most = this.showsWholeDiff ? MOST_DIFF_LINES : SHORT_DIFF_LINES;
    const nodes: Node[] = [diffView(lines, most)];
    if (lines.length > most) {
      const label = this.showsWholeDiff
        ? "Open the whole change"
        : `Show ${Math.min(lines.length, MOST_DIFF_LINES) - most} more lines`;
      nodes.push(button(label, () => this.widen(args), { class: "link-button" }));
    }
    return nodes;
  }

  private widen(args: Arguments): void {
    if (this.showsWholeDiff) {
      const lines = diffOf(this.row.name, args) ?? [];
      const signs = { add: "+", remove: "-", same: " ", head: "" };
      const text = lines.map((line) => signs[line.kind] + line.text).join("\n");
      this.host.act({ act: "openText", title: toolTitle(this.row.name, args).subject, text, language: "diff" });
      return;
    }
    this.host.fold(this.row.key, true);
    this.showsWholeDiff = true;
    this.drawnInput = null;
    this.drawInput();
  }

  private drawOutput(): void {
    const { output } = this.row;
    const isEdit = diffOf(this.row.name, {}) !== null;
    const isShown = output !== "" && !(isEdit && this.row.status === "done") && this.row.name !== "todo_write";
    show(this.out, isShown);
    if (!isShown) {
      show(this.more, false);
      return;
    }
    const start = tailStart(output);
    show(this.more, start > 0);
    if (start === 0 && output.startsWith(this.drawn)) {
      this.grown.append(visible(output.slice(this.drawn.length)));
    } else {
      this.grown.clear();
      this.grown.append(visible(output.slice(start)));
    }
    this.drawn = start === 0 ? output : "";
    this.out.scrollTop = this.out.scrollHeight;
  }

  private openOutput(): void {
    const { verb, subject } = toolTitle(this.row.name, readArguments(this.row.arguments));
    this.host.act({ act: "openText", title: `${verb} ${subject}`, text: this.row.output });
  }
}

/** Where the shown end of an output begins. */
export function tailStart(output: string): number {
  let start = Math.max(0, output.length - TAIL_CHARS);
  if (start > 0) start = output.indexOf("\n", start) + 1 || start;
  let lines = 0;
  for (let at = output.length - 1; at > start; at--) {
    if (output.charCodeAt(at) === 10 && ++lines >= TAIL_LINES) return at + 1;
  }
  return start;
}

/** Arguments as names and values; a command or a question is already its own words. */
function fields(name: string, args: Arguments): Node[] {
  if (name === "todo_write") return [];
  if (name === "exec_command")
    return [make("pre", { class: "command", text: visible(field(args, "cmd") ?? "") }), ...rest(args, ["cmd"])];
  return rest(args, []);
}

function rest(args: Arguments, without: readonly string[]): Node[] {
  const names = Object.keys(args).filter((name) => !without.includes(name));
  if (names.length === 0) return [];
  const entries = names.flatMap((name) => {
    const value = visible(field(args, name) ?? "");
    const shown = value.length > MOST_FIELD_CHARS ? `${value.slice(0, MOST_FIELD_CHARS)}…` : value;
    return [make("dt", { text: name }), make("dd", { text: shown })];
  });
  return [make("dl", { class: "fields" }, ...entries)];
}
