--- The bars of chat and prompt: which session it is and what it has used; what runs, what waits, when the next attempt is.
local M = {}

local compose = require("agent_lsp.chat.compose")
local events = require("agent_lsp.events")
local protocol = require("agent_lsp.protocol")

local api = vim.api
local TICK_MS = 500
local STEER_SIGNS = { sending = "…", pending = "⏳", delivered = "✓", withdrawn = "✗" }

---@class agent.Bars what a session's bars were made from
---@field usage? table
---@field retry_at_ms? number
---@field attached? string

---@type table<string, agent.Bars>
local known = {}
---@type uv.uv_timer_t?
local timer

---@param text string
---@param most integer
---@return string
local function plain(text, most)
  return (compose.line(text, most):gsub("%%", "%%%%"))
end

---@param session agent.Session
---@return string?
local function retry(session)
  local waits = session.model.retry
  local at_ms = known[session.id].retry_at_ms
  if not waits or not at_ms then
    return nil
  end
  local left_s = math.max(0, math.ceil((at_ms - vim.uv.now()) / 1000))
  local why = plain(waits.error_message or waits.status, 60)
  return ("%%#AgentFailed#↻ attempt %d in %d s:%%* %s"):format((waits.attempt or 1) + 1, left_s, why)
end

---@param session agent.Session
---@return string
local function chat_bar(session)
  local parts = { plain(session.model.title or session.info.title or "agent", 40) }
  if session.info.model and session.info.model.model then
    parts[#parts + 1] = "%#AgentMuted#" .. plain(protocol.model_name(session.info.model), 40) .. "%*"
  end
  local usage = session.model.usage
  if usage then
    local window = usage.context_window or 0
    local filled = usage.request.cache_read + usage.request.cache_write + usage.request.output
    local share = window > 0 and ("%d%%%% full, "):format(100 * filled / window) or ""
    parts[#parts + 1] = ("%%#AgentMuted#%s%s tokens%%*"):format(share, compose.tokens(usage.session.total))
  end
  parts[#parts + 1] = retry(session)
  return " " .. table.concat(parts, "  ") .. "%<" -- in a narrow window it is the end that is cut
end

---@param session agent.Session
---@return string
local function prompt_bar(session)
  local is_busy = session:is_busy()
  local state = session.state.state:gsub("_", " ")
  local parts = { is_busy and ("%#AgentRunning#● " .. state .. "%*") or "%#AgentMuted#○%*" }
  parts[#parts + 1] = retry(session)
  if session.state.hint then
    parts[#parts + 1] = "%#AgentFailed#" .. plain(session.state.hint, 80) .. "%*"
  end
  for _, steer in ipairs(session.steers) do
    parts[#parts + 1] = ("%s %s: %s"):format(STEER_SIGNS[steer.state], steer.state, plain(steer.text, 30))
  end
  local attached = known[session.id].attached
  if attached then
    parts[#parts + 1] = "+ " .. plain(attached, 60)
  end
  return " " .. table.concat(parts, "  ")
end

---@param name string of the buffer
---@param bar string
local function put(name, bar)
  local buf = vim.fn.bufnr("^" .. name .. "$")
  for _, win in ipairs(buf > 0 and vim.fn.win_findbuf(buf) or {}) do
    if vim.w[win].agent_window and vim.wo[win].winbar ~= bar then
      api.nvim_set_option_value("winbar", bar, { scope = "local", win = win })
    end
  end
end

--- Counts down while some session waits for its next attempt.
local function tick()
  local is_waiting = false
  for id, bars in pairs(known) do
    local session = require("agent_lsp.session").get(id)
    if session and bars.retry_at_ms then
      is_waiting = true
      M.refresh(session)
    end
  end
  if not is_waiting and timer then
    timer:stop()
  end
end

--- Makes the bars of a session right.
---@param session agent.Session
---@param attached? string|false what goes with the next prompt; false: nothing any more
function M.refresh(session, attached)
  local bars = known[session.id] or {}
  known[session.id] = bars
  if attached ~= nil then
    bars.attached = attached or nil
  end
  local waits = session.model.retry
  if not waits then
    bars.retry_at_ms = nil
  elseif not bars.retry_at_ms then
    bars.retry_at_ms = vim.uv.now() + waits.retry_in_ms
    timer = timer or assert(vim.uv.new_timer())
    timer:start(TICK_MS, TICK_MS, vim.schedule_wrap(tick))
  end
  bars.usage = session.model.usage
  put("agent://session/" .. session.id, chat_bar(session))
  put("agent://prompt/" .. session.id, prompt_bar(session))
end

--- Takes part.
function M.attach()
  for _, name in ipairs({ "session", "state", "run_end", "history" }) do
    events.on(name, function(data)
      M.refresh(data.session)
    end)
  end
  events.on("received", function(data)
    local session = data.session
    local bars = known[session.id] or {}
    local is_waiting = session.model.retry ~= nil
    if #session.steers > 0 or session.model.usage ~= bars.usage or is_waiting ~= (bars.retry_at_ms ~= nil) then
      M.refresh(session)
    end
  end)
end

return M
