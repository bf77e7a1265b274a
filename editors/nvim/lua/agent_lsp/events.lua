--- Who wants to know of what happens. One place hands it out, in the order in which it happened, on the main loop.
---
--- | name | data |
--- |---|---|
--- | `message` | `{session, message, run_id}`: each message of a session's stream, fragments included |
--- | `state` | `{session, state}`: `agent/state` |
--- | `approve` | `{session, params}`: a question was put |
--- | `approval_resolved` | `{session, tool_call_id, outcome}` |
--- | `run_start` | `{session, run_id}`: the first message of a run |
--- | `run_end` | `{session, run_id, result, err}`: the answer to a run that this Neovim has started |
--- | `session` | `{session}`: it is new here, or its info has changed |
--- | `history` | `{session}`: the model was read anew; what was built on the old one is void |
--- | `earlier` | `{session, is_new}`: what is not read yet of its history is being read, or (`is_new`) has become less |
--- | `received` | `{session}`: all messages of one notification have been told |
--- | `started` | `{client}`: the server is ready |
--- | `stopped` | `{client_id, expected, code, signal}` |
---
--- What others may want to know comes as `User` autocommands too (|agent-lsp-events|).
local M = {}

local log = require("agent_lsp.log")

---@type table<string, function[]>
local subscribers = {}

--- Calls `subscriber(data)` whenever `name` happens. Returns a function that ends this.
---@param name agent.EventName
---@param subscriber fun(data: table)
---@return fun()
function M.on(name, subscriber)
  local list = subscribers[name] or {}
  subscribers[name] = list
  list[#list + 1] = subscriber
  return function()
    subscribers[name] = vim.tbl_filter(function(one)
      return one ~= subscriber
    end, subscribers[name])
  end
end

--- Tells the subscribers. One that fails is logged and keeps the others from nothing.
---@param name agent.EventName
---@param data table
function M.emit(name, data)
  for _, subscriber in ipairs(subscribers[name] or {}) do
    local ok, problem = xpcall(subscriber, debug.traceback, data)
    if not ok then
      log.error(("%s: %s"):format(name, problem))
    end
  end
end

--- The `User` autocommand `pattern`, with `data`. A user's failing autocommand does not break ours.
---@param pattern "AgentRunStart"|"AgentApproval"|"AgentEdit"|"AgentRunEnd"
---@param data table
function M.announce(pattern, data)
  local ok, problem = pcall(vim.api.nvim_exec_autocmds, "User", { pattern = pattern, modeline = false, data = data })
  if not ok then
    log.warn(("User %s: %s"):format(pattern, problem))
  end
end

return M
