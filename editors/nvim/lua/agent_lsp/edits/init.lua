--- The agent's edits: made, shown, walked through, kept or taken back.
local M = {}

local api = vim.api
local apply = require("agent_lsp.edits.apply")
local client = require("agent_lsp.client")
local list = require("agent_lsp.edits.list")
local log = require("agent_lsp.log")
local marks = require("agent_lsp.edits.marks")
local quickfix = require("agent_lsp.edits.quickfix")
local sessions = require("agent_lsp.session")
local walk = require("agent_lsp.edits.walk")

--- The pending edits that a command means: all with `!`, else those that reach into its lines.
---@param given vim.api.keyset.create_user_command.command_args
---@param bufnr integer
---@return agent.StandingEdit[]
local function meant(given, bufnr)
  if given.bang then
    return list.pending()
  end
  local found = {}
  for _, placed in ipairs(marks.placed(bufnr)) do
    local first, last = marks.rows(placed)
    if placed.edit.state == "pending" and first <= given.line2 - 1 and last >= given.line1 - 1 then
      found[#found + 1] = placed.edit
    end
  end
  return found
end

local DONE = { keep = "kept", undo = "taken back" }

--- Keeps edits or takes them back; what cannot be done is told with the reason.
---@param verb "keep"|"undo"
---@param edits { editId: string, session_id: string }[]
function M.decide(verb, edits)
  list.decide(verb, edits, function(err, refused)
    if err then
      log.tell(err.message, vim.log.levels.ERROR)
    elseif #refused > 0 then
      local what = ("%d of %d not %s: %s"):format(#refused, #edits, DONE[verb], refused[1].reason)
      log.tell(what, vim.log.levels.WARN)
    end
  end)
end

--- Reads the lists of all sessions, then calls back.
---@param callback fun()
local function read_all(callback)
  local all = sessions.all()
  local left = #all
  if left == 0 then
    return callback()
  end
  for _, session in ipairs(all) do
    list.read(session.id, function()
      left = left - 1
      if left == 0 then
        callback()
      end
    end)
  end
end

---@param verb "keep"|"undo"
---@return fun(given: table)
local function command(verb)
  return function(given)
    local bufnr = api.nvim_get_current_buf()
    read_all(function()
      local edits = meant(given, bufnr)
      if #edits > 0 then
        return M.decide(verb, edits)
      end
      log.tell(given.bang and "the agent has no edits that wait for you" or "no edit of the agent here")
    end)
  end
end

M.commands = {
  AgentKeep = command("keep"),
  AgentUndo = command("undo"),
  AgentEdits = function(given)
    local session = sessions.current()
    if not session then
      return log.tell("the agent has edited nothing yet")
    end
    read_all(function()
      local count = quickfix.make(session.id, session)
      if count and given.bang then
        vim.cmd("botright copen")
      elseif count then
        log.tell(("%d %s in the quickfix list"):format(count, count == 1 and "edit" or "edits"))
      end
    end)
  end,
}

M.maps = { ["agent-next-edit"] = walk.next, ["agent-prev-edit"] = walk.previous }

--- Takes the server's edits and follows them.
function M.attach()
  client.handle("workspace/applyEdit", apply.handle)
  list.attach()
  marks.attach()
  list.listen(quickfix.renew)
end

return M
