/**
 * The editor's settings as the server has them: the settings of `docs/configuration.md`, nested and in camelCase.
 *
 * What the person has set for themselves counts fully and goes into the options; what a workspace or one of its folders
 * says may come from a repository and goes into the settings section, of which the server takes what widens nothing.
 */

/** What the editor knows of one setting: values that somebody has given. */
export interface Given {
  readonly user: unknown;
  readonly workspace: unknown;
}

export type Table = Record<string, unknown>;

/** Settings of the editor that are the server's, by their name after `agentLsp.`, which is also the server's. */
export const SERVER_SETTINGS = [
  "defaultModel",
  "approvalMode",
  "mode",
  "thinkingLevel",
  "maxTurns",
  "prompts",
  "titles",
  "providers",
  "mcpServers",
  "tools.disabled",
  "tools.denyPaths",
  "tools.denyCommands",
  "tools.readOnlyCommands",
  "tools.timeout",
  "tools.sandbox",
  "tools.sandboxNetwork",
  "tools.webFetch",
  "offline",
  "egressLog",
  "compaction.maxContextLength",
  "compaction.mode",
  "reconnect.maxRetries",
  "budget.usdPerRun",
  "budget.usdPerDay",
  "budget.tokensPerRun",
] as const;

export interface ForServer {
  /** `initializationOptions.agent`. */
  readonly options: Table;
  /** The answer to `workspace/configuration` for the section `agent`. */
  readonly section: Table;
}

/** Sorts what was given. Values that nobody has set are left out, so that the server's own configuration counts. */
export function forServer(given: (name: string) => Given): ForServer {
  const [options, section]: [Table, Table] = [{}, {}];
  for (const name of SERVER_SETTINGS) {
    const { user, workspace } = given(name);
    put(options, name, user);
    put(section, name, workspace);
  }
  return { options, section };
}

/** An empty text means that nothing is set: an editor has no other way to take a value back in its settings page. */
function put(table: Table, name: string, value: unknown): void {
  if (value === undefined || value === null || value === "") {
    return;
  }
  const path = name.split(".");
  const last = path.pop() ?? name;
  let here = table;
  for (const part of path) {
    here = (here[part] ??= {}) as Table;
  }
  here[last] = value;
}
