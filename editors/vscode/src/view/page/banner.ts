/** What is wrong with the server or with the view itself, the last line of the log, and what can be done. */

import { SERVER_PATH, type Act, type Remedy, type ServerStatus } from "../../shared/bridge";
import { icon } from "../markdown/icons";
import { button, make, show } from "../markdown/nodes";

const TITLES: Readonly<Record<ServerStatus["state"], string>> = {
  installing: "Installing the server…",
  starting: "Starting the server…",
  running: "",
  stopped: "The server has stopped.",
  crashed: "The server has crashed.",
  failed: "The server did not start.",
  missing: "The server is not installed.",
  incompatible: "The server does not fit this extension.",
};

export class Banner {
  readonly element = make("div", { class: "banner", attributes: { "data-testid": "banner" } });

  constructor(private readonly act: (act: Act) => void) {
    this.element.hidden = true;
  }

  server(status: ServerStatus): void {
    show(this.element, status.state !== "running");
    if (status.state === "running") {
      this.element.replaceChildren();
      this.element.removeAttribute("role");
      return;
    }
    if (status.state === "installing" || status.state === "starting") {
      this.element.removeAttribute("role");
      this.element.replaceChildren(make("p", { class: "banner-title", text: TITLES[status.state] }));
      return;
    }
    this.alert(TITLES[status.state], [status.hint ?? ""], status.lastLogLine, status.remedy);
  }

  /** The view itself has failed. */
  failed(message: string): void {
    show(this.element, true);
    this.alert("Something in this view went wrong.", [
      message,
      "Close and open the view to draw it anew; nothing is lost.",
    ]);
  }

  private alert(title: string, lines: readonly string[], lastLogLine?: string, remedy?: Remedy): void {
    this.element.setAttribute("role", "alert");
    this.element.replaceChildren(
      make("p", { class: "banner-title" }, icon("warning"), title),
      ...lines.filter((line) => line !== "").map((line) => make("p", { text: line })),
      lastLogLine ? make("pre", { class: "banner-log", text: lastLogLine }) : "",
      make(
        "div",
        { class: "buttons" },
        remedy ? this.remedy(remedy) : "",
        button("Restart", () => this.act({ act: "restart" }), { class: remedy ? "small-button" : "primary-button" }),
        button("Open log", () => this.act({ act: "openLog" }), { class: "small-button" }),
      ),
    );
  }
  private remedy(remedy: Remedy): HTMLButtonElement {
    return remedy === "install"
      ? button("Install server", () => this.act({ act: "installServer" }), { class: "primary-button" })
      : button("Open setting", () => this.act({ act: "openSettings", query: SERVER_PATH }), {
          class: "primary-button",
        });
  }
}
