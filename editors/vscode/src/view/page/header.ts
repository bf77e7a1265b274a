/** What session this is and where: title, root, gauge, and the ways to other sessions. */

import type { Act, Root } from "../../shared/bridge";
import type { SessionInfo } from "../../shared/protocol";
import { icon } from "../markdown/icons";
import { button, make, setText, show } from "../markdown/nodes";
import { GaugeView } from "./gaugeView";
import { isComposing } from "../composer/keys";

export interface HeaderHost {
  act(act: Act): void;
  rename(title: string): void;
  find(): void;
}

export class Header {
  readonly element: HTMLElement;
  readonly gauge = new GaugeView();
  private readonly title = make("h1", { class: "title" });
  private readonly rename: HTMLButtonElement;
  private readonly field = make("input", {
    class: "title-field",
    attributes: { "aria-label": "Rename the session", type: "text" },
  });
  private readonly root = make("span", { class: "root" });
  private readonly roots = make("select", {
    class: "picker root-picker",
    attributes: { "aria-label": "Folder of the session" },
  });
  private session: SessionInfo | null = null;
  private chosen: string | undefined;

  constructor(private readonly host: HeaderHost) {
    this.rename = button(
      "Rename the session",
      () => this.edit(),
      { class: "icon-button quiet-button", title: "Rename" },
      icon("edit"),
    );
    const find = button("Find", () => host.find(), { class: "icon-button", title: "Find (Ctrl+F)" }, icon("search"));
    this.field.hidden = true;
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.close(false));
    this.roots.addEventListener("change", () => (this.chosen = this.roots.value || undefined));
    this.element = make(
      "header",
      { class: "header" },
      make(
        "div",
        { class: "header-line" },
        this.title,
        this.field,
        this.rename,
        make("span", { class: "spacer" }),
        find,
      ),
      make("div", { class: "header-line header-facts" }, icon("file"), this.root, this.roots, this.gauge.element),
    );
  }

  /** The folder that was chosen for the next session; undefined: that of the active file. */
  get workspace(): string | undefined {
    return this.session === null ? this.chosen : undefined;
  }

  /** With several roots, another one can be chosen as long as there is no session. */
  draw(session: SessionInfo | null, roots: readonly Root[]): void {
    this.session = session;
    const title = session?.title ?? "New session";
    setText(this.title, title);
    this.title.title = title;
    show(this.rename, session !== null && !this.rename.hasAttribute("data-busy"));
    const name = session ? nameOf(session.workspace, roots) : (roots[0]?.name ?? "");
    setText(this.root, name);
    this.root.title = session?.workspace ?? "";
    const canChoose = roots.length > 1 && session === null;
    show(this.roots, canChoose);
    show(this.root, !canChoose);
    if (!canChoose) {
      this.chosen = undefined;
      return;
    }
    const signature = roots.map((root) => root.uri).join("\n");
    if (this.roots.dataset.roots === signature) return;
    this.roots.dataset.roots = signature;
    // The host puts the folder of the active file first; it is taken as long as nobody chooses.
    const options = roots.map((root, index) =>
      make("option", { text: root.name, attributes: { value: index === 0 ? "" : root.uri } }),
    );
    this.roots.replaceChildren(...options);
    this.roots.value = this.chosen ?? "";
  }

  private edit(): void {
    this.field.value = this.session?.title ?? "";
    show(this.field, true);
    show(this.title, false);
    this.field.focus();
    this.field.select();
  }

  private key(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (event.key === "Enter") this.close(true);
    else if (event.key === "Escape") this.close(false);
    else return;
    event.stopPropagation();
    event.preventDefault();
    this.rename.focus();
  }

  private close(isWanted: boolean): void {
    const title = this.field.value.trim();
    show(this.field, false);
    show(this.title, true);
    if (isWanted && title && title !== this.session?.title) this.host.rename(title);
  }
}

function nameOf(workspace: string, roots: readonly Root[]): string {
  const known = roots.find((root) => same(root.uri, workspace));
  if (known) return known.name;
  return decodeURIComponent(workspace.replace(/\/+$/, "").split("/").pop() ?? workspace);
}

function same(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}
