#!/usr/bin/env bash
# start/vscode.md: the package is built as the page says and then met in a real editor, by a browser; its pictures are in
# build/walks/vscode. The editor and the browser are those of the extension's tests.
. "$(dirname "$0")/walk.sh"
get_the_checkout
follow start/vscode.md 1 1
try "ls $MACHINE/agent-lsp/editors/vscode/*.vsix"
if ! make -C "$checkout/editors/vscode" install editor; then
  echo "== $name: the editor could not be installed, only the package was tried"
  exit 77
fi
rm -rf "$checkout/build/walks/vscode"
make --no-print-directory -C "$checkout/editors/vscode" walk \
  VSIX="$(echo "$MACHINE"/agent-lsp/editors/vscode/*.vsix)" PICTURES="$checkout/build/walks/vscode"
well
