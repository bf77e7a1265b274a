--- The answers to an approval.
local M = {}

local questions = require("agent_lsp.approval.questions")

--- Allows the call, and with a rule those like it from now on.
---@param question agent.Question
---@param offer? agent.RuleOffer the rule by which it is allowed from now on
function M.allow(question, offer)
  local remember = offer and { scope = offer.scope, rule = offer.rule } or nil
  questions.answer(question, { decision = "allow", remember = remember })
end

--- Denies the call; the reason goes to the model.
---@param question agent.Question
---@param reason? string
function M.deny(question, reason)
  questions.answer(question, { decision = "deny", feedback = reason ~= "" and reason or nil })
end

--- Asks why, then denies; without an answer nothing is decided.
---@param question agent.Question
function M.deny_with_reason(question)
  vim.ui.input({ prompt = "Deny, because: " }, function(reason)
    if reason then
      M.deny(question, vim.trim(reason))
    end
  end)
end

return M
