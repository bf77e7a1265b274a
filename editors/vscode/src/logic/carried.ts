/** What *Install Server* installs: the wheel that the extension carries. An index is never asked for the server by its name. */

/** What to do where the extension carries no server. */
export const NOT_CARRIED =
  "This build of the extension carries no server: install agent-lsp from its checkout and name it in agentLsp.server.path, or use a package built by `make vsix`.";

/** The wheel among the names of files, if it is there. */
export function wheelIn(names: readonly string[]): string | undefined {
  return names.find((name) => /^agent_lsp-[^/]+\.whl$/.test(name));
}

/** What pip is to install; `wheel` is the address of a file. An address of any other kind is a mistake, and throws. */
export function requirement(wheel: string, extras: string): string {
  if (!wheel.startsWith("file:///")) {
    throw new Error(`the server is installed from a file, not from ${wheel}`);
  }
  return `agent-lsp${extras} @ ${wheel}`;
}
