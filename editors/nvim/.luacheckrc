std = "luajit"
cache = false
max_line_length = 140
globals = { "vim" }
exclude_files = { "lua/agent_lsp/types.lua", ".venv", "node_modules" }
ignore = { "212/self" }
