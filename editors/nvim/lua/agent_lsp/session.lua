--- The sessions that this Neovim knows: what is known of each, and what can be done with it.
local M = {}

local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local model = require("agent_lsp.chat.model")
local protocol = require("agent_lsp.protocol")
local stream = require("agent_lsp.stream")

---@class agent.Session: agent.Stream
---@field info agent.SessionInfo
---@field state agent.State the newest one
---@field epoch integer which process serves it; 0: none that lives
local Session = setmetatable({}, { __index = stream })
Session.__index = Session

---@type table<string, agent.Session>
local sessions = {}
---@type agent.Session?
local current
local epoch = 0

-- The registry ---------------------------------------------------------------------------------------------------------

--- The session with this id, if it is known here.
---@param id string
---@return agent.Session?
function M.get(id)
  return sessions[id]
end

--- All that are known here, newest first.
---@return agent.Session[]
function M.all()
  local all = vim.tbl_values(sessions)
  table.sort(all, function(one, other)
    return one.info.createdAt > other.info.createdAt
  end)
  return all
end

--- The session that commands mean: that of the current buffer if it is a chat or a prompt, else the last one used.
---@return agent.Session?
function M.current()
  return sessions[vim.b.agent_session or ""] or current
end

---@param session agent.Session
---@param root string
---@return boolean
local function works_in(session, root)
  local ok, path = pcall(vim.uri_to_fname, session.info.workspace)
  return ok and (path == root or vim.uv.fs_realpath(path) == vim.uv.fs_realpath(root))
end

--- The session for a task from here: the current one, unless the current file belongs to another workspace; then the
--- newest one of that.
---@return agent.Session?
local function here()
  local root = client.root(0)
  if vim.b.agent_session or vim.bo.buftype ~= "" or (current and works_in(current, root)) then
    return M.current()
  end
  for _, session in ipairs(M.all()) do
    if works_in(session, root) then
      return session
    end
  end
end

--- Commands mean this session from now on.
---@param session agent.Session
function M.select(session)
  current = session
end

--- The session that the server has told of: the known one with what is new, or one that is known from now on.
---@param info agent.SessionInfo
---@return agent.Session
function M.adopt(info)
  local session = sessions[info.sessionId]
  if not session then
    session = setmetatable({
      id = info.sessionId,
      info = info,
      state = { sessionId = info.sessionId, state = info.state, queued = 0, pendingApprovals = 0 },
      model = model.new(),
      steers = {},
      asked = {},
      next_seq = 0,
      seen = { whole = 0, after = 0 },
      epoch = epoch,
    }, Session)
    sessions[info.sessionId] = session
  end
  session.info = info
  session.state.state = info.state
  events.emit("session", { session = session })
  return session
end

--- A new session, which is the current one from then on.
---@param options { workspace?: string, model?: string, mode?: string, approvalMode?: string, title?: string }
---@param callback fun(err?: agent.Error, session?: agent.Session)
function M.new(options, callback)
  local of = sessions[vim.b.agent_session or ""]
  local workspace = of and of.info.workspace or vim.uri_from_fname(client.root(0))
  local params = vim.tbl_extend("keep", options, { workspace = workspace })
  client.request("agent/session/new", params, function(err, info)
    if err then
      return callback(err)
    end
    current = M.adopt(info)
    callback(nil, current)
  end)
end

--- The session with this id with its history read: as it is known, or as the server has it.
---@param id string
---@param callback fun(err?: agent.Error, session?: agent.Session)
function M.resume(id, callback)
  local function is_ready()
    local known = sessions[id]
    return known and known.epoch == epoch and not known.held and client.get() ~= nil
  end
  if is_ready() then
    return callback(nil, sessions[id])
  end
  client.request("agent/session/resume", { sessionId = id }, function(err, info)
    if err then
      return callback(err)
    end
    local session = M.adopt(info)
    if is_ready() then -- somebody else had asked for it as well
      return callback(nil, session)
    end
    session.epoch = epoch
    session:load(function(problem)
      callback(problem, not problem and session or nil)
    end)
  end)
end

--- The session for a task from here, ready to be used: resumed after the server has ended, a new one if there is none.
---@param callback fun(err?: agent.Error, session?: agent.Session)
function M.ready(callback)
  local session = here()
  if session then
    return M.resume(session.id, callback)
  end
  M.new({}, callback)
end

-- What can be done -----------------------------------------------------------------------------------------------------

--- Whether a task or a compaction is going on.
---@return boolean
function Session:is_busy()
  local state = self.state.state
  return state ~= "idle" and state ~= "auth_required"
end

--- Runs a task. `callback` comes when it has ended; a task that ended badly is a result, not an error. With an error it
--- is told whether the task had begun.
---@param input agent.Input
---@param callback fun(err?: agent.Error, result?: agent.RunResult, had_begun?: boolean)
function Session:run(input, callback)
  current = self
  local asked = { input = input }
  table.insert(self.asked, asked)
  client.request("agent/run", { sessionId = self.id, input = input, queueIfBusy = true }, function(err, result)
    local had_begun = not vim.list_contains(self.asked, asked)
    self.asked = vim.tbl_filter(function(one)
      return one ~= asked
    end, self.asked)
    if result and not had_begun and result.turns > 0 then
      self:echo(asked)
    end
    self:_run_ended(err, result)
    callback(err, result, had_begun)
  end)
end

---@private
---@param err? agent.Error
---@param result? agent.RunResult
function Session:_run_ended(err, result)
  local run_id = result and result.runId or self.run_id
  if run_id == self.run_id then
    self.run_id = nil
    for _, steer in ipairs(self.steers) do
      if steer.state == "pending" or steer.state == "sending" then
        steer.state = "withdrawn"
      end
    end
  end
  events.emit("run_end", { session = self, run_id = run_id, result = result, err = err })
end

--- Says a word to the task that runs. `callback` gets the steer, which then is `pending`, or nil if no task took it.
---@param input agent.Input
---@param callback fun(err?: agent.Error, steer?: agent.Steer)
function Session:steer(input, callback)
  local steer = { text = protocol.input_text(input), input = input, state = "sending" }
  table.insert(self.steers, steer)
  events.emit("session", { session = self })
  client.request("agent/steer", { sessionId = self.id, input = input }, function(err, answer)
    if err or not answer.accepted then
      self.steers = vim.tbl_filter(function(one)
        return one ~= steer
      end, self.steers)
    else
      steer.id = answer.steerId
      if steer.state == "sending" then
        steer.state = "pending"
      end
    end
    events.emit("session", { session = self })
    callback(err, not err and answer.accepted and steer or nil)
  end)
end

--- Takes back the last word that was not delivered yet. `callback` gets it, or nil if there was none any more.
---@param callback fun(err?: agent.Error, steer?: agent.Steer)
function Session:unsteer(callback)
  for index = #self.steers, 1, -1 do
    local steer = self.steers[index]
    if steer.state == "pending" and steer.id then
      return client.request("agent/unsteer", { sessionId = self.id, steerId = steer.id }, function(err, answer)
        local withdrawn = not err and answer.withdrawn
        steer.state = withdrawn and "withdrawn" or steer.state
        events.emit("session", { session = self })
        callback(err, withdrawn and steer or nil)
      end)
    end
  end
  callback(nil, nil)
end

--- Ends what runs. `callback` comes once it has ended.
---@param reason? string
---@param callback agent.Callback gets `{aborted, what?, runId?}`
function Session:abort(reason, callback)
  client.request("agent/abort", { sessionId = self.id, reason = reason }, callback)
end

--- Changes what `agent/session/update` can change.
---@param changes table<string, any>
---@param callback fun(err?: agent.Error, info?: agent.SessionInfo)
function Session:update(changes, callback)
  local params = vim.tbl_extend("force", changes, { sessionId = self.id })
  client.request("agent/session/update", params, function(err, info)
    if info then
      M.adopt(info)
    end
    callback(err, info)
  end)
end

-- Taking part ----------------------------------------------------------------------------------------------------------

--- Registers what the server tells of sessions.
function M.attach()
  client.handle("agent/message", function(params)
    local session = sessions[params.sessionId]
    if session then
      session:receive(params)
    end
  end)
  client.handle("agent/approvalResolved", function(params)
    events.emit("approval_resolved", {
      session = sessions[params.sessionId],
      tool_call_id = params.tool_call_id,
      outcome = params.outcome,
    })
  end)
  client.handle("agent/state", function(state)
    local session = sessions[state.sessionId]
    if session then
      session.state = state
      events.emit("state", { session = session, state = state })
    end
  end)
  events.on("started", function()
    epoch = epoch + 1
  end)
  events.on("stopped", function()
    for _, session in pairs(sessions) do
      session.epoch, session.run_id, session.held = 0, nil, nil
      session.was_cut = { has_open = session.model:settle("aborted") }
      session.state = { sessionId = session.id, state = "idle", queued = 0, pendingApprovals = 0 }
      events.emit("state", { session = session, state = session.state })
    end
  end)
end

return M
