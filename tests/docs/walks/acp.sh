#!/usr/bin/env bash
# start/acp.md: what an editor does with the settings of the page, by the libraries that editors use for the protocol.
. "$(dirname "$0")/walk.sh"
install_it
get_a_project
try "'$checkout/.venv/bin/python' '$here/in_acp.py' '$checkout/docs/start/acp.md'"
try "grep Hello greeter.py"

make --no-print-directory -C "$checkout" clients
node=$(PATH="$PATH:$checkout/.venv/node24/bin" command -v node || true) # the second is that of the plugins
library=$checkout/.venv/npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js
if [ -n "$node" ] && [ -f "$library" ]; then
  try "sed -i s/Hello/Helo/ greeter.py"
  try "'$node' '$here/inAcp.mjs' '$library' agent-lsp acp"
  try "grep Hello greeter.py"
else
  echo "== $name: the library for TypeScript is not there, its part was not tried"
fi
well
