--- Pages that are looked at in a browser: what a session was, and what all of them have used.
local M = {}

local client = require("agent_lsp.client")
local log = require("agent_lsp.log")
local protocol = require("agent_lsp.protocol")
local sessions = require("agent_lsp.session")

local LOOK_MS = 50
local SESSION_NOT_FOUND = -32004
--- How long a program may take to say that it opens nothing.
M.look_ms = 5000

--- Says where a page is. In a float: a message would be cut, or want a key.
---@param path string
---@param why string
local function say_where(path, why)
  local lines = { "The page was not opened: " .. why:gsub("%s*\n%s*", " "), path }
  vim.lsp.util.open_floating_preview(lines, "", { focus_id = "agent_lsp_page", border = "rounded" })
end

--- Looks after the program that opens a page until it has ended, or has had the time to fail. Its `wait` is no way to
--- hear of that: it would also wait for a browser that holds the program's output.
---@param opener vim.SystemObj
---@param path string
---@param left_ms integer
local function look_after(opener, path, left_ms)
  local ended = vim.tbl_get(opener, "_state", "result")
  if ended and ended.code ~= 0 then
    local said = vim.trim(ended.stderr or "")
    say_where(path, said ~= "" and said or ("%s ended with %d"):format(opener.cmd[1], ended.code))
  elseif not ended and left_ms > 0 then
    vim.defer_fn(function()
      look_after(opener, path, left_ms - LOOK_MS)
    end, LOOK_MS)
  end
end

--- Opens a page as `vim.ui.open` does; where nothing can open it, its path is shown.
---@param path string
function M.open(path)
  local ran, opener, problem = pcall(vim.ui.open, path)
  if not ran or problem then
    return say_where(path, tostring(ran and problem or opener))
  end
  if type(opener) == "table" then -- somebody's own `vim.ui.open` may give anything
    look_after(opener, path, M.look_ms)
  end
end

---@param method string
---@param params table
local function show(method, params)
  client.request(method, params, function(err, page)
    if not err then
      M.open(vim.uri_to_fname(page.uri))
    elseif err.code == SESSION_NOT_FOUND then
      log.tell("nothing was said in this session yet")
    elseif err.code ~= protocol.SERVER_GONE then
      log.tell(err.message, vim.log.levels.ERROR)
    end
  end)
end

---@type table<string, fun()>
M.commands = {}

--- `:AgentTrace`: the current session as a page.
function M.commands.AgentTrace()
  local session = sessions.current()
  if not session then
    return log.tell("there is no session yet: begin one with :Agent {prompt}")
  end
  client.prepare()
  show("agent/session/page", { sessionId = session.id })
end

--- `:AgentUsage`: what all sessions have used, as a page.
function M.commands.AgentUsage()
  client.prepare()
  show("agent/usage/page", {})
end

return M
