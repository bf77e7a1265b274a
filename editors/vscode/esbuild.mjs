// Bundles both programs of the extension: the host (Node, beside the editor) and the view (a browser page).
import { build, context } from "esbuild";

const production = process.argv.includes("--production");
const watch = process.argv.includes("--watch");

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  outdir: "dist",
  minify: production,
  sourcemap: production ? false : "linked",
  legalComments: "none",
  logLevel: "info",
};

/** @type {import('esbuild').BuildOptions[]} */
const programs = [
  {
    ...common,
    entryPoints: { extension: "src/host/extension.ts" },
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  },
  {
    ...common,
    entryPoints: { view: "src/view/main.ts" },
    platform: "browser",
    format: "iife",
    target: "chrome120",
  },
];

for (const program of programs) {
  if (watch) {
    await (await context(program)).watch();
  } else {
    await build(program);
  }
}
