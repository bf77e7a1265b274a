--- The sessions that this Neovim knows: what is known of each, and what can be done with it.
local M = {}

local client = require("agent_lsp.client")
local echo = require("agent_lsp.prompt.echo")
local events = require("agent_lsp.events")
local log = require("agent_lsp.log")
local model = require("agent_lsp.chat.model")
local protocol = require("agent_lsp.protocol")

local PAGE = 1000
-- in traces alone, never on the stream
local TRACED_ONLY = { run_begin = true, context_seed = true, subagent = true }

---@class agent.Session
---@field id string
---@field info agent.SessionInfo
---@field state agent.State the newest one
---@field model agent.Model what was said, in order
---@field steers agent.Steer[] of the present run
---@field run_id? string the run that is going on
---@field private asked { input: agent.Input }[] prompts of runs that have not begun, in order
---@field next_seq integer number of the message that comes next
---@field epoch integer which process serves it; 0: none that lives
---@field private seen { whole: integer, after: integer } complete messages so far, and events since the last of them
---@field was_cut? { has_open: boolean } the server has ended since, with a segment open or not
---@field private held? agent.MessageParams[] what came while the history was being read
local Session = {}
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
  local id = vim.b.agent_session
  return id and sessions[id] or current
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
  local params = vim.tbl_extend("keep", options, { workspace = vim.uri_from_fname(client.root(0)) })
  client.request("agent/session/new", params, function(err, info)
    if err then
      return callback(err)
    end
    local session = M.adopt(info)
    current = session
    callback(nil, session)
  end)
end

--- The session with this id with its history read: as it is known, or as the server has it.
---@param id string
---@param callback fun(err?: agent.Error, session?: agent.Session)
function M.resume(id, callback)
  local known = sessions[id]
  if known and known.epoch == epoch and client.get() then
    return callback(nil, known)
  end
  client.request("agent/session/resume", { sessionId = id }, function(err, info)
    if err then
      return callback(err)
    end
    local session = M.adopt(info)
    session.epoch = epoch
    session:load(function(problem)
      callback(problem, not problem and session or nil)
    end)
  end)
end

--- The current session, ready to be used; a new one if there is none. After the server has ended it is resumed.
---@param callback fun(err?: agent.Error, session?: agent.Session)
function M.ready(callback)
  local session = M.current()
  if session then
    return M.resume(session.id, callback)
  end
  M.new({}, callback)
end

--- Forgets a session that was deleted or closed.
---@param id string
function M.forget(id)
  if current == sessions[id] then
    current = nil
  end
  sessions[id] = nil
end

-- The stream -----------------------------------------------------------------------------------------------------------

--- Reads the whole history; what is streamed meanwhile is held, and applied after it without a gap or a repetition.
---@param callback fun(err?: agent.Error)
function Session:load(callback)
  if self.held then -- it is being read already: that reading is as good
    self.loaded = self.loaded or {}
    table.insert(self.loaded, callback)
    return
  end
  self.held = {}
  self.loaded = { callback }
  local messages = {}
  local function page(cursor)
    client.request(
      "agent/session/history",
      { sessionId = self.id, limit = PAGE, cursor = cursor },
      function(err, history)
        if err then
          return self:_loaded(err)
        end
        vim.list_extend(messages, history.messages)
        if history.nextCursor then
          return page(history.nextCursor)
        end
        if not self:_continue(messages, history) then
          self:_replace(messages, history)
        end
        self:_loaded()
      end
    )
  end
  page()
end

---@private
---@param err? agent.Error
function Session:_loaded(err)
  local held, callbacks = self.held or {}, self.loaded or {}
  self.held, self.loaded = nil, nil
  if not err then
    for _, params in ipairs(held) do
      if params.seq >= self.next_seq then
        self:receive(params)
      end
    end
  end
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

---@private
---@param message agent.Message
---@param run_id? string
function Session:_apply(message, run_id)
  self.model:apply(message, run_id)
  local kind = message.payload.type
  if message.origin or message.type == "session_meta" or TRACED_ONLY[kind] or vim.startswith(kind, "partial_") then
    return
  elseif message.type == "model_msg" then
    self.seen.whole, self.seen.after = self.seen.whole + 1, 0
  else
    self.seen.after = self.seen.after + 1
  end
end

--- After the server has ended: what was shown stays, and only what the trace has beyond it is added. Not if a segment was
--- cut off in the middle and the trace goes on behind it, nor while the same process lives.
---@private
---@param messages agent.Message[]
---@param history agent.History
---@return boolean done
function Session:_continue(messages, history)
  if not self.was_cut or self.seen.whole == 0 or history.live then
    return false
  end
  local whole, after, rest = 0, 0, {}
  for _, message in ipairs(messages) do
    local kind = message.payload.type
    if message.type == "session_meta" or TRACED_ONLY[kind] then
      goto next
    elseif whole < self.seen.whole then
      whole = whole + (message.type == "model_msg" and 1 or 0)
    elseif message.type ~= "model_msg" and whole == self.seen.whole and after < self.seen.after and #rest == 0 then
      after = after + 1
    else
      rest[#rest + 1] = message
    end
    ::next::
  end
  if #rest > 0 and self.was_cut.has_open then
    return false
  end
  for _, message in ipairs(rest) do
    self:_apply(message)
  end
  self.was_cut = nil
  self.next_seq = history.nextSeq
  events.emit("received", { session = self })
  return true
end

---@private
---@param messages agent.Message[]
---@param history agent.History
function Session:_replace(messages, history)
  self.model = model.new()
  self.seen, self.was_cut = { whole = 0, after = 0 }, nil
  for _, message in ipairs(messages) do
    self:_apply(message)
  end
  for _, message in ipairs(history.live or {}) do
    self.model:apply(message)
  end
  self.next_seq = history.nextSeq
  self.steers = vim.tbl_map(function(steer)
    return { id = steer.steerId, text = protocol.input_text(steer.input), input = steer.input, state = "pending" }
  end, history.pending.steers)
  events.emit("history", { session = self })
end

--- Takes the next messages of the stream.
---@param params agent.MessageParams
function Session:receive(params)
  if self.held then
    self.held[#self.held + 1] = params
    return
  elseif params.seq ~= self.next_seq then
    log.warn(("%s: message %d was to come, %d came; reading anew"):format(self.id, self.next_seq, params.seq))
    return self:load(function() end)
  end
  self.next_seq = params.seq + #params.messages
  if params.runId and params.runId ~= self.run_id then
    self.run_id = params.runId
    self:_echo(table.remove(self.asked, 1))
    self.steers = vim.tbl_filter(function(steer)
      return steer.state == "pending" or steer.state == "sending"
    end, self.steers)
    events.emit("run_start", { session = self, run_id = params.runId })
  end
  for _, message in ipairs(params.messages) do
    self:_apply(message, params.runId)
    self:_settle_steer(message.payload)
    events.emit("message", { session = self, message = message, run_id = params.runId })
  end
  events.emit("received", { session = self })
end

--- A run has begun: its prompt, which the server does not say back.
---@private
---@param asked? { input: agent.Input }
function Session:_echo(asked)
  local running = client.get()
  local encoding = running and running.offset_encoding or "utf-16"
  for _, message in ipairs(asked and echo.messages(asked.input, self.info.workspace, encoding) or {}) do
    self:_apply(message, self.run_id)
    events.emit("message", { session = self, message = message, run_id = self.run_id })
  end
end

---@private
---@param payload agent.Payload
function Session:_settle_steer(payload)
  if #self.steers == 0 or payload.type ~= "text" or payload.role ~= "user" then
    return
  end
  if protocol.marker(payload.text) == "user_steering" then
    for _, steer in ipairs(self.steers) do
      if steer.state == "pending" or steer.state == "sending" then
        steer.state = "delivered"
        return
      end
    end
  end
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
      self:_echo(asked)
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
