--- The top of a chat whose history is not read whole: a line that says so, and more of it for whoever gets there.
local M = {}

local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local log = require("agent_lsp.log")
local protocol = require("agent_lsp.protocol")
local sessions = require("agent_lsp.session")

local api = vim.api
local namespace = api.nvim_create_namespace("agent_lsp_earlier")

---@param count? integer
---@return string
local function amount(count)
  if not count then
    return "earlier messages"
  elseif count == 1 then
    return "1 earlier message"
  end
  local digits = tostring(count):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return digits .. " earlier messages"
end

--- What the line at the top says; nil if all is read.
---@param session agent.Session
---@return string?
function M.line(session)
  local earlier = session.earlier
  if not earlier then
    return nil
  elseif earlier.waiting then
    return ("▲ %s, being read …"):format(amount(earlier.count))
  end
  return ("▲ %s, not searched yet: <CR> here reads more, g< all"):format(amount(earlier.count))
end

--- Puts the line right. It is no text: it is neither found nor yanked.
---@param view agent.View
---@param session agent.Session
function M.draw(view, session)
  if not api.nvim_buf_is_loaded(view.buf) then
    return
  end
  api.nvim_buf_clear_namespace(view.buf, namespace, 0, -1)
  local line = M.line(session)
  if line then
    -- inline, so that a narrow window wraps it
    api.nvim_buf_set_extmark(view.buf, namespace, 0, 0, {
      virt_text = { { line, "AgentMuted" } },
      virt_text_pos = "inline",
    })
  end
end

--- Reads a page more, or everything. `callback` comes when it is shown.
---@param session agent.Session
---@param options { all?: boolean }
---@param callback? fun()
function M.read(session, options, callback)
  session:read_earlier(options, function(err)
    if err and err.code ~= protocol.SERVER_GONE then
      log.tell("what was said earlier cannot be read: " .. err.message, vim.log.levels.ERROR)
    elseif not err and callback then
      callback()
    end
  end)
end

--- Reads a page more if a window shows the top. Nothing is started for it.
---@param view agent.View
---@param session agent.Session
function M.fill(view, session)
  if not session.earlier or session.earlier.waiting or not client.get() then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    if vim.fn.line("w0", win) == 1 then
      return session:read_earlier({}, function() end)
    end
  end
end

---@type fun(session_id: string): agent.View?
local view_of

--- The same, once windows are where they are going to be.
---@param session_id string
function M.fill_soon(session_id)
  vim.schedule(function()
    local view, session = view_of(session_id), sessions.get(session_id)
    if view and session then
      M.fill(view, session)
    end
  end)
end

--- Windows were scrolled.
local function scrolled()
  for name in pairs(vim.v.event) do
    local win = tonumber(name)
    local id = win and api.nvim_win_is_valid(win) and vim.b[api.nvim_win_get_buf(win)].agent_session
    local session = sessions.get(id or "")
    if session and session.earlier then
      M.fill_soon(session.id)
    end
  end
end

--- Takes part. `find` gives the chat of a session, if it has one.
---@param find fun(session_id: string): agent.View?
function M.attach(find)
  view_of = find
  for _, name in ipairs({ "history", "earlier" }) do
    events.on(name, function(data)
      local view = find(data.session.id)
      if view then
        M.draw(view, data.session)
        if name == "history" or data.is_new then
          M.fill_soon(data.session.id)
        end
      end
    end)
  end
  api.nvim_create_autocmd("WinScrolled", {
    group = api.nvim_create_augroup("agent_lsp_earlier", {}),
    callback = scrolled,
  })
end

return M
