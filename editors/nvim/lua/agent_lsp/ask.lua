--- Questions that the model puts to the person: a float like an approval's, with options to choose from, or words.
local M = {}

local approval = require("agent_lsp.approval")
local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local face = require("agent_lsp.approval.face")
local panel = require("agent_lsp.approval.panel")
local questions = require("agent_lsp.approval.questions")

--- `agent/ask`
---@class agent.AskParams
---@field sessionId string
---@field question string
---@field options? string[]
---@field multiple? boolean

local NOBODY = { answer = vim.NIL }

---@param question agent.Question
---@param words string|string[]
local function answer(question, words)
  questions.answer(question, { answer = words })
end

---@param question agent.Question
local function answer_in_words(question)
  vim.ui.input({ prompt = "Answer: " }, function(words)
    if words and vim.trim(words) ~= "" then
      answer(question, question.params.multiple and { words } or words)
    end
  end)
end

---@param question agent.Question
---@return agent.Key[]
local function keys_of(question)
  local params = question.params --[[@as agent.AskParams]]
  local chosen = {} ---@type table<integer, true>
  local list = {} ---@type agent.Key[]
  ---@param lhs string
  ---@param desc string
  ---@param run fun()
  local function add(lhs, desc, run)
    list[#list + 1] = { lhs = lhs, modes = { "n" }, desc = desc, run = panel.deliberately(question, run) }
  end
  for number, option in ipairs(vim.list_slice(params.options or {}, 1, 9)) do
    add(tostring(number), option, function()
      if not params.multiple then
        return answer(question, option)
      end
      chosen[number] = not chosen[number] or nil
      panel.repaint(question, face.question(params, chosen), vim.api.nvim_win_get_cursor(0)[1] - 1)
    end)
  end
  if params.multiple then
    add("<CR>", "answer with what is ticked", function()
      local picked = {}
      for number, option in ipairs(params.options or {}) do
        picked[#picked + 1] = chosen[number] and option or nil
      end
      answer(question, picked)
    end)
  end
  add("i", "answer in words", function()
    answer_in_words(question)
  end)
  add("x", "give no answer", function()
    questions.answer(question, NOBODY)
  end)
  return vim.list_extend(
    list,
    approval.common_keys(question, function()
      return list
    end)
  )
end

---@param question agent.Question
local function show(question)
  if question.kind == "ask" and not question.settled and not question.is_shown then
    question.is_shown = true
    panel.show(question, face.question(question.params, {}), keys_of(question))
  end
end

--- Takes the model's questions. What a run that has ended had asked is withdrawn: nothing else says so.
function M.attach()
  questions.listen(show)
  client.handle("agent/ask", function(params)
    return questions.put({
      kind = "ask",
      session_id = params.sessionId,
      params = params,
      unanswered = NOBODY,
    })
  end)
  events.on("state", function(data)
    if data.state.state == "idle" then
      questions.withdraw_all(function(question)
        return question.kind == "ask" and question.session_id == data.session.id
      end)
    end
  end)
end

return M
