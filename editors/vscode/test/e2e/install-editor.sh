#!/bin/sh
# Installs the editor that the end-to-end tests drive: install-editor.sh DIRECTORY, with the Node to run it in $NODE_HOME.
# Idempotent; a half-finished installation is begun anew. Chromium comes from apt, only as root and only when missing.
set -eu

directory=$1
version=4.139.1
stamp=$directory/.installed

if ! command -v chromium >/dev/null; then
  test "$(id -u)" = 0 && command -v apt-get >/dev/null || {
    echo 'the end-to-end tests need chromium; install it, or run this as root where apt is' >&2
    exit 1
  }
  apt-get update --quiet --quiet
  DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi

test "$(cat "$stamp" 2>/dev/null)" = "$version" && exit 0

PATH=$NODE_HOME/bin:$PATH
export PATH npm_config_nodedir="$NODE_HOME"
# The npm of the wheel is called by its script: the link in its bin directory is broken.
npm() {
  node "$NODE_HOME/lib/node_modules/npm/bin/npm-cli.js" "$@" --no-package-lock --no-audit --no-fund --loglevel=error
}

rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
echo '{"private":true}' >package.json
npm install --ignore-scripts "code-server@$version"

# What its postinstall would do, without the native parts that no test needs.
cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts
(cd extensions && npm install --omit=dev --ignore-scripts)
ln -sf code-linux.sh bin/remote-cli/code-server
ln -sf browser-linux.sh bin/helpers/browser.sh
rm -rf node_modules/@github/copilot-sdk-linux* node_modules/@github/copilot-sdk-*musl* extensions/copilot

# Output channels are written through the one; the other ends what is left when the editor is killed.
if command -v g++ >/dev/null && command -v make >/dev/null; then
  npm rebuild @vscode/spdlog @vscode/native-watchdog >/dev/null 2>&1 || echo 'native parts of the editor were not built: output channels stay empty'
fi

echo "$version" >"$stamp"
