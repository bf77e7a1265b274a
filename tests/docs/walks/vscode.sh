#!/usr/bin/env bash
# start/vscode.md, up to the package that is installed: what is in it is tried by the extension's own tests.
. "$(dirname "$0")/walk.sh"
get_the_checkout
follow start/vscode.md
try "ls editors/vscode/*.vsix"
well
