--- The server's requests that wait for the person: approvals and the model's own questions, in the order they came.
local M = {}

local log = require("agent_lsp.log")

---@class agent.Question
---@field id integer counts from 1
---@field kind "approve"|"ask"
---@field session_id string
---@field tool_call_id? string of an approval
---@field params agent.ApproveParams|agent.AskParams
---@field unanswered any what the server gets when nobody answers any more
---@field is_shown? boolean it has been given a float
---@field resume thread of the handler that waits
---@field hidden boolean the person has put it away without an answer
---@field settled boolean
---@field outcome? "answered"|"withdrawn"

---@type agent.Question[]
local open = {}
local last_id = 0
---@type fun(question: agent.Question)[]
local listeners = {}

--- Calls `listener` whenever a question was put, hidden, shown again, answered or withdrawn.
---@param listener fun(question: agent.Question)
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

--- Tells the listeners that a question is not as it was.
---@param question agent.Question
function M.changed(question)
  for _, listener in ipairs(listeners) do
    local ok, problem = xpcall(listener, debug.traceback, question)
    if not ok then
      log.error(("question: %s"):format(problem))
    end
  end
end

--- Puts a question and returns its answer. Only in the coroutine of a handler, which yields meanwhile.
---@param fields { kind: "approve"|"ask", session_id: string, tool_call_id?: string, params: table, unanswered: any }
---@return any answer
function M.put(fields)
  last_id = last_id + 1
  local question = vim.tbl_extend("force", fields, { id = last_id, hidden = false, settled = false })
  question.resume = coroutine.running()
  open[#open + 1] = question
  M.changed(question)
  return coroutine.yield()
end

---@param question agent.Question
---@param outcome "answered"|"withdrawn"
---@param result any
local function settle(question, outcome, result)
  if question.settled then
    return
  end
  question.settled, question.outcome = true, outcome
  open = vim.tbl_filter(function(one)
    return one ~= question
  end, open)
  M.changed(question)
  -- in a tick of its own: an answer may come before the handler has yielded
  vim.schedule(function()
    local ok, problem = coroutine.resume(question.resume, result)
    if not ok then
      log.warn(("the answer was not sent: %s"):format(problem))
    end
  end)
end

--- Answers a question. A second answer is nothing.
---@param question agent.Question
---@param result any
function M.answer(question, result)
  settle(question, "answered", result)
end

--- Nobody has to answer any more.
---@param question agent.Question
function M.withdraw(question)
  settle(question, "withdrawn", question.unanswered)
end

--- Withdraws those for which `matches` is true.
---@param matches fun(question: agent.Question): boolean
function M.withdraw_all(matches)
  for _, question in ipairs(vim.tbl_filter(matches, open)) do
    M.withdraw(question)
  end
end

--- Puts a question away, or shows it again.
---@param question agent.Question
---@param hidden boolean
function M.hide(question, hidden)
  if question.hidden ~= hidden and not question.settled then
    question.hidden = hidden
    M.changed(question)
  end
end

--- Those that wait, the oldest first.
---@return agent.Question[]
function M.open()
  return vim.list_slice(open)
end

--- How many wait, hidden ones too.
---@return integer
function M.count()
  return #open
end

return M
