--- How a prompt reaches the server, and what is said when it does not, or when its task ends badly.
local M = {}

local chat = require("agent_lsp.chat")
local compose = require("agent_lsp.chat.compose")
local log = require("agent_lsp.log")
local mentions = require("agent_lsp.prompt.mentions")
local sessions = require("agent_lsp.session")

---@param session agent.Session
---@param give_back fun()
---@param err agent.Error
local function refused(session, give_back, err)
  give_back()
  if (err.data or {}).kind ~= "server_gone" then -- that one has been told already
    chat.note(session.id, err.message)
    log.tell(err.message, vim.log.levels.ERROR)
  end
end

--- A task that ended badly: what went wrong stands in the chat, where the request failed.
---@param session agent.Session
---@param result agent.RunResult
local function ended(session, result)
  if result.status == "max_turns" then
    chat.note(
      session.id,
      ("stopped after %d turns, as many as one task may take: send a prompt to go on"):format(result.turns)
    )
  end
  if result.status ~= "completed" and result.status ~= "aborted" then
    local why = compose.reason(result.errorMessage or result.status:gsub("_", " "))
    log.tell(("the task has ended: %s"):format(why), vim.log.levels.WARN)
  end
end

---@param session agent.Session
---@param input agent.Input
---@param give_back fun()
local function run(session, input, give_back)
  session:run(input, function(err, result, had_begun)
    if result then
      ended(session, result)
    elseif err and not had_begun then
      refused(session, give_back, err)
    end
  end)
end

--- Sends a text: starts a task, or says a word to the one that runs.
---@param session agent.Session
---@param text string
---@param attached? agent.InputPart[]
---@param give_back fun() called if it was not taken
function M.send(session, text, attached, give_back)
  sessions.resume(session.id, function(err, ready)
    if err or not ready then
      return refused(session, give_back, err or { code = 0, message = "there is no such session any more" })
    end
    local input, problems = mentions.input(text, mentions.root(ready), attached)
    for _, problem in ipairs(problems) do
      chat.note(ready.id, problem)
    end
    if not ready:is_busy() then
      return run(ready, input, give_back)
    end
    ready:steer(input, function(problem, steer)
      if problem then
        refused(ready, give_back, problem)
      elseif not steer then -- it ended in the meantime
        run(ready, input, give_back)
      end
    end)
  end)
end

return M
