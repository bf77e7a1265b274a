local diff = require("agent_lsp.approval.diff")
local face = require("agent_lsp.approval.face")
local questions = require("agent_lsp.approval.questions")

local M = {}

local DIFF = table.concat({
  "--- a/x.py",
  "+++ b/x.py",
  "@@ -1,3 +1,3 @@",
  " def f():",
  "-    return 'grün'",
  "+    return 'grau'",
  " --- no header",
}, "\n") .. "\n"

local function params(fields)
  return vim.tbl_extend("force", {
    sessionId = "s",
    toolCall = { tool_call_id = "c", name = "edit_file", arguments = "{}" },
    permission = "rw",
    title = "Edit x.py",
  }, fields)
end

local function put(fields)
  local got = {}
  coroutine.wrap(function()
    got.answer = questions.put(vim.tbl_extend("force", {
      kind = "ask",
      session_id = "s",
      params = { question = "?" },
      unanswered = "nobody",
    }, fields or {}))
  end)()
  local open = questions.open()
  return open[#open], got
end

M["a diff is shown without the lines that name the file, and with what looks like them in it"] = function()
  local lines = diff.render(DIFF)
  assert(lines[1] == "@@ -1,3 +1,3 @@" and lines[#lines] == " --- no header", vim.inspect(lines))
end

M["of a changed line the part that differs is marked, by whole characters"] = function()
  local lines, marks = diff.render(DIFF)
  local parts = {}
  for _, mark in ipairs(marks) do
    if mark.group == "AgentDiffText" then
      parts[#parts + 1] = lines[mark.row + 1]:sub(mark.from + 1, mark.to)
    end
  end
  assert(vim.deep_equal(parts, { "ün", "au" }), vim.inspect(parts))
end

M["lines that have nothing in common are not marked in part"] = function()
  local _, marks = diff.render("@@ -1 +1 @@\n-abc\n+xyz\n")
  assert(not vim.iter(marks):any(function(mark)
    return mark.group == "AgentDiffText"
  end))
end

M["any text is a diff that can be shown"] = function()
  for _, text in ipairs({ "", "\n", "-", "+\n-\n", "@@", "\0", "--- a\n+++ b\n", ("-x\n"):rep(50) .. ("+y\n"):rep(50) }) do
    local lines, marks = diff.render(text)
    for _, mark in ipairs(marks) do
      local line = assert(lines[mark.row + 1])
      assert(not mark.to or (mark.from <= mark.to and mark.to <= #line), text)
    end
  end
end

M["a command is shown whole, line by line, with its folder"] = function()
  local shown = face.approval(params({ preview = { kind = "command", command = "a\nb", cwd = "/tmp" } }))
  assert(vim.deep_equal(shown.lines, { "a", "b", "in /tmp" }), vim.inspect(shown.lines))
end

M["without a preview the arguments are shown, broken ones as they are"] = function()
  local call = { tool_call_id = "c", name = "t", arguments = '{"a": 1}' }
  assert(table.concat(face.approval(params({ toolCall = call })).lines):find("a = 1", 1, true))
  call.arguments = '{"a": '
  assert(vim.deep_equal(face.approval(params({ toolCall = call })).lines, { '{"a": ' }))
end

M["the key for rules is there only where there are rules"] = function()
  local function has_rules(remember)
    return vim.iter(face.approval(params({ remember = remember })).hints):any(function(hint)
      return hint[1] == "r"
    end)
  end
  assert(not has_rules(nil) and not has_rules({}))
  assert(has_rules({ { kind = "tool", scope = "session", rule = "x", label = "every call" } }))
end

M["a question is answered once, and the second answer is nothing"] = function()
  local question, got = put()
  questions.answer(question, "first")
  questions.answer(question, "second")
  questions.withdraw(question)
  vim.wait(500, function()
    return got.answer ~= nil
  end, 5)
  assert(got.answer == "first" and questions.count() == 0)
end

M["an answer that comes before the handler has yielded is not lost"] = function()
  local answered = false
  questions.listen(function(question)
    if question.params.at_once and not question.settled then
      questions.answer(question, "at once")
    end
  end)
  coroutine.wrap(function()
    answered = questions.put({
      kind = "ask",
      session_id = "s",
      params = { at_once = true },
      unanswered = "nobody",
    }) == "at once"
  end)()
  assert(vim.wait(500, function()
    return answered
  end, 5))
end

M["a withdrawn question is answered with what nobody said"] = function()
  local _, got = put()
  questions.withdraw_all(function(question)
    return question.session_id == "s"
  end)
  vim.wait(500, function()
    return got.answer ~= nil
  end, 5)
  assert(got.answer == "nobody")
end

M["a question that was put away still waits"] = function()
  local question = put()
  questions.hide(question, true)
  assert(questions.count() == 1 and question.hidden)
  questions.withdraw(question)
  questions.hide(question, false)
  assert(question.hidden, "what is settled changes no more")
end

return M
