-- Writes doc/agent-lsp.txt from the sources: the tables of plugin/agent_lsp.lua, the annotations of lua/agent_lsp/types.lua,
-- the keys and highlight groups that are really set. `nvim -l scripts/vimdoc.lua [--check]`.
local api = vim.api
local WIDTH = 78
local TARGET = "doc/agent-lsp.txt"

vim.env.XDG_STATE_HOME = vim.fn.tempname()
vim.cmd.runtime("plugin/agent_lsp.lua")

local out = {}

local function add(...)
  for _, line in ipairs({ ... }) do
    out[#out + 1] = line
  end
end

--- Fills words into lines of the page's width, indented.
local function fill(text, indent)
  local line = ""
  for word in text:gmatch("%S+") do
    if line ~= "" and vim.fn.strdisplaywidth(indent .. line .. " " .. word) > WIDTH then
      add(indent .. line)
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  add(indent .. line)
end

local function heading(title, tag)
  tag = "*" .. tag .. "*"
  add("", ("="):rep(WIDTH), title .. (" "):rep(WIDTH - #title - #tag) .. tag, "")
end

--- Something with a name of its own: the name to the left, its tag to the right.
local function entry(name, tag, text)
  tag = "*" .. tag .. "*"
  local gap = WIDTH - vim.fn.strdisplaywidth(name) - #tag
  if gap < 2 then
    add((" "):rep(WIDTH - #tag) .. tag, name)
  else
    add(name .. (" "):rep(gap) .. tag)
  end
  fill(text, "    ")
  add("")
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  return text
end

--- A part of scripts/prose.txt: what is between its name and the next mark.
local function prose(name)
  local text = read("scripts/prose.txt"):match("@@ " .. name .. "\n(.-)\n@@")
  assert(text, "no prose " .. name)
  vim.list_extend(out, vim.split(text, "\n", { plain = true }))
end

-- Commands and mappings ------------------------------------------------------------------------------------------------

local function commands()
  local source = read("plugin/agent_lsp.lua")
  local defined = api.nvim_get_commands({})
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, "Agent")
  end, vim.tbl_keys(defined))
  table.sort(names)
  for _, name in ipairs(names) do
    local command = defined[name]
    local words =
      assert(source:match("\n  " .. name .. ' = {%s*"[%l_]+",%s*"(.-)"'), name .. " has no arguments in words")
    local usage = (":%s%s%s %s"):format(command.range and "[range]" or "", name, command.bang and "[!]" or "", words)
    entry(vim.trim(usage), ":" .. name, command.definition)
  end
end

local function mappings()
  local seen = {}
  for _, mode in ipairs({ "n", "x" }) do
    for _, map in ipairs(api.nvim_get_keymap(mode)) do
      local name = map.lhs:match("^<Plug>%(agent%-.+%)$")
      if name then
        seen[name] = seen[name] or { desc = map.desc, modes = "" }
        seen[name].modes = seen[name].modes .. mode
      end
    end
  end
  for name, map in vim.spairs(seen) do
    entry(name, name, ("%s (modes: %s)."):format(map.desc, map.modes))
  end
end

-- Keys -----------------------------------------------------------------------------------------------------------------

local function keys_of(buf)
  local keys = {}
  for _, mode in ipairs({ "n", "i" }) do
    for _, map in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
      local desc = (map.desc or ""):match("^agent: (.*)$")
      if desc then
        local lhs = map.lhs:gsub("<lt>", "<")
        keys[lhs] = keys[lhs] or { desc = desc, modes = "" }
        keys[lhs].modes = keys[lhs].modes .. mode
      end
    end
  end
  for lhs, key in vim.spairs(keys) do
    add(("    %-10s %-4s %s"):format(lhs, key.modes, key.desc))
  end
  add("")
end

local function keys()
  require("agent_lsp.client").prepare()
  local session = require("agent_lsp.session").adopt({
    sessionId = "of-the-help",
    workspace = vim.uri_from_fname(vim.uv.cwd()),
    createdAt = "",
    state = "idle",
    model = {},
  })
  local prompt, chat = require("agent_lsp.prompt"), require("agent_lsp.chat")
  prompt.open(session)
  add("In the chat:", "")
  keys_of(chat.buffer(session))
  add("In the prompt:", "")
  keys_of(api.nvim_get_current_buf())
  add("In the float of a question `g?` lists its keys.", "")
end

-- Settings -------------------------------------------------------------------------------------------------------------

--- The fields of a class in types.lua, in order: name, type, description.
local function fields_of(class)
  local body =
    assert(read("lua/agent_lsp/types.lua"):match("%-%-%-@class " .. class:gsub("%.", "%%.") .. "\n(.-)\n\n"), class)
  local fields = {}
  for line in body:gmatch("[^\n]+") do
    local name, rest = line:match("^%-%-%-@field (%S+) (.*)$")
    local kind, text = rest:match('^([%w_.|"]+%[?%]?) (%l.*)$')
    if not kind then
      kind, text = rest:match('^(.-[%>%]"n]) ([%l`].*)$')
    end
    if rest:match("^%S+$") then
      kind, text = rest, ""
    end
    fields[#fields + 1] = { name = name, kind = kind or rest, text = text or "" }
  end
  return fields
end

local function settings(class, default, path)
  for _, field in ipairs(fields_of(class)) do
    local at = path .. field.name
    if vim.startswith(field.kind, "agent.") then
      settings(field.kind, default[field.name], at .. ".")
    else
      local value = vim.inspect(default[field.name], { newline = " ", indent = "" })
      local text = field.text ~= "" and field.text:sub(1, 1):upper() .. field.text:sub(2) .. ". " or ""
      entry(at, "agent-lsp." .. at, ("%sType: `%s`. Default: `%s`."):format(text, field.kind, value))
    end
  end
end

-- The rest -------------------------------------------------------------------------------------------------------------

local function groups()
  for name, group in vim.spairs(api.nvim_get_hl(0, {})) do
    if vim.startswith(name, "Agent") then
      add(("    %-22s links to %s"):format(name, group.link or "nothing"))
    end
  end
  add("")
end

--- Every autocommand that the sources announce must be described, and no other.
local function check_events()
  local described, announced = {}, {}
  for name in read("scripts/prose.txt"):gmatch("\n(Agent%u%w+)%s") do
    described[name] = true
  end
  for _, path in ipairs(vim.fn.glob("lua/**/*.lua", true, true)) do
    for name in read(path):gmatch('announce%("(%w+)"') do
      announced[name] = true
    end
  end
  assert(
    vim.deep_equal(described, announced),
    "events described: " .. vim.inspect(described) .. " announced: " .. vim.inspect(announced)
  )
end

add("*agent-lsp.txt*  A coding agent that works in your buffers", "")
prose("introduction")
heading("INSTALLING", "agent-lsp-install")
prose("installing")
heading("COMMANDS", "agent-lsp-commands")
commands()
heading("MAPPINGS", "agent-lsp-mappings")
prose("mappings")
mappings()
heading("KEYS", "agent-lsp-keys")
prose("keys")
keys()
heading("MENTIONS", "agent-lsp-mentions")
prose("mentions")
heading("SETTINGS", "agent-lsp-settings")
prose("settings")
settings("agent.Config", require("agent_lsp.config").defaults(), "")
heading("EVENTS", "agent-lsp-events")
prose("events")
check_events()
heading("HIGHLIGHTS", "agent-lsp-highlights")
groups()
heading("STATUSLINE, HEALTH, LOG", "agent-lsp-health")
prose("health")
add("", "vim:tw=78:ts=8:noet:ft=help:norl:")

--- A tag that is there twice, or that is pointed to and is nowhere, is an error of the page.
local function check_tags(text)
  local tags = {}
  for tag in text:gmatch("%f[%S]%*([^%s*|]+)%*%f[%s]") do
    assert(not tags[tag], "the tag is there twice: " .. tag)
    tags[tag] = true
  end
  for tag in text:gmatch("|(agent%-lsp[^|%s]*)|") do
    assert(tags[tag], "no such tag: " .. tag)
  end
end

local made = table.concat(out, "\n"):gsub("[ \t]+\n", "\n"):gsub("\n\n\n+", "\n\n") .. "\n"
check_tags(made)
if _G.arg[1] == "--check" then
  local file = io.open(TARGET)
  local there = file and file:read("a") or ""
  if there ~= made then
    io.stdout:write(TARGET .. " is not what the sources say: run `make doc`\n")
    os.exit(1)
  end
  os.exit(0)
end
vim.fn.mkdir("doc", "p")
local file = assert(io.open(TARGET, "w"))
file:write(made)
file:close()
io.stdout:write("wrote " .. TARGET .. "\n")
os.exit(0)
