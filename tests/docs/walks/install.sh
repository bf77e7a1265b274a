#!/usr/bin/env bash
# start/install.md, from a checkout to the first answer.
. "$(dirname "$0")/walk.sh"
get_the_checkout
follow start/install.md 1 2
get_a_project
follow start/install.md 3
try "agent-lsp run 'fix the greeting in greeter.py' --yes"
try "grep Hello greeter.py"
well
