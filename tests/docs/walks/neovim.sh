#!/usr/bin/env bash
# start/neovim.md, the part without a plugin: the Lua of the page, in Neovim, up to a mended file.
. "$(dirname "$0")/walk.sh"
editor=$(command -v nvim || command -v "$checkout/.venv/nvim" || true) # the second is that of the plugin's tests
if [ -z "$editor" ]; then
  echo "== $name: Neovim is not installed, nothing was tried"
  exit 77
fi
install_it
get_a_project
mkdir .git
"$python" - "$checkout/docs/start/neovim.md" >"$MACHINE/init.lua" <<'PY'
import pathlib, re, sys
found = re.findall(r"^```lua\n(.*?)^```$", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)
print(next(one for one in found if "vim.lsp.enable" in one))
PY
try "'$editor' --clean --headless -u '$MACHINE/init.lua' -c 'luafile $here/neovim_walk.lua' greeter.py"
try "grep Hello greeter.py"
well
