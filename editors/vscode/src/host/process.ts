import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Ending } from "../logic/endings";
import { Lines } from "../logic/lines";

/** How long the pipes of a process that has ended may stay open: something that it started may hold them. */
const PIPES_MS = 1000;

/** A program that runs: what it says on stderr goes, line by line, to `log`. */
export interface Running {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the process has ended, with how it did. Never rejects. */
  readonly ended: Promise<Ending>;
  /** Waits for its end, and kills it when it has not ended after so many milliseconds. */
  end(graceMs: number): Promise<Ending>;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a program. Rejects when it cannot be started. */
export async function start(program: Program, log: (line: string) => void): Promise<Running> {
  const child = spawn(program.command, program.args, { cwd: program.cwd, env: program.env, stdio: "pipe" });
  const lines = new Lines(log);
  child.stderr.setEncoding("utf8").on("data", (piece: string) => lines.add(piece));
  const ended = ending(child).finally(() => lines.end());
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.on("error", (error) => log(error.message));
  return { stdin: patient(child.stdin), stdout: child.stdout, ended, end: (graceMs) => finish(child, ended, graceMs) };
}

/** Takes what is written, also when nobody reads any more: that a process has ended is told otherwise. */
function patient(stdin: Writable): Writable {
  const into = new PassThrough();
  stdin.on("error", () => undefined);
  stdin.once("close", () => into.resume());
  into.pipe(stdin);
  return into;
}

/** Settles when it has ended and what it said has been read. */
function ending(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      const settle = (): void => resolve({ code, signal, forced: false });
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        settle();
      }, PIPES_MS);
      child.once("close", () => {
        clearTimeout(timer);
        settle();
      });
    });
  });
}

async function finish(child: ChildProcess, ended: Promise<Ending>, graceMs: number): Promise<Ending> {
  let forced = false;
  const kill = (signal: NodeJS.Signals): void => {
    forced = child.kill(signal);
  };
  const soften = setTimeout(kill, graceMs, "SIGTERM");
  const force = setTimeout(kill, 2 * graceMs, "SIGKILL");
  try {
    return { ...(await ended), forced };
  } finally {
    clearTimeout(soften);
    clearTimeout(force);
  }
}

/** Runs a program to its end; both of its outputs go to `log`. Rejects with the last line when it fails. */
export async function runToEnd(
  program: Program,
  log: (line: string) => void,
  onCancel: (cancel: () => void) => void,
): Promise<string> {
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: program.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own: what it starts ends with it
  });
  let last = "";
  let output = "";
  const take = (line: string): void => {
    last = line;
    log(line);
  };
  const [out, error] = [new Lines(take), new Lines(take)];
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    output += piece;
    out.add(piece);
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => error.add(piece));
  onCancel(() => endGroup(child));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      out.end();
      error.end();
      if (code === 0) {
        resolve(output);
      } else {
        reject(new Error(last || `${program.command} ended with status ${code ?? "unknown"}`));
      }
    });
  });
}

function endGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? NaN), "SIGTERM");
  } catch {
    child.kill("SIGTERM");
  }
}

/** Whether that is a file that may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The environment without what the editor has put there for its own processes, and commands of the agent must not see. */
export function outerEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(VSCODE|ELECTRON)_/.test(name)));
}
