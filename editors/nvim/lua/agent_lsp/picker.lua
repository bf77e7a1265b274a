--- Choices, put through `vim.ui.select`, so that whatever picker somebody uses is used.
local M = {}

local client = require("agent_lsp.client")
local glance = require("agent_lsp.glance")
local log = require("agent_lsp.log")
local protocol = require("agent_lsp.protocol")

--- Lets the person choose one of `items`; nothing happens if none is chosen.
---@generic T
---@param items T[]
---@param prompt string
---@param format fun(item: T): string
---@param callback fun(item: T)
function M.choose(items, prompt, format, callback)
  vim.ui.select(items, { prompt = prompt, kind = "agent_lsp", format_item = format }, function(item)
    if item ~= nil then
      callback(item)
    end
  end)
end

---@param err agent.Error
local function tell(err)
  if err.code ~= protocol.SERVER_GONE then
    log.tell(err.message, vim.log.levels.ERROR)
  end
end

---@param stamp string ISO 8601, UTC
---@return string
local function ago(stamp)
  local year, month, day, hour, minute = stamp:match("(%d+)-(%d+)-(%d+)T(%d+):(%d+)")
  if not year then
    return ""
  end
  local then_s = os.time({ year = year, month = month, day = day, hour = hour, min = minute, isdst = false }) --[[@as integer]]
  local now_s = os.time(os.date("!*t") --[[@as osdate]])
  local minutes = math.max(0, math.floor((now_s - then_s) / 60))
  if minutes < 60 then
    return ("%d min ago"):format(minutes)
  elseif minutes < 48 * 60 then
    return ("%d h ago"):format(minutes / 60)
  end
  return ("%d days ago"):format(minutes / 60 / 24)
end

--- One of the sessions of this workspace, those on the disk included; opens it.
function M.session()
  local workspace = vim.uri_from_fname(client.root(0))
  client.request("agent/session/list", { workspace = workspace, limit = 200 }, function(err, list)
    if err then
      return tell(err)
    elseif #list.sessions == 0 then
      return log.tell("there is no session in this workspace yet: begin one with :Agent")
    end
    M.choose(list.sessions, "Session", function(info)
      return ("%s  (%s, %d turns, %s)"):format(
        info.title or info.sessionId,
        info.state,
        info.turns,
        ago(info.updatedAt)
      )
    end, function(info)
      glance.open(info.sessionId, require("agent_lsp.prompt").open, tell)
    end)
  end)
end

--- One of the models that have a key; `callback` gets `provider/model`.
---@param callback fun(name: string)
function M.model(callback)
  client.request("agent/models", {}, function(err, answer)
    if err then
      return tell(err)
    end
    local usable = vim.tbl_filter(function(model)
      return model.hasCredential ~= false
    end, answer.models)
    if #usable == 0 then
      return log.tell("no model has a key: :checkhealth agent_lsp says which variables to set", vim.log.levels.WARN)
    end
    M.choose(usable, "Model", protocol.model_name, function(model)
      callback(protocol.model_name(model))
    end)
  end)
end

return M
