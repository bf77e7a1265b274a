--- The agent's edits that still stand, as the server knows them, for each session. Read anew when something may have changed.
local M = {}

local api = vim.api
local client = require("agent_lsp.client")
local events = require("agent_lsp.events")

local SETTLE_MS = 150

--- An edit with what stood at its place before.
---@class agent.StandingEdit: agent.Edit
---@field session_id string
---@field oldText string
---@field reason? string why it could not be undone

---@type table<string, agent.StandingEdit[]>
local by_session = {}
---@type table<string, uv.uv_timer_t>
local timers = {}
---@type fun()[]
local listeners = {}

--- Calls `listener` after a list was read.
---@param listener fun()
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

local function tell()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- The edits of a session in the order in which they were made; of all sessions if none is named.
---@param session_id? string
---@return agent.StandingEdit[]
function M.get(session_id)
  if session_id then
    return by_session[session_id] or {}
  end
  local all = {}
  local ids = vim.tbl_keys(by_session)
  table.sort(ids)
  for _, id in ipairs(ids) do
    vim.list_extend(all, by_session[id])
  end
  return all
end

--- Those that nobody has kept, undone or typed into.
---@return agent.StandingEdit[]
function M.pending()
  return vim.tbl_filter(function(edit)
    return edit.state == "pending"
  end, M.get())
end

--- Takes what the server has answered about some edits of a session.
---@param session_id string
---@param edits agent.StandingEdit[]
---@param is_all boolean
local function take(session_id, edits, is_all)
  local told = {}
  for _, edit in ipairs(edits) do
    edit.session_id = session_id
    told[edit.editId] = edit
  end
  if is_all then
    by_session[session_id] = edits
  else
    by_session[session_id] = vim.tbl_map(function(edit)
      return told[edit.editId] or edit
    end, M.get(session_id))
  end
  by_session[session_id] = vim.tbl_filter(function(edit)
    return edit.state ~= "undone"
  end, by_session[session_id])
  tell()
end

--- Reads the list of a session. Nothing is started for it.
---@param session_id string
---@param callback? fun(err?: agent.Error)
function M.read(session_id, callback)
  callback = callback or function() end
  if not client.get() then
    return callback()
  end
  client.request("agent/edits", { sessionId = session_id, oldTexts = true }, function(err, answer)
    if not err then
      take(session_id, answer.edits, true)
    end
    callback(err)
  end)
end

--- Reads the list once nothing has asked for that for a moment.
---@param session_id string
function M.read_soon(session_id)
  local timer = timers[session_id] or assert(vim.uv.new_timer())
  timers[session_id] = timer
  timer:start(
    SETTLE_MS,
    0,
    vim.schedule_wrap(function()
      M.read(session_id)
    end)
  )
end

--- Keeps or undoes edits. `callback` gets those that could not be undone, each with its reason.
---@param verb "keep"|"undo"
---@param edits { editId: string, session_id: string }[]
---@param callback fun(err?: agent.Error, refused: agent.StandingEdit[])
function M.decide(verb, edits, callback)
  local ids, refused = {}, {} ---@type table<string, string[]>, agent.StandingEdit[]
  for _, edit in ipairs(edits) do
    ids[edit.session_id] = ids[edit.session_id] or {}
    table.insert(ids[edit.session_id], edit.editId)
  end
  local left = vim.tbl_count(ids)
  for session_id, chosen in pairs(ids) do
    local params = { sessionId = session_id, editIds = chosen, oldTexts = true }
    client.request("agent/edits/" .. verb, params, function(err, answer)
      left = left - 1
      for _, edit in ipairs(answer and answer.edits or {}) do
        if edit.reason then
          refused[#refused + 1] = edit
        end
      end
      if answer then
        take(session_id, answer.edits, false)
      end
      if err or left == 0 then
        callback(err, refused)
      end
    end)
  end
end

--- Whether a session has an edit in a file.
---@param edits agent.StandingEdit[]
---@param uri string
---@return boolean
local function touches(edits, uri)
  return vim.iter(edits):any(function(edit)
    return edit.uri == uri
  end)
end

--- Follows what happens: tools that end, text that is changed by hand.
function M.attach()
  events.on("message", function(data)
    if data.message.payload.type == "tool_call_output" then
      M.read_soon(data.session.id)
    end
  end)
  events.on("run_end", function(data)
    M.read_soon(data.session.id)
  end)
  events.on("history", function(data)
    M.read_soon(data.session.id)
  end)
  events.on("stopped", function()
    by_session = {}
    tell()
  end)
  api.nvim_create_autocmd({ "TextChanged", "InsertLeave" }, {
    group = api.nvim_create_augroup("agent_lsp_edits", {}),
    callback = function(event)
      local uri = vim.bo[event.buf].buftype == "" and vim.uri_from_bufnr(event.buf)
      for session_id, edits in pairs(by_session) do
        if uri and touches(edits, uri) then
          M.read_soon(session_id)
        end
      end
    end,
  })
end

return M
