/** Where the server's program and a Python for it are looked for. */

import { delimiter, isAbsolute, join } from "node:path";
import type { Remedy } from "../shared/bridge";
import { NOT_CARRIED } from "./carried";

/** How to start the server, and who said so. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly origin: "setting" | "managed" | "path";
}

export interface Places {
  /** `agentLsp.server.path`; empty when it is not set. */
  readonly configured: string;
  /** The Python of the managed environment, if that is there and complete. */
  readonly managedPython: string | undefined;
  /** Directories of PATH. */
  readonly path: readonly string[];
  /** The home directory, for a `~` in the setting. */
  readonly home: string;
  /** Whether the extension has a server to install. */
  readonly carriesServer: boolean;
}

/** `remedy`: where the person mends it. */
export interface Missing {
  readonly missing: string;
  readonly remedy: Remedy;
}

export type Found = { readonly found: ServerCommand } | Missing;

/** What a Python is told to run. `-P`: without it the working directory, a stranger's folder maybe, is searched first. */
export const SERVER_MODULE = ["-P", "-m", "agent_lsp"] as const;

/** The first of: the setting, the managed environment, PATH. A setting that leads nowhere is not passed over. */
export function locate(places: Places, isProgram: (path: string) => boolean): Found {
  if (places.configured !== "") {
    const command = expandHome(places.configured, places.home);
    return isProgram(command)
      ? { found: { command, args: [], origin: "setting" } }
      : {
          missing: `agentLsp.server.path names ${command}, which is no program: correct or clear the setting.`,
          remedy: "settings",
        };
  }
  if (places.managedPython !== undefined) {
    return { found: { command: places.managedPython, args: SERVER_MODULE, origin: "managed" } };
  }
  const onPath = onPathAs("agent-lsp", places.path, isProgram);
  if (onPath !== undefined) {
    return { found: { command: onPath, args: [], origin: "path" } };
  }
  return places.carriesServer
    ? { missing: "The agent's server is not installed: run “Agent: Install Server”.", remedy: "install" }
    : { missing: NOT_CARRIED, remedy: "settings" };
}

/** Directories of a PATH variable, in order; relative ones are left out, because they depend on where one stands. */
export function searchPath(variable: string | undefined): string[] {
  return (variable ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
}

/** The first program of that name. */
export function onPathAs(
  name: string,
  path: readonly string[],
  isProgram: (path: string) => boolean,
): string | undefined {
  return path.map((directory) => join(directory, name)).find(isProgram);
}

/** A leading `~/` as the home directory. */
export function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

const OLDEST: readonly [number, number] = [3, 11];
/** As a person writes it. */
export const OLDEST_PYTHON = OLDEST.join(".");
const NAMES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

/** Programs that may be a Python, best first: the setting alone if there is one. */
export function pythons(
  configured: string,
  path: readonly string[],
  home: string,
  isProgram: (path: string) => boolean,
): string[] {
  if (configured !== "") {
    return [expandHome(configured, home)];
  }
  return NAMES.flatMap((name) => onPathAs(name, path, isProgram) ?? []);
}

/** Whether `python --version` has answered with one that will do. */
export function isNewEnough(answer: string): boolean {
  const match = /^Python (\d+)\.(\d+)/.exec(answer.trim());
  if (!match) {
    return false;
  }
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
