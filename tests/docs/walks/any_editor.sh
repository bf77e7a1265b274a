#!/usr/bin/env bash
# start/any-editor.md: what an editor without a plugin does with the command of the page.
. "$(dirname "$0")/walk.sh"
install_it
get_a_project
try "'$python' '$here/editor_of_lsp.py' '$checkout/docs/start/any-editor.md'"
try "grep Hello greeter.py"
well
