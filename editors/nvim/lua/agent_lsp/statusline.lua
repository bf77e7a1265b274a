--- A component for a statusline: `%{v:lua.require'agent_lsp.statusline'.get()}`. It is made when something happens, not
--- when it is drawn, and is empty until the agent was used.
local M = {}

local EVERY_MS = 250
local STATES = {
  running = "● working",
  compacting = "● compacting",
  waiting_approval = "● working",
  reconnecting = "↻ reconnecting",
  auth_required = "✗ no key",
}

local text = ""
local is_due, is_waiting = false, false

---@return string
local function compose()
  local session = require("agent_lsp.session").current()
  local parts = {}
  local waiting = require("agent_lsp.approval.questions").count()
  if waiting > 0 then
    parts[#parts + 1] = ("? %d waiting for you"):format(waiting)
  end
  if session and waiting == 0 then
    local state = session.state
    local shown = STATES[state.state]
    if state.state == "reconnecting" and state.attempt then
      shown = ("%s (%d)"):format(shown, state.attempt)
    end
    parts[#parts + 1] = shown
  end
  local edits = #require("agent_lsp.edits.list").pending()
  if edits > 0 then
    parts[#parts + 1] = ("%d %s"):format(edits, edits == 1 and "edit" or "edits")
  end
  if #parts == 0 then
    return session and "agent" or ""
  end
  return "agent " .. table.concat(parts, " · ")
end

--- Draws statuslines again, at most four times a second, and only when the text is another one.
local function renew()
  if is_waiting then
    is_due = true
    return
  end
  is_waiting = true
  vim.defer_fn(function()
    is_waiting = false
    if is_due then
      is_due = false
      renew()
    end
  end, EVERY_MS)
  local now = compose()
  if now ~= text then
    text = now
    vim.schedule(function()
      vim.api.nvim__redraw({ statusline = true, winbar = true, tabline = true })
    end)
  end
end

--- The component: "", "agent", or with what it is doing, "agent ● working · 2 edits". Takes no time.
---@return string
function M.get()
  return text
end

--- Follows what is shown.
function M.attach()
  local events = require("agent_lsp.events")
  for _, name in ipairs({ "state", "run_start", "run_end", "session", "stopped" }) do
    events.on(name, renew)
  end
  require("agent_lsp.approval.questions").listen(renew)
  require("agent_lsp.edits.list").listen(renew)
end

return M
