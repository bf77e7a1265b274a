--- The chats: one buffer a session, named `agent://session/ID`, in as many windows as somebody likes.
local M = {}

local client = require("agent_lsp.client")
local decor = require("agent_lsp.chat.decor")
local earlier = require("agent_lsp.chat.earlier")
local events = require("agent_lsp.events")
local folds = require("agent_lsp.chat.folds")
local log = require("agent_lsp.log")
local sessions = require("agent_lsp.session")
local view = require("agent_lsp.chat.view")
local window = require("agent_lsp.chat.window")

local api = vim.api
local PREFIX = "agent://session/"

---@type table<string, agent.View> by session id
local views = {}

--- The name of a session's chat buffer.
---@param session_id string
---@return string
function M.name(session_id)
  return PREFIX .. session_id
end

--- The chat of a session, if it has one.
---@param session_id string
---@return agent.View?
function M.view(session_id)
  local found = views[session_id]
  return found and api.nvim_buf_is_valid(found.buf) and found or nil
end

---@param buf integer
local function set_options(buf)
  for name, value in pairs({
    buftype = "nofile",
    bufhidden = "hide",
    buflisted = false,
    swapfile = false,
    undolevels = -1,
    modifiable = false,
    modeline = false,
  }) do
    api.nvim_set_option_value(name, value, { buf = buf })
  end
end

---@param buf integer
---@param session agent.Session
---@return agent.View
local function show(buf, session)
  vim.b[buf].agent_session = session.id
  local known = views[session.id]
  if known and known.buf == buf then
    known:show(session.model)
  else
    if known then
      known:close()
    end
    known = view.new(buf, session.model)
    views[session.id] = known
  end
  if vim.bo[buf].filetype ~= "agent" then
    vim.bo[buf].filetype = "agent"
    require("agent_lsp.chat.keys").set(buf)
  end
  earlier.draw(known, session)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    M.entered(buf, win)
  end
  return known
end

--- The chat buffer of a session, made if need be.
---@param session agent.Session
---@return integer
function M.buffer(session)
  local known = M.view(session.id)
  if known and api.nvim_buf_is_loaded(known.buf) then
    return known.buf
  end
  local buf = vim.fn.bufadd(M.name(session.id))
  set_options(buf)
  vim.bo[buf].filetype = ""
  local ignored = vim.o.eventignore
  vim.o.eventignore = "BufReadCmd"
  vim.fn.bufload(buf)
  vim.o.eventignore = ignored
  set_options(buf)
  show(buf, session)
  return buf
end

--- `BufReadCmd`: `:edit`, `:buffer`, a restored session or a mark has named a chat.
---@param buf integer
---@param name string
function M.read(buf, name)
  local prompt_of = name:match("^agent://prompt/(.+)$")
  if prompt_of then
    client.prepare()
    return require("agent_lsp.prompt").read(buf, prompt_of)
  end
  local id = name:match("^agent://session/(.+)$")
  set_options(buf)
  if not id then
    return
  end
  client.prepare()
  vim.b[buf].agent_session = id
  require("agent_lsp.glance").open(id, function(session)
    if api.nvim_buf_is_loaded(buf) then
      show(buf, session)
    end
  end, function(err)
    log.tell(("session %s: %s"):format(id, err.message), vim.log.levels.ERROR)
  end)
end

--- A session file has given a new buffer the name of a chat or a prompt.
---@param buf integer
---@param name string
function M.restore(buf, name)
  vim.cmd.redraw() -- `:file` tells of each buffer, and two lines in a row would be a prompt to press Enter
  vim.w.agent_window = true
  M.read(buf, name)
end

--- A window shows a chat: what is the window's own is set, and the rendering begins that a hidden chat goes without.
---@param buf integer
---@param win integer
function M.entered(buf, win)
  local known = M.view(vim.b[buf].agent_session or "")
  if known and known.buf == buf then
    window.set_chat_options(win)
    known.highlight:want()
    folds.renew_in(known, win, true)
    local session = sessions.get(vim.b[buf].agent_session)
    if session then
      earlier.fill_soon(session.id)
    end
  end
end

--- Opens the chat of a session, or goes there; `stay` leaves the cursor where it is.
---@param session agent.Session
---@param stay? boolean
---@return integer win
function M.open(session, stay)
  return window.open_chat(M.buffer(session), stay)
end

--- Whether this tabpage shows the chat of a session.
---@param session agent.Session
---@return boolean
function M.is_shown(session)
  local known = M.view(session.id)
  return known ~= nil and window.find(known.buf) ~= nil
end

--- Writes one line into a session's chat, as `> line`: what went wrong and what to do.
---@param session_id string
---@param line string
function M.note(session_id, line)
  local session = sessions.get(session_id)
  if session then
    session.model:notice(line)
    local known = M.view(session_id)
    if known then
      known:poke()
    end
  end
end

--- Follows what happens to sessions.
local function listen()
  local function with_view(data, act)
    local known = M.view(data.session.id)
    if known then
      act(known, data.session)
    end
  end
  events.on("received", function(data)
    with_view(data, function(known)
      known:poke()
    end)
  end)
  events.on("history", function(data)
    with_view(data, function(known, session)
      known:show(session.model)
    end)
  end)
  events.on("state", function(data)
    with_view(data, function(known, session)
      vim.b[known.buf].agent_streaming = session:is_busy()
      known:poke()
    end)
  end)
  events.on("stopped", function(data)
    for id, known in pairs(views) do
      known:poke()
      if not data.expected and M.view(id) then
        M.note(id, "the server has ended: the next command starts it again and goes on from here")
      end
    end
  end)
end

--- Takes part: shows what is streamed.
function M.attach()
  decor.define_groups()
  vim.treesitter.language.register("markdown", { "agent", "agent_prompt" })
  listen()
  earlier.attach(M.view)
  local group = api.nvim_create_augroup("agent_lsp_chat", {})
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    pattern = PREFIX .. "*",
    callback = function(event)
      M.entered(event.buf, api.nvim_get_current_win())
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    pattern = PREFIX .. "*",
    callback = function(event)
      local id = vim.b[event.buf].agent_session
      if id and views[id] and views[id].buf == event.buf then
        views[id]:close()
        views[id] = nil
      end
    end,
  })
  api.nvim_create_autocmd("ColorScheme", { group = group, callback = decor.define_groups })
  window.attach()
  require("agent_lsp.chat.bar").attach()
end

return M
