#!/usr/bin/env bash
# start/neovim.md, each of its ways: in a real Neovim with a screen, by keys, from the first prompt to the undo of the edit.
. "$(dirname "$0")/walk.sh"
if ! make --no-print-directory -C "$checkout/editors/nvim" install; then
  echo "== $name: Neovim could not be installed, nothing was tried"
  exit 77
fi
install_it
get_a_project
mkdir .git
try "AGENT_LSP_CMD='$HOME/.local/bin/agent-lsp' '$checkout/.venv/bin/python' '$here/in_neovim.py' \
  '$checkout/docs/start/neovim.md' '$MACHINE/agent-lsp' '$MACHINE'"
well
