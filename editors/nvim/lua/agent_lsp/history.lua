--- What was said before this Neovim listened: the last page of a session at once, what is before it when it is wanted.
---
---     agent/session/history ──▶ load ────▶ the model anew, or, after the server has ended, what it lacks
---                               earlier ──▶ a page more at the top of the model
local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local model = require("agent_lsp.chat.model")
local pages = require("agent_lsp.chat.pages")
local protocol = require("agent_lsp.protocol")
local subagents = require("agent_lsp.subagents")

local METHOD = "agent/session/history"
local PAGE, LARGE_PAGE = 200, 1000
-- in traces alone, never on the stream
local TRACED_ONLY = { run_begin = true, context_seed = true, subagent = true }

---@class agent.Earlier what is not read yet of a history
---@field cursor string leads to it
---@field rest agent.Message[] read already, but to be understood only with what is before it
---@field count? integer messages, with those of `rest`
---@field waiting? fun(err?: agent.Error)[] who waits for the page that is being read

---@class agent.Past
---@field id string of the session
---@field state agent.State
---@field model agent.Model what was said, in order
---@field steers agent.Steer[]
---@field next_seq integer number of the message that comes next
---@field since? string cursor in front of all that `seen` counts; nil: the beginning
---@field seen { whole: integer, after: integer } complete messages since then, and events since the last of them
---@field was_cut? { has_open: boolean } the server has ended since, with a segment open or not
---@field earlier? agent.Earlier nil: all is read
---@field held? agent.MessageParams[] what came while the history was being read
---@field loaded? fun(err?: agent.Error)[] who waits for it
---@field receive fun(self: agent.Past, params: agent.MessageParams)
local Past = {}

-- The end of it --------------------------------------------------------------------------------------------------------

--- Reads the last page; what is streamed meanwhile is held, and applied after it without a gap or a repetition. What was
--- shown before the server has ended stays, and only what is new is added.
---@param callback fun(err?: agent.Error)
function Past:load(callback)
  if self.held then -- it is being read already: that reading is as good
    self.loaded = self.loaded or {}
    table.insert(self.loaded, callback)
    return
  end
  self.held, self.loaded = {}, { callback }
  if not self.was_cut then
    return self:_read_last()
  end
  self:_read_on({}, self.since)
end

---@private
---@param messages agent.Message[] since `self.since`, so far
---@param cursor? string
function Past:_read_on(messages, cursor)
  client.request(METHOD, { sessionId = self.id, limit = LARGE_PAGE, cursor = cursor }, function(err, history)
    if err then
      return self:_loaded(err)
    end
    vim.list_extend(messages, history.messages)
    if history.nextCursor then
      self:_read_on(messages, history.nextCursor)
    elseif self:_continue(messages, history) then
      self:_loaded()
    else
      self:_read_last()
    end
  end)
end

--- Reads from the end, as many pages as it takes until there is something that can be shown.
---@private
---@param last? agent.History the page of the end
function Past:_read_last(last)
  local params = { sessionId = self.id, limit = PAGE, fromEnd = true, cursor = last and last.previousCursor }
  client.request(METHOD, params, function(err, history)
    if err then
      return self:_loaded(err)
    elseif last then
      last.messages = vim.list_extend(history.messages, last.messages)
      last.previousCursor, last.earlier = history.previousCursor, history.earlier
      history = last
    end
    if history.previousCursor and pages.begins(history.messages) > #history.messages then
      return self:_read_last(history)
    end
    self:replace(history)
    self:_loaded()
  end)
end

---@private
---@param err? agent.Error
function Past:_loaded(err)
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
function Past:_count(message)
  local kind = message.payload.type
  if message.origin or message.type == "session_meta" or TRACED_ONLY[kind] or vim.startswith(kind, "partial_") then
    return
  elseif message.type == "model_msg" then
    self.seen.whole, self.seen.after = self.seen.whole + 1, 0
  else
    self.seen.after = self.seen.after + 1
  end
end

--- Takes a message that is the next one of the conversation.
---@param message agent.Message
---@param run_id? string
function Past:apply(message, run_id)
  self.model:apply(message, run_id)
  self:_count(message)
end

--- After the server has ended: what was shown stays, and only what the trace has beyond it is added. Not if a segment was
--- cut off in the middle and the trace goes on behind it, nor while the same process lives.
---@private
---@param messages agent.Message[]
---@param history agent.History
---@return boolean done
function Past:_continue(messages, history)
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
    self:apply(message)
  end
  self.was_cut = nil
  self.next_seq = history.nextSeq
  events.emit("received", { session = self })
  return true
end

--- Shows a page of the end in place of all that was there.
---@param history agent.History
function Past:replace(history)
  local messages = history.messages
  local first = history.previousCursor and pages.begins(messages) or 1
  self.model = model.new()
  self.seen, self.was_cut = { whole = 0, after = 0 }, nil
  for index, message in ipairs(messages) do
    if index < first then
      self:_count(message)
    else
      self:apply(message)
    end
  end
  for _, message in ipairs(history.live or {}) do
    self.model:apply(message)
  end
  if not history.live and self.state.state == "idle" then
    self.model:settle("aborted") -- calls that a crash has left without an output
  end
  self.since, self.next_seq = history.previousCursor, history.nextSeq
  self:_set_earlier(history, vim.list_slice(messages, 1, first - 1))
  self.steers = vim.tbl_map(function(steer)
    return { id = steer.steerId, text = protocol.input_text(steer.input), input = steer.input, state = "pending" }
  end, history.pending.steers)
  events.emit("history", { session = self })
  subagents.read(self, history.live)
end

-- What is before it ----------------------------------------------------------------------------------------------------

---@private
---@param history agent.History
---@param rest agent.Message[]
function Past:_set_earlier(history, rest)
  local waiting = self.earlier and self.earlier.waiting
  self.earlier = nil
  if history.previousCursor then
    local count = history.earlier and history.earlier + #rest
    self.earlier = { cursor = history.previousCursor, rest = rest, count = count, waiting = waiting }
  end
end

--- Reads the page before what is shown, or all of them. `callback` comes when they are shown; also if there is none.
---@param options { all?: boolean }
---@param callback? fun(err?: agent.Error)
function Past:read_earlier(options, callback)
  callback = callback or function() end
  local earlier = self.earlier
  if not earlier then
    return callback()
  elseif earlier.waiting then
    table.insert(earlier.waiting, function(err)
      if err or not options.all then
        return callback(err)
      end
      self:read_earlier(options, callback)
    end)
    return
  end
  earlier.waiting = { callback }
  events.emit("earlier", { session = self })
  self:_read_earlier(options.all or false)
end

---@private
---@param all boolean
function Past:_read_earlier(all)
  local shown, earlier = self.model, self.earlier --[[@as agent.Earlier]]
  local params = { sessionId = self.id, limit = all and LARGE_PAGE or PAGE, fromEnd = true, cursor = earlier.cursor }
  client.request(METHOD, params, function(err, history)
    if not err and self.model == shown then -- else it was read anew meanwhile
      local added = self:_put_earlier(history, earlier)
      if self.earlier and (all or added == 0) then
        return self:_read_earlier(all)
      end
    end
    local waiting = earlier.waiting or {}
    earlier.waiting = nil
    if self.earlier and self.earlier.waiting == waiting then
      self.earlier.waiting = nil
    end
    events.emit("earlier", { session = self, is_new = not err })
    for _, callback in ipairs(waiting) do
      callback(err)
    end
  end)
end

---@private
---@param history agent.History
---@param earlier agent.Earlier
---@return integer segments that were added
function Past:_put_earlier(history, earlier)
  local messages = vim.list_extend(history.messages, earlier.rest)
  local first = history.previousCursor and pages.begins(messages) or 1
  self:_set_earlier(history, vim.list_slice(messages, 1, first - 1))
  local is_running = self.state.state ~= "idle"
  local added = pages.put(self.model, vim.list_slice(messages, first), { is_running = is_running })
  events.emit("earlier", { session = self })
  subagents.read(self)
  return #added
end

return Past
