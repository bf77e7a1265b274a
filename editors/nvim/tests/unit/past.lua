--- A server that has nothing but histories, read from either end in pages, as the real one gives them.
local M = {}

local client = require("agent_lsp.client")

--- Answers `agent/session/history` from `histories` (by session id) while `body` runs; `fields` go with the page of the
--- end. An answer waits for `M.answer()` while `M.is_slow`. Returns the parameters of what was asked.
---@param histories table<string, agent.Message[]>
---@param fields table
---@param body fun()
---@return table[] asked
function M.serving(histories, fields, body)
  local request, get = client.request, client.get
  local asked = {}
  M.waiting, M.is_slow = {}, false
  client.get = function()
    return {}
  end
  client.request = function(method, params, callback)
    if method ~= "agent/session/history" then
      return
    end
    asked[#asked + 1] = params
    local function answer()
      callback(M.page(histories, fields, params))
    end
    if M.is_slow then
      M.waiting[#M.waiting + 1] = answer
    else
      answer()
    end
  end
  local ok, problem = xpcall(body, debug.traceback)
  client.request, client.get = request, get
  assert(ok, problem)
  return asked
end

--- Lets the answers go that wait.
function M.answer()
  local waiting = M.waiting
  M.waiting = {}
  for _, answer in ipairs(waiting) do
    answer()
  end
end

---@return table? err, table? result
function M.page(histories, fields, params)
  local messages = histories[params.sessionId]
  if not messages then
    return { code = -32002, message = "there is no such session" }
  end
  local pending = { runs = {}, steers = {}, approvals = {} }
  local cursor = tonumber(params.cursor)
  local first, last = (cursor or 0) + 1, math.min((cursor or 0) + params.limit, #messages)
  if params.fromEnd then
    last = cursor or #messages
    first = math.max(1, last - params.limit + 1)
  end
  local result = {
    messages = vim.deepcopy(vim.list_slice(messages, first, last)),
    nextSeq = 0,
    pending = pending,
    nextCursor = not params.fromEnd and last < #messages and tostring(last) or nil,
    previousCursor = params.fromEnd and first > 1 and tostring(first - 1) or nil,
    earlier = params.fromEnd and first > 1 and first - 1 or nil,
  }
  local is_end = params.fromEnd and not cursor or not params.fromEnd and last == #messages
  return nil, vim.tbl_extend("force", result, is_end and fields or {})
end

return M
