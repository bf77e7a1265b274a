// Runs the tests of this folder inside the extension host of a real VS Code server; a word as argument runs those it is in.
// EDITOR is the folder that install-editor.sh has made, AGENT_LSP the program of the server: EDITOR=… AGENT_LSP=… node run.mjs
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "@playwright/test";
import { build } from "esbuild";

const START_MS = 30_000;
const WHOLE_MS = 240_000;
const extension = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "agent-lsp-hosted-"));
const workspace = join(root, "workspace");
const editor = join(process.env.EDITOR, "node_modules/code-server/lib/vscode/out/server-main.js");

const settings = {
  "agentLsp.server.path": process.env.AGENT_LSP,
  "agentLsp.server.dataDir": join(root, "data"),
  "agentLsp.server.configFile": join(root, "config.toml"),
  "chat.disableAIFeatures": true,
  "files.autoSave": "off",
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
};

cpSync(join(extension, "test/e2e/sample"), workspace, { recursive: true });
mkdirSync(join(root, "server/data/Machine"), { recursive: true });
writeFileSync(join(root, "server/data/Machine/settings.json"), JSON.stringify(settings));
await build({
  entryPoints: [join(import.meta.dirname, "index.ts")],
  outfile: join(extension, "dist/hosted.js"),
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  sourcemap: "inline",
  logLevel: "warning",
});

const port = await freePort();
const server = spawn(
  process.execPath,
  [
    editor,
    ...["--host", "127.0.0.1", "--port", String(port), "--without-connection-token", "--accept-server-license-terms"],
    ...["--server-data-dir", join(root, "server"), "--extensions-dir", join(root, "extensions")],
    ...["--telemetry-level", "off", "--disable-workspace-trust", "--enable-smoke-test-driver"],
  ],
  {
    detached: true,
    stdio: ["ignore", openSync(join(root, "server.log"), "a"), openSync(join(root, "server.log"), "a")],
    env: {
      ...process.env,
      HOME: root,
      AGENT_LSP_HOSTED_ROOT: root,
      AGENT_LSP_HOSTED_ONLY: process.argv[2] ?? "",
      EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}',
    },
  },
);
let status = 1;
try {
  status = await run();
} finally {
  process.kill(-server.pid, "SIGTERM");
  await delay(500);
  try {
    process.kill(-server.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
  if (status !== 0) console.log(readFileSync(join(root, "server.log"), "utf8").split("\n").slice(-30).join("\n"));
  rmSync(root, { recursive: true, force: true });
}
process.exit(status);

async function run() {
  const deadline = Date.now() + START_MS;
  while (
    !(await globalThis.fetch(`http://127.0.0.1:${port}/version`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (Date.now() > deadline) throw new Error("the VS Code server did not start");
    await delay(50);
  }
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const ended = new Promise((done) => void page.exposeFunction("codeAutomationExit", done));
    await page.exposeFunction("codeAutomationLog", (_type, args) =>
      process.env.LOUD ? console.log(...args) : undefined,
    );
    const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
    const payload = [
      ["extensionDevelopmentPath", remote(extension)],
      ["extensionTestsPath", remote(join(extension, "dist/hosted.js"))],
    ];
    await page.goto(
      `http://127.0.0.1:${port}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`,
    );
    const code = await Promise.race([ended, delay(WHOLE_MS, "no end within the time")]);
    await page.screenshot({ path: join(tmpdir(), "agent-lsp-hosted.png") });
    const results = join(root, "results.txt");
    console.log(existsSync(results) ? readFileSync(results, "utf8") : "no results");
    return code === 0 ? 0 : 1;
  } finally {
    await browser.close();
  }
}

async function freePort() {
  const socket = createServer();
  await new Promise((done) => socket.listen(0, "127.0.0.1", done));
  const { port: free } = socket.address();
  await new Promise((done) => socket.close(done));
  return free;
}
