import { homedir } from "node:os";
import * as vscode from "vscode";
import type { Notify } from "../logic/attention";
import { expandHome } from "../logic/discovery";
import { forServer, type ForServer } from "../logic/settings";
import type { ViewSettings } from "../shared/bridge";
import type { Ctx } from "./ctx";

const SECTION = "agentLsp";

/** The settings of the extension; read when they are needed, so that a change counts at once. */
export class Settings {
  /** Something of them has changed. */
  readonly onDidChange: vscode.Event<vscode.ConfigurationChangeEvent>;

  constructor(ctx: Ctx) {
    const changed = ctx.own(new vscode.EventEmitter<vscode.ConfigurationChangeEvent>());
    ctx.own(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) {
          changed.fire(event);
        }
      }),
    );
    this.onDidChange = changed.event;
  }

  /** What the server is told, by how far it trusts it. */
  get forServer(): ForServer {
    const configuration = vscode.workspace.getConfiguration(SECTION);
    return forServer((name) => {
      const given = configuration.inspect(name);
      return { user: given?.globalValue, workspace: given?.workspaceFolderValue ?? given?.workspaceValue };
    });
  }

  get forView(): ViewSettings {
    return {
      showThinking: this.#is("chat.showThinking"),
      sendWithCtrlEnter: this.#is("chat.sendWithCtrlEnter"),
      showCost: this.#is("chat.showCost"),
      trusted: vscode.workspace.isTrusted,
    };
  }

  get serverPath(): string {
    return this.#text("server.path");
  }

  get python(): string {
    return this.#text("server.python");
  }

  /** The command line of the server, after its name. */
  get serverArguments(): string[] {
    const given = vscode.workspace.getConfiguration(SECTION).get<unknown>("server.args");
    const named = (flag: string, value: string): string[] => (value === "" ? [] : [flag, value]);
    return [
      ...named("--log-level", this.#text("server.logLevel")),
      ...named("--config", expandHome(this.#text("server.configFile"), homedir())),
      ...named("--data-dir", expandHome(this.#text("server.dataDir"), homedir())),
      ...(Array.isArray(given) ? given.filter((one) => typeof one === "string") : []),
    ];
  }

  get notify(): Notify {
    const given = this.#text("chat.notifications");
    return given === "decisions" || given === "none" ? given : "all";
  }

  get codeLens(): boolean {
    return this.#is("editing.codeLens");
  }

  get codeActions(): boolean {
    return this.#is("editing.codeActions");
  }

  get prompts(): Readonly<Record<string, string>> {
    const given = this.#table("prompts");
    return Object.fromEntries(
      Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  }

  get providers(): Readonly<Record<string, unknown>> {
    return this.#table("providers");
  }

  #is(name: string): boolean {
    return vscode.workspace.getConfiguration(SECTION).get<unknown>(name) === true;
  }

  #text(name: string): string {
    const given = vscode.workspace.getConfiguration(SECTION).get<unknown>(name);
    return typeof given === "string" ? given.trim() : "";
  }

  #table(name: string): Readonly<Record<string, unknown>> {
    const given = vscode.workspace.getConfiguration(SECTION).get<unknown>(name);
    return typeof given === "object" && given !== null && !Array.isArray(given)
      ? (given as Record<string, unknown>)
      : {};
  }
}
