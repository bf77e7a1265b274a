#!/usr/bin/env bash
# start/any-editor.md: what an editor without a plugin does with the command of the page; and Emacs, where it is there.
. "$(dirname "$0")/walk.sh"
install_it
get_a_project
try "'$python' '$here/editor_of_lsp.py' '$checkout/docs/start/any-editor.md'"
try "grep Hello greeter.py"
if make --no-print-directory -C "$checkout/editors/nvim" install emacs-program; then
  try "AGENT_LSP_CMD='$HOME/.local/bin/agent-lsp' '$checkout/.venv/bin/python' '$here/in_emacs.py' \
    '$checkout/docs/start/any-editor.md' '$MACHINE'"
else
  echo "== $name: Emacs could not be installed, its part was not tried"
fi
well
