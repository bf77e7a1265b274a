--- An approval as a menu of `vim.ui.select`, for those who wish for it: the float then only shows what is asked.
local M = {}

local answers = require("agent_lsp.approval.answers")
local questions = require("agent_lsp.approval.questions")

--- Calls back once the person is in normal mode: a menu would take what they are typing.
---@param callback fun()
local function when_idle(callback)
  if vim.api.nvim_get_mode().mode == "n" then
    return callback()
  end
  vim.api.nvim_create_autocmd("ModeChanged", {
    pattern = "*:n",
    once = true,
    callback = function()
      vim.schedule(function()
        when_idle(callback)
      end)
    end,
  })
end

---@param question agent.Question
local function choose(question)
  local params = question.params --[[@as agent.ApproveParams]]
  local choices = { { label = "Allow", run = answers.allow } }
  for _, offer in ipairs(params.remember or {}) do
    choices[#choices + 1] = {
      label = "Allow always: " .. offer.label,
      run = function()
        answers.allow(question, offer)
      end,
    }
  end
  vim.list_extend(choices, {
    { label = "Deny", run = answers.deny },
    { label = "Deny, with a reason", run = answers.deny_with_reason },
    {
      label = "Later",
      run = function()
        questions.hide(question, true)
      end,
    },
  })
  local options = {
    prompt = params.title .. "?",
    kind = "agent_approval",
    format_item = function(choice)
      return choice.label
    end,
  }
  vim.ui.select(choices, options, function(choice)
    if choice and not question.settled then
      choice.run(question)
    elseif not question.settled then
      questions.hide(question, true)
    end
  end)
end

--- Puts the menu up once the person is in normal mode.
---@param question agent.Question
function M.offer(question)
  when_idle(function()
    if not question.settled then
      choose(question)
    end
  end)
end

return M
