#!/usr/bin/env bash
# start/acp.md: what an editor does with the settings of the page: starts the command and holds a conversation.
. "$(dirname "$0")/walk.sh"
install_it
get_a_project
try "'$python' '$here/editor_of_acp.py' '$checkout/docs/start/acp.md'"
try "grep Hello greeter.py"
well
