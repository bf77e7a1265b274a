// Formats the plugin's Lua with the WebAssembly build of StyLua: `node scripts/style.mjs [--check]`.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Config, IndentType, OutputVerification, QuoteStyle, formatCode } from "@johnnymorganz/stylua";

const SKIPPED = new Set(["node_modules", ".venv", "doc"]);

function* luaFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
      yield* luaFiles(path);
    } else if (entry.name.endsWith(".lua")) {
      yield path;
    }
  }
}

/** The settings of stylua.toml, which editors read too. */
function config() {
  const text = readFileSync("stylua.toml", "utf8");
  const value = (name) => new RegExp(`^${name}\\s*=\\s*"?([^"\\n]+)"?`, "m").exec(text)?.[1];
  const made = Config.new();
  made.column_width = Number(value("column_width"));
  made.indent_type = IndentType[value("indent_type")];
  made.indent_width = Number(value("indent_width"));
  made.quote_style = QuoteStyle[value("quote_style")];
  return made;
}

const isCheck = process.argv.includes("--check");
const off = [];
for (const path of luaFiles(".")) {
  const before = readFileSync(path, "utf8");
  const after = formatCode(before, config(), undefined, OutputVerification.Full);
  if (after !== before) {
    off.push(path);
    if (!isCheck) writeFileSync(path, after);
  }
}
for (const path of off) console.log(`${isCheck ? "would format" : "formatted"} ${path}`);
process.exitCode = isCheck && off.length > 0 ? 1 : 0;
