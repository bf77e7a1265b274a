--- The stream of one session: messages in their order, none lost and none twice, whatever the connection does.
---
---     agent/message ──▶ receive ──▶ model, events            a number is missing: load (`history.lua`)
local echo = require("agent_lsp.prompt.echo")
local events = require("agent_lsp.events")
local client = require("agent_lsp.client")
local history = require("agent_lsp.history")
local log = require("agent_lsp.log")
local protocol = require("agent_lsp.protocol")

---@class agent.Stream: agent.Past
---@field info agent.SessionInfo
---@field steers agent.Steer[] of the present run
---@field run_id? string the run that is going on
---@field asked { input: agent.Input }[] prompts of runs that have not begun, in order
local Stream = setmetatable({}, { __index = history })

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
    self:apply(message, params.runId)
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
    self:apply(message, self.run_id)
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
