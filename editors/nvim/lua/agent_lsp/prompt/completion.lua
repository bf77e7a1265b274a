--- Completion in the prompt as a language server inside Neovim: whatever completes from servers completes mentions too.
local M = {}

local client = require("agent_lsp.client")
local mentions = require("agent_lsp.prompt.mentions")
local sessions = require("agent_lsp.session")

local NAME = "agent_lsp_prompt"
local MOST_FILES = 200
local FILES_FRESH_MS = 5000

--- Commands that the prompt itself carries out, and what they do.
M.COMMANDS = {
  compact = "go on from a summary of the conversation",
  abort = "stop what runs",
  new = "begin another session",
  model = "choose the model",
  mode = "choose what runs without asking",
  sessions = "choose another session",
}

---@type table<string, { paths: string[], read_ms: number }>
local listings = {}

---@param root string
---@return string[]
local function walked(root)
  local paths = {}
  for name, kind in
    vim.fs.dir(root, {
      depth = 6,
      skip = function(folder)
        return not vim.fs.basename(folder):match("^%.") and vim.fs.basename(folder) ~= "node_modules"
      end,
    })
  do
    if kind == "file" then
      paths[#paths + 1] = name
      if #paths >= 20000 then
        break
      end
    end
  end
  return paths
end

--- Calls back with the files of a workspace, relative to it: those that git knows of or would, else those that are there.
---@param root string
---@param callback fun(paths: string[])
local function files(root, callback)
  local known = listings[root]
  local now = vim.uv.hrtime() / 1e6
  if known and now - known.read_ms < FILES_FRESH_MS then
    return callback(known.paths)
  end
  local function found(paths)
    listings[root] = { paths = paths, read_ms = vim.uv.hrtime() / 1e6 }
    callback(paths)
  end
  -- A repository from anywhere may name a program as its monitor of files, which git would run.
  local git = { "git", "-c", "core.fsmonitor=false" }
  local ok = pcall(
    vim.system,
    vim.list_extend(git, { "ls-files", "--cached", "--others", "--exclude-standard", "-z" }),
    { cwd = root, text = false },
    vim.schedule_wrap(function(done)
      if done.code == 0 then
        return found(vim.split(done.stdout, "\0", { plain = true, trimempty = true }))
      end
      found(walked(root))
    end)
  )
  if not ok then
    found(walked(root))
  end
end

---@param folder string
---@param into table<string, string>
local function read_commands(folder, into)
  if not vim.uv.fs_stat(folder) then
    return
  end
  for name, kind in vim.fs.dir(folder) do
    local stem = name:match("^([%w_][%w_.:-]*)%.md$")
    if stem and kind ~= "directory" then
      local file = io.open(vim.fs.joinpath(folder, name), "r")
      local first = file and file:read("l") or ""
      if file then
        file:close()
      end
      into[stem] = first == "---" and "your own" or vim.trim((first:gsub("^#+", "")))
    end
  end
end

---@param root string
---@return table<string, string>
local function commands(root)
  local found = vim.deepcopy(M.COMMANDS)
  local home = vim.env.XDG_CONFIG_HOME or vim.fs.joinpath(vim.uv.os_homedir() or "", ".config")
  read_commands(vim.fs.joinpath(home, "agent-lsp", "commands"), found)
  read_commands(vim.fs.joinpath(root, ".agent-lsp", "commands"), found)
  return found
end

---@param start integer UTF-16 column of the word
---@param stop integer
---@param row integer
---@return fun(label: string, detail: string, kind: integer): lsp.CompletionItem
local function item_maker(start, stop, row)
  return function(label, detail, kind)
    return {
      label = label,
      detail = detail,
      kind = kind,
      filterText = label,
      textEdit = {
        newText = label,
        range = { start = { line = row, character = start }, ["end"] = { line = row, character = stop } },
      },
    }
  end
end

---@param path string
---@return string
local function escaped(path)
  return (path:gsub(" ", "\\ "))
end

---@param typed string
---@param paths string[]
---@param make fun(label: string, detail: string, kind: integer): lsp.CompletionItem
---@param items lsp.CompletionItem[]
---@return boolean is_incomplete
local function add_files(typed, paths, make, items)
  local wanted = typed:lower()
  local kind = vim.lsp.protocol.CompletionItemKind.File
  for _, path in ipairs(paths) do
    if path:lower():find(wanted, 1, true) then
      items[#items + 1] = make("@" .. escaped(path), "", kind)
      if #items >= MOST_FILES then
        return true
      end
    end
  end
  return false
end

--- The word before the cursor that can be completed: a mention, or a command at the beginning.
---@param row integer 0-based
---@param before string the line up to the cursor
---@return string?
function M.word(row, before)
  return before:match("@[^%s@]*$") or (row == 0 and before:match("^/[^%s]*$")) or nil
end

--- What completes the word before a position, as the server answers it.
---@param params lsp.CompletionParams
---@param callback fun(err: nil, list: lsp.CompletionList)
function M.complete(params, callback)
  local buf = vim.uri_to_bufnr(params.textDocument.uri)
  local session = sessions.get(vim.b[buf].agent_session or "")
  local row = params.position.line
  local whole = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  local before = whole:sub(1, vim.str_byteindex(whole, "utf-16", params.position.character, false))
  local word = M.word(row, before)
  if not session or not word then
    return callback(nil, { isIncomplete = false, items = {} })
  end
  local stop = params.position.character
  local make = item_maker(stop - vim.str_utfindex(word, "utf-16"), stop, row)
  local items, kinds = {}, vim.lsp.protocol.CompletionItemKind
  if word:sub(1, 1) == "/" then
    for name, does in vim.spairs(commands(mentions.root(session))) do
      items[#items + 1] = make("/" .. name, does, kinds.Function)
    end
    return callback(nil, { isIncomplete = false, items = items })
  end
  for name, means in vim.spairs(mentions.NAMED) do
    items[#items + 1] = make("@" .. name, means, kinds.Keyword)
  end
  files(mentions.root(session), function(paths)
    callback(nil, { isIncomplete = add_files(word:sub(2), paths, make, items), items = items })
  end)
end

--- The server: answers at once, keeps nothing.
---@return vim.lsp.rpc.PublicClient
local function server(dispatchers)
  local is_closing, last = false, 0
  local methods = {
    initialize = function(_, callback)
      callback(nil, {
        capabilities = {
          positionEncoding = "utf-16",
          completionProvider = { triggerCharacters = { "@", "/" } },
        },
        serverInfo = { name = NAME },
      })
    end,
    ["textDocument/completion"] = M.complete,
    shutdown = function(_, callback)
      callback(nil, nil)
    end,
  }
  return {
    request = function(method, params, callback)
      last = last + 1
      local answer = methods[method]
      if answer then
        answer(params, callback)
      else
        callback({ code = vim.lsp.protocol.ErrorCodes.MethodNotFound, message = "not here: " .. method })
      end
      return true, last
    end,
    notify = function(method)
      if method == "exit" then
        is_closing = true
        dispatchers.on_exit(0, 0)
      end
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = function()
      is_closing = true
      dispatchers.on_exit(0, 0)
    end,
  }
end

---@param buf integer
local function start(buf)
  if vim.api.nvim_buf_is_loaded(buf) then
    vim.lsp.start({ name = NAME, cmd = server, root_dir = client.root(buf) }, {
      bufnr = buf,
      silent = true,
      reuse_client = function(one)
        return one.name == NAME
      end,
    })
  end
end

--- Attaches the server to a prompt.
---@param buf integer
function M.attach(buf)
  if vim.lsp.get_clients({ name = NAME, bufnr = buf })[1] then
    vim.schedule(function() -- it is being read again: Neovim is about to detach it
      start(buf)
    end)
  else
    start(buf)
  end
end

return M
