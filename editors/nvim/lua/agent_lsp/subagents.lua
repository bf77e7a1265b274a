--- What subagents have said: the history of a session has of each a line alone, behind which its own history is put.
local M = {}

local client = require("agent_lsp.client")
local log = require("agent_lsp.log")
local pages = require("agent_lsp.chat.pages")

local MOST = 1000 -- messages of one, the last ones

---@param into agent.Model
---@param child agent.Child
---@param history agent.History
local function put(into, child, history)
  local first = history.previousCursor and pages.begins(history.messages) or 1
  local messages = vim.list_slice(history.messages, first)
  for _, message in ipairs(messages) do
    message.origin = { child.id }
  end
  local line = history.previousCursor and ("it has said more before this: :AgentChat %s"):format(child.id) or nil
  pages.put(into, messages, { after = child.notice, line = line })
end

--- Reads those that the model names and that are not there yet, one after the other. Those at work are in `live` already.
---@param past agent.Past
---@param live? agent.Message[]
function M.read(past, live)
  local shown = past.model
  local children = shown.children
  shown.children = {}
  local at_work = {}
  for _, message in ipairs(live or {}) do
    at_work[(message.origin or {})[1] or ""] = true
  end
  local function read(index)
    local child = children[index]
    if not child or past.model ~= shown then
      return
    elseif at_work[child.id] then
      return read(index + 1)
    end
    local params = { sessionId = child.id, limit = MOST, fromEnd = true }
    client.request("agent/session/history", params, function(err, history)
      if err then
        log.warn(("%s: subagent %s: %s"):format(past.id, child.id, err.message))
      elseif past.model == shown then
        put(shown, child, history)
      end
      read(index + 1)
    end)
  end
  read(1)
end

return M
