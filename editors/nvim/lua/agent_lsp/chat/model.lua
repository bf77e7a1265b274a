--- A conversation as a row of segments: what the chat shows is made from this alone. Knows nothing of buffers.
---
---     message ──▶ apply ──▶ segments, whose text only grows at its end
---                   └─────▶ changes, in order, for whoever watches
---
--- Messages of a stream and those of a history end in the same text: a fragment opens a segment and grows it, the
--- complete message that follows only says how it ended; one that was never streamed opens, fills and closes it.
local M = {}

local calls = require("agent_lsp.chat.calls")
local compose = require("agent_lsp.chat.compose")
local notices = require("agent_lsp.chat.notices")

---@class agent.Model
---@field segments agent.Segment[] in the order of what was said
---@field numbers { last: integer } of the newest segment; shared with what is put in later
---@field watcher? fun(change: agent.Change) told of everything from now on
---@field usage? { session: agent.TokenCounts, request: agent.TokenCounts, context_window?: integer, compaction_at?: integer }
---@field retry? { attempt?: integer, retry_in_ms: integer, status: string, error_message?: string } while one waits
---@field title? string
---@field is_compacting? boolean
---@field open table<string, agent.Segment> streaming text and thinking by kind and origin
---@field calls table<string, agent.Segment> by origin and id
---@field children agent.Child[] sessions that were started from this one, in order
---@field run_id? string of the message that is being taken
local Model = {}
Model.__index = Model

local COMPACT = { tool = true, block = true }

---@param numbers? { last: integer } of the model that this one is to be put into
---@return agent.Model
function M.new(numbers)
  return setmetatable({ segments = {}, open = {}, calls = {}, children = {}, numbers = numbers or { last = 0 } }, Model)
end

local place = compose.place

-- Segments -------------------------------------------------------------------------------------------------------------

--- Tells the watcher.
---@param kind "open"|"text"|"close"|"mark"
---@param segment agent.Segment
---@param text? string
function Model:tell(kind, segment, text)
  if self.watcher then
    self.watcher({ kind = kind, segment = segment, text = text })
  end
end

--- What separates a segment from the one before it.
---@param before? agent.Segment
---@param kind agent.SegmentKind
---@param origin? string[]
---@return string
function M.lead(before, kind, origin)
  local is_row = before and COMPACT[kind] and COMPACT[before.kind] and place(origin) == place(before.origin)
  return (not before or is_row) and "\n" or "\n\n"
end

--- Begins a segment behind all others.
---@param kind agent.SegmentKind
---@param origin? string[]
---@param fields? table
---@return agent.Segment
function Model:begin(kind, origin, fields)
  local before = self.segments[#self.segments]
  self.numbers.last = self.numbers.last + 1
  local segment = vim.tbl_extend("error", {
    id = self.numbers.last,
    kind = kind,
    origin = origin,
    before = before,
    lead = M.lead(before, kind, origin),
    open = true,
    pieces = {},
    bytes = 0,
    run_id = self.run_id,
  }, fields or {})
  self.segments[#self.segments + 1] = segment
  self:tell("open", segment)
  return segment
end

--- Adds to the text of a segment.
---@param segment agent.Segment
---@param text string
function Model:grow(segment, text)
  if text == "" then
    return
  end
  segment.pieces[#segment.pieces + 1] = text
  segment.bytes = segment.bytes + #text
  self:tell("text", segment, text)
end

--- Ends a segment: nothing is added to it from then on. A fence that it has left open is closed.
---@param segment agent.Segment
---@param status? string how it ended, if not well
function Model:close(segment, status)
  if not segment.open then
    return
  end
  if segment.kind == "tool" or segment.kind == "block" then
    self:grow(segment, (M.text(segment):sub(-1) == "\n" and "" or "\n") .. compose.FENCE)
  else
    local fence = compose.unclosed(M.text(segment))
    if fence then
      self:grow(segment, "\n" .. fence)
    end
  end
  segment.open = false
  segment.status = status
  self:tell("close", segment)
end

--- The text of a segment as the chat has it.
---@param segment agent.Segment
---@return string
function M.text(segment)
  if #segment.pieces > 1 then
    segment.pieces = { table.concat(segment.pieces) }
  end
  return segment.pieces[1] or ""
end

--- The whole text, as a buffer that shows it has it.
---@return string
function Model:text()
  local parts = {}
  for _, segment in ipairs(self.segments) do
    parts[#parts + 1] = segment.lead
    parts[#parts + 1] = M.text(segment)
  end
  return table.concat(parts)
end

-- Messages -------------------------------------------------------------------------------------------------------------

--- What a compaction says is no answer to anybody.
---@private
---@param kind "text"|"thinking"
---@param message agent.Message
---@return agent.SegmentKind
function Model:_kind(kind, message)
  return self.is_compacting and not message.origin and "summary" or kind
end

---@type table<string, fun(self: agent.Model, payload: agent.Payload, message: agent.Message)>
local on = vim.tbl_extend("error", {}, calls)

---@param kind "text"|"thinking"
local function streamed(kind)
  ---@param self agent.Model
  ---@param payload agent.Payload
  ---@param message agent.Message
  return function(self, payload, message)
    local key = kind .. ":" .. place(message.origin)
    local segment = self.open[key]
    if payload.event_type == "start" or not segment then
      segment = self:begin(self:_kind(kind, message), message.origin)
      self.open[key] = segment
    end
    if payload.event_type == "delta" then
      self:grow(segment, payload[kind] or "")
    end
  end
end
on.partial_text = streamed("text")
on.partial_thinking = streamed("thinking")

---@param kind "text"|"thinking"
local function complete(kind)
  ---@param self agent.Model
  ---@param payload agent.Payload
  ---@param message agent.Message
  return function(self, payload, message)
    local key = kind .. ":" .. place(message.origin)
    local segment = self.open[key]
    if not segment then
      segment = self:begin(self:_kind(kind, message), message.origin)
      self:grow(segment, payload[kind] or "")
    end
    self.open[key] = nil
    self:close(segment, payload.stop_reason)
  end
end
on.thinking = complete("thinking")
local complete_text = complete("text")

function on.text(self, payload, message)
  if payload.role == "assistant" then
    return complete_text(self, payload, message)
  end
  local kind, head, text = compose.user(payload)
  local segment = self:begin(kind, message.origin, { head = head, sender = payload.sender })
  if kind == "block" then
    self:grow(segment, compose.FENCE .. "\n" .. compose.line(head))
    self:grow(segment, text ~= "" and "\n" .. compose.guarded(text) or "")
  else
    self:grow(segment, text)
  end
  self:close(segment)
end

function on.image_url(self, payload, message)
  local segment = self:begin("user", message.origin)
  self:grow(segment, compose.media(payload))
  self:close(segment)
end
on.inline_data = on.image_url

function on.request_begin(self)
  self.retry = nil
end

function on.token_usage(self, payload, message)
  if not message.origin then
    self.usage = payload
  end
end

---@private
---@param payload agent.Payload
function Model:_note_state(payload)
  if payload.type == "compaction_begin" or payload.type == "compaction_end" then
    self.is_compacting = payload.type == "compaction_begin"
  elseif payload.type == "request_end" then
    self.retry = payload.retry_in_ms and payload or nil
  elseif payload.type == "session_update" and payload.title then
    self.title = payload.title
  end
end

--- Takes the next message. Nothing that a message lacks or has too much of is an error.
---@param message agent.Message
---@param run_id? string
function Model:apply(message, run_id)
  local payload = message.payload
  self.run_id = run_id
  local take = on[payload.type]
  if take then
    return take(self, payload, message)
  end
  if not message.origin then
    self:_note_state(payload)
  end
  local line = message.type == "event_msg" and notices.line(payload)
  local notice = line and self:notice(line, message.origin)
  if notice and payload.type == "subagent" then
    table.insert(self.children, { id = payload.session_id, notice = notice })
  end
end

--- Adds a line that the server has not said.
---@param line string
---@param origin? string[]
---@return agent.Segment
function Model:notice(line, origin)
  local segment = self:begin("notice", origin)
  self:grow(segment, "> " .. compose.line(line, 600))
  self:close(segment)
  return segment
end

--- Closes what a dead server has left open.
---@param status string
---@return boolean had_open
function Model:settle(status)
  local had_open = false
  for _, segment in ipairs(self.segments) do
    if segment.open then
      had_open = true
      if segment.tool then
        segment.tool.state = "aborted"
      end
      self:close(segment, status)
    end
  end
  self.open, self.retry = {}, nil
  return had_open
end

return M
