--- Approvals: the server asks whether a call may run, and waits for as long as it takes.
local M = {}

local answers = require("agent_lsp.approval.answers")
local client = require("agent_lsp.client")
local config = require("agent_lsp.config")
local events = require("agent_lsp.events")
local face = require("agent_lsp.approval.face")
local keys = require("agent_lsp.chat.keys")
local log = require("agent_lsp.log")
local menu = require("agent_lsp.approval.menu")
local panel = require("agent_lsp.approval.panel")
local questions = require("agent_lsp.approval.questions")

-- The float --------------------------------------------------------------------------------------------------------------

---@param question agent.Question
---@return agent.Key[]
local function float_keys(question)
  local params = question.params --[[@as agent.ApproveParams]]
  local offers = params.remember or {}
  local shows_rules = false
  local list ---@type agent.Key[]

  ---@param lhs string
  ---@param desc string
  ---@param run fun()
  ---@return agent.Key
  local function answer(lhs, desc, run)
    return { lhs = lhs, modes = { "n" }, desc = desc, run = panel.deliberately(question, run) }
  end
  list = {
    answer("a", "allow this once", function()
      answers.allow(question)
    end),
    answer("r", "allow by a rule: then its number", function()
      if #offers > 0 then
        shows_rules = not shows_rules
        local shown = shows_rules and face.rules(params) or face.approval(params)
        panel.repaint(question, shown, shows_rules and #shown.lines - 1 or 0)
      end
    end),
    answer("d", "deny", function()
      answers.deny(question)
    end),
    answer("D", "deny, and say why", function()
      answers.deny_with_reason(question)
    end),
  }
  for number, offer in ipairs(vim.list_slice(offers, 1, 9)) do
    list[#list + 1] = answer(tostring(number), "after r: " .. offer.label, function()
      if shows_rules then
        answers.allow(question, offer)
      end
    end)
  end
  return vim.list_extend(
    list,
    M.common_keys(question, function()
      return list
    end)
  )
end

--- Keys of any question: put it away, leave it, and what the keys are.
---@param question agent.Question
---@param all fun(): agent.Key[]
---@return agent.Key[]
function M.common_keys(question, all)
  return {
    {
      lhs = "q",
      modes = { "n" },
      desc = "put it away without an answer (:AgentApproval shows it again)",
      run = function()
        questions.hide(question, true)
      end,
    },
    {
      lhs = "<Esc>",
      modes = { "n" },
      desc = "back to the window before",
      run = function()
        vim.cmd.wincmd("p")
      end,
    },
    {
      lhs = "g?",
      modes = { "n" },
      desc = "these keys",
      run = function()
        keys.help(all())
      end,
    },
  }
end

-- Taking part --------------------------------------------------------------------------------------------------------------

---@param params agent.ApproveParams
---@return agent.ApproveResult
local function approve(params)
  vim.schedule(function()
    local session = require("agent_lsp.session").get(params.sessionId)
    events.emit("approve", { session = session, params = params })
    events.announce("AgentApproval", {
      session_id = params.sessionId,
      tool_call_id = params.toolCall.tool_call_id,
      tool = params.toolCall.name,
      title = params.title,
    })
  end)
  return questions.put({
    kind = "approve",
    session_id = params.sessionId,
    tool_call_id = params.toolCall.tool_call_id,
    params = params,
    unanswered = { decision = "deny" },
  })
end

---@param params { sessionId: string, tool_call_id: string, outcome: "allow"|"deny"|"withdrawn" }
local function resolved(params)
  questions.withdraw_all(function(question)
    return question.session_id == params.sessionId and question.tool_call_id == params.tool_call_id
  end)
  events.emit("approval_resolved", {
    session = require("agent_lsp.session").get(params.sessionId),
    tool_call_id = params.tool_call_id,
    outcome = params.outcome,
  })
end

---@param question agent.Question
local function show(question)
  if question.kind ~= "approve" or question.settled then
    return
  elseif not question.is_shown then
    question.is_shown = true
    local params = question.params --[[@as agent.ApproveParams]]
    panel.show(question, face.approval(params), float_keys(question))
    if config.get().approval.ui == "select" then
      menu.offer(question)
    end
  end
end

--- Takes the server's questions.
function M.attach()
  panel.attach()
  questions.listen(show)
  client.handle("agent/approve", approve)
  client.handle("agent/approvalResolved", resolved)
  events.on("stopped", function()
    questions.withdraw_all(function()
      return true
    end)
  end)
end

-- Commands ---------------------------------------------------------------------------------------------------------------

--- The question that a command means: that of the float the person is in, else the oldest one that is shown, else the
--- oldest.
---@return agent.Question?
local function meant()
  local open = questions.open()
  local shown = vim.tbl_filter(function(question)
    return not question.hidden
  end, open)
  return panel.focused() or shown[1] or open[1]
end

--- Enters the next question: after the one whose float the person is in, else the oldest.
function M.focus_next()
  local open, now = questions.open(), panel.focused()
  for index, question in ipairs(open) do
    if question == now and open[index + 1] then
      return panel.focus(open[index + 1])
    end
  end
  if open[1] then
    return panel.focus(open[1])
  end
  log.tell("nothing waits for an answer")
end

---@type table<string, fun(question: agent.Question, words: string)>
local verbs = {
  allow = function(question)
    answers.allow(question)
  end,
  deny = answers.deny,
}

M.commands = {
  AgentApproval = function(given)
    local verb, words = given.args:match("^(%S*)%s*(.*)$")
    local question = meant()
    if verb == "" then
      return M.focus_next()
    elseif not verbs[verb] then
      return log.tell(("AgentApproval takes allow or deny, not %s"):format(verb), vim.log.levels.ERROR)
    elseif not question then
      return log.tell("nothing waits for an answer")
    elseif question.kind ~= "approve" then
      return panel.focus(question)
    elseif not panel.was_seen(question) then
      panel.focus(question)
      return log.tell("this is what would be answered: give the command again, or use the keys")
    end
    verbs[verb](question, words)
  end,
}

M.maps = { ["agent-approval"] = M.focus_next }

return M
