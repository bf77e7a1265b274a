import * as vscode from "vscode";
import { keyEnvironment, keyProblem, keyedProviders, secretName, type KeyedProvider } from "../logic/keys";
import type { Ctx } from "./ctx";
import type { Settings } from "./settings";

/** Keys of providers: in secret storage, and from there only into the environment of the server's process. */
export class Keyring {
  readonly #ctx: Ctx;
  readonly #settings: Settings;
  readonly #changed: vscode.EventEmitter<void>;
  /** A key was set or removed: the server that runs does not know yet. */
  readonly onDidChange: vscode.Event<void>;

  constructor(ctx: Ctx, settings: Settings) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.#changed = ctx.own(new vscode.EventEmitter<void>());
    this.onDidChange = this.#changed.event;
    ctx.command("setApiKey", (provider?: string) => this.#set(provider));
    ctx.command("removeApiKey", () => this.#remove());
  }

  /** The variables for the server's process. */
  async environment(): Promise<Record<string, string>> {
    const providers = this.#providers;
    const kept = await Promise.all(
      providers.map(async ({ name }) => [name, await this.#ctx.extension.secrets.get(secretName(name))] as const),
    );
    const present = kept.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
    return keyEnvironment(providers, new Map(present));
  }

  get #providers(): KeyedProvider[] {
    return keyedProviders(this.#settings.providers);
  }

  async #set(named?: string): Promise<void> {
    const provider = this.#providers.find(({ name }) => name === named) ?? (await this.#pick("Whose key?", () => true));
    if (!provider) {
      return;
    }
    const key = await vscode.window.showInputBox({
      title: `API key of ${provider.label}`,
      prompt: "It is kept in secret storage and given to the server alone.",
      password: true,
      ignoreFocusOut: true,
      validateInput: keyProblem,
    });
    if (key !== undefined) {
      await this.#ctx.extension.secrets.store(secretName(provider.name), key.trim());
      this.#changed.fire();
    }
  }

  async #remove(): Promise<void> {
    const kept = new Set<string>();
    for (const { name } of this.#providers) {
      if ((await this.#ctx.extension.secrets.get(secretName(name))) !== undefined) {
        kept.add(name);
      }
    }
    if (kept.size === 0) {
      void vscode.window.showInformationMessage("No key is kept in secret storage.");
      return;
    }
    const provider = await this.#pick("Which key is to be removed?", ({ name }) => kept.has(name));
    if (provider) {
      await this.#ctx.extension.secrets.delete(secretName(provider.name));
      this.#changed.fire();
    }
  }

  async #pick(title: string, offer: (provider: KeyedProvider) => boolean): Promise<KeyedProvider | undefined> {
    const items = this.#providers.filter(offer).map((provider) => ({
      label: provider.label,
      description: provider.variable,
      provider,
    }));
    return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.provider;
  }
}
