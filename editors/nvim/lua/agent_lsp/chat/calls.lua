--- What becomes of tool calls in the model: a card that is written, asked about, run, and that grows while it runs.
local M = {}

local compose = require("agent_lsp.chat.compose")

local NO_OUTPUT = "[no output]"
local place = compose.place

---@param self agent.Model
---@param payload agent.Payload
---@param message agent.Message
---@return agent.Segment
local function call_of(self, payload, message)
  local key = place(message.origin) .. ":" .. (payload.tool_call_id or "")
  local segment = self.calls[key]
  if not segment then
    local name = compose.line(payload.name or "tool", 60)
    segment = self:begin("tool", message.origin, {
      head = name,
      tool = { id = payload.tool_call_id, name = name, arguments = "", state = "writing", began = message.timestamp },
    })
    self.calls[key] = segment
    self:grow(segment, compose.FENCE .. "\n" .. name)
  end
  return segment
end

function M.partial_tool_call(self, payload, message)
  local segment = call_of(self, payload, message)
  if payload.event_type == "delta" then
    segment.tool.written = (segment.tool.written or 0) + #(payload.arguments or "")
    self:tell("mark", segment)
  end
end

function M.tool_call(self, payload, message)
  local segment = call_of(self, payload, message)
  local summary = compose.summary(payload.arguments or "")
  segment.tool.arguments = payload.arguments or ""
  segment.tool.state = payload.stop_reason and "aborted" or "running"
  if summary ~= "" and segment.open then
    segment.head = segment.head .. " " .. summary
    self:grow(segment, " " .. summary)
  end
  local plan = compose.plan(segment.tool.name, segment.tool.arguments)
  if plan and segment.open then
    self:grow(segment, "\n" .. compose.guarded(plan))
  end
  if payload.stop_reason then
    return self:close(segment, payload.stop_reason)
  end
  self:tell("mark", segment)
end

---@param self agent.Model
---@param segment agent.Segment
---@param text string
local function add_output(self, segment, text)
  if text == "" or not segment.open then
    return
  end
  local first = not segment.tool.has_output
  segment.tool.has_output = true
  self:grow(segment, compose.guarded((first and "\n" or "") .. text))
end

function M.partial_tool_call_output(self, payload, message)
  local segment = call_of(self, payload, message)
  if payload.event_type == "delta" then
    add_output(self, segment, payload.output or "")
  end
end

function M.tool_call_output(self, payload, message)
  local segment = call_of(self, payload, message)
  local output = payload.output or ""
  if not segment.tool.has_output and output ~= NO_OUTPUT then
    add_output(self, segment, output)
  end
  for _, image in ipairs(payload.images or {}) do
    add_output(self, segment, (segment.tool.has_output and "\n" or "") .. compose.media({ image_url = image }))
  end
  segment.tool.ended = message.timestamp
  if segment.tool.state ~= "denied" then
    segment.tool.state = payload.stop_reason == "aborted" and "aborted" or payload.stop_reason and "failed" or "done"
  end
  self:close(segment, payload.stop_reason)
end

function M.approval_decision(self, payload, message)
  local segment = self.calls[place(message.origin) .. ":" .. payload.tool_call_id]
  if segment and segment.tool then
    segment.tool.state = payload.decision == "allow" and "running" or "denied"
    self:tell("mark", segment)
  end
end

return M
