--- The stream of one session: messages in their order, none lost and none twice, whatever the connection does.
---
---     agent/message ──▶ receive ──▶ model, events            a number is missing: load
---     agent/session/history ──▶ load ──▶ the model anew, or, after the server has ended, what it lacks
local echo = require("agent_lsp.prompt.echo")
local events = require("agent_lsp.events")
local client = require("agent_lsp.client")
local log = require("agent_lsp.log")
local model = require("agent_lsp.chat.model")
local protocol = require("agent_lsp.protocol")

local PAGE = 1000
-- in traces alone, never on the stream
local TRACED_ONLY = { run_begin = true, context_seed = true, subagent = true }

---@class agent.Stream
---@field id string of the session
---@field info agent.SessionInfo
---@field model agent.Model what was said, in order
---@field steers agent.Steer[] of the present run
---@field run_id? string the run that is going on
---@field next_seq integer number of the message that comes next
---@field asked { input: agent.Input }[] prompts of runs that have not begun, in order
---@field seen { whole: integer, after: integer } complete messages so far, and events since the last of them
---@field was_cut? { has_open: boolean } the server has ended since, with a segment open or not
---@field held? agent.MessageParams[] what came while the history was being read
---@field loaded? fun(err?: agent.Error)[] who waits for it
local Stream = {}

--- Reads the whole history; what is streamed meanwhile is held, and applied after it without a gap or a repetition.
---@param callback fun(err?: agent.Error)
function Stream:load(callback)
  if self.held then -- it is being read already: that reading is as good
    self.loaded = self.loaded or {}
    table.insert(self.loaded, callback)
    return
  end
  self.held = {}
  self.loaded = { callback }
  local messages = {}
  local function page(cursor)
    local params = { sessionId = self.id, limit = PAGE, cursor = cursor }
    client.request("agent/session/history", params, function(err, history)
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
    end)
  end
  page()
end

---@private
---@param err? agent.Error
function Stream:_loaded(err)
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
function Stream:_apply(message, run_id)
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
function Stream:_continue(messages, history)
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
function Stream:_replace(messages, history)
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
function Stream:receive(params)
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
    self:echo(table.remove(self.asked, 1))
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
---@param asked? { input: agent.Input }
function Stream:echo(asked)
  local running = client.get()
  local encoding = running and running.offset_encoding or "utf-16"
  for _, message in ipairs(asked and echo.messages(asked.input, self.info.workspace, encoding) or {}) do
    self:_apply(message, self.run_id)
    events.emit("message", { session = self, message = message, run_id = self.run_id })
  end
end

---@private
---@param payload agent.Payload
function Stream:_settle_steer(payload)
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

return Stream
