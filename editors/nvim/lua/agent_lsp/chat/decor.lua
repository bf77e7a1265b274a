--- What of a chat is not text: who speaks, how a call stands. Extmarks, so that yanking and searching find the words alone.
local M = {}

local compose = require("agent_lsp.chat.compose")

local api = vim.api
local namespace = api.nvim_create_namespace("agent_lsp_decor")
local MARKS_PER_SEGMENT = 5

local GROUPS = {
  AgentUser = "Title",
  AgentAssistant = "Function",
  AgentSubagent = "Identifier",
  AgentThinking = "Comment",
  AgentTool = "Special",
  AgentRunning = "DiagnosticInfo",
  AgentDone = "DiagnosticOk",
  AgentFailed = "DiagnosticError",
  AgentDenied = "DiagnosticWarn",
  AgentMuted = "NonText",
  AgentNotice = "Comment",
}

local STATES = {
  writing = { "…", "AgentRunning" },
  asked = { "?", "AgentDenied" },
  running = { "●", "AgentRunning" },
  done = { "✓", "AgentDone" },
  failed = { "✗", "AgentFailed" },
  denied = { "⊘", "AgentDenied" },
  aborted = { "◼", "AgentMuted" },
}

local NOBODYS = { block = true, notice = true, summary = true }

local LABELS = {
  thinking = { open = "thinking ", closed = "thought " },
  summary = { open = "summary ", closed = "summary " },
}

local WORDS = { asked = "waits for you", failed = "failed", denied = "denied", aborted = "stopped" }

--- Defines the highlight groups, unless the colour scheme or the person has.
function M.define_groups()
  for name, link in pairs(GROUPS) do
    api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

--- The highlight of a segment's text, over that of Markdown.
---@param segment agent.Segment
---@return string?
function M.body_group(segment)
  if segment.kind == "thinking" or segment.kind == "summary" then
    return "AgentThinking"
  elseif segment.kind == "notice" then
    return "AgentNotice"
  end
end

---@param buf integer
function M.clear(buf)
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
end

---@param segment agent.Segment
---@return string who, string group
local function speaker(segment)
  if segment.origin then
    local id = segment.origin[#segment.origin]
    return "subagent " .. id:sub(-8), "AgentSubagent"
  elseif segment.kind == "user" or segment.kind == "steer" then
    if segment.sender == "parent_agent" then
      return "Parent agent", "AgentSubagent"
    end
    return segment.kind == "steer" and "You, meanwhile" or "You", "AgentUser"
  end
  return "Agent", "AgentAssistant"
end

--- Whether a segment begins what somebody else says, so that it gets a header. Blocks and notices are nobody's.
---@param segment agent.Segment
---@return string? who, string? group
function M.header(segment)
  if NOBODYS[segment.kind] then
    return nil
  end
  local who, group = speaker(segment)
  local before = segment.before
  while before and NOBODYS[before.kind] do
    before = before.before
  end
  return (not before or speaker(before) ~= who) and who or nil, group
end

---@param from? string ISO 8601
---@param to? string
---@return number? seconds
local function seconds(from, to)
  local function read(stamp)
    local day, hour, minute, second = (stamp or ""):match("(%d+)T(%d+):(%d+):([%d.]+)")
    return day and ((tonumber(day) * 24 + tonumber(hour)) * 60 + tonumber(minute)) * 60 + tonumber(second)
  end
  local began, ended = read(from), read(to)
  return began and ended and ended >= began and ended - began or nil
end

---@param count integer
---@return string
local function lines(count)
  return count == 1 and "1 line" or count .. " lines"
end

---@param segment agent.Segment
---@return [string, string][] chunks what stands behind the head of a card
local function status(segment)
  local tool = segment.tool
  if not tool then
    return {}
  end
  local chunks = {}
  if WORDS[tool.state] then
    chunks[1] = { "  " .. WORDS[tool.state], STATES[tool.state][2] }
  elseif tool.state == "writing" and (tool.written or 0) > 0 then
    chunks[1] = { "  " .. compose.size(tool.written), "AgentMuted" }
  end
  local took = seconds(tool.began, tool.ended)
  if took and took >= 0.1 then
    chunks[#chunks + 1] = { ("  %.1f s"):format(took), "AgentMuted" }
  end
  return chunks
end

---@param buf integer
---@param segment agent.Segment
---@param number integer which of the marks of a segment
---@param row integer
---@param options vim.api.keyset.set_extmark
---@param col? integer
local function mark(buf, segment, number, row, options, col)
  options.id = segment.id * MARKS_PER_SEGMENT + number
  options.strict = false
  api.nvim_buf_set_extmark(buf, namespace, row, col or 0, options)
end

---@param view agent.View
---@param segment agent.Segment
---@param row integer
---@param end_row integer
local function dress_card(view, segment, row, end_row)
  local sign = segment.tool and STATES[segment.tool.state] or { "▪", "AgentMuted" }
  mark(view.buf, segment, 1, row, { conceal_lines = "" })
  local behind = status(segment)
  if not segment.open and end_row > row + 2 then
    behind[#behind + 1] = { "  " .. lines(end_row - row - 2), "AgentMuted" }
  end
  mark(view.buf, segment, 2, row + 1, {
    end_col = #(segment.head or ""),
    hl_group = "AgentTool",
    virt_text = { { sign[1] .. " ", sign[2] } },
    virt_text_pos = "inline",
  })
  -- inline, because a closed fold shows nothing behind the end of a line
  mark(view.buf, segment, 3, row + 1, { virt_text = behind, virt_text_pos = "inline" }, #(segment.head or ""))
  if not segment.open then
    mark(view.buf, segment, 4, end_row, { conceal_lines = "" })
  end
end

--- Puts the header of a segment right, after what stands before it has changed.
---@param buf integer
---@param segment agent.Segment
---@param row integer
function M.dress_header(buf, segment, row)
  local who, group = M.header(segment)
  if who and row > 0 then
    mark(buf, segment, 0, row - 1, { virt_lines = { { { who, group } } } })
  else
    api.nvim_buf_del_extmark(buf, namespace, segment.id * MARKS_PER_SEGMENT)
  end
end

--- Puts the marks of a segment right, after its text has changed (`open`, `close`) or its state alone (`mark`).
---@param view agent.View
---@param segment agent.Segment
---@param row integer
---@param end_row integer
---@param kind "open"|"close"|"mark"|"text"
function M.dress(view, segment, row, end_row, kind)
  if segment.kind == "tool" or segment.kind == "block" then
    dress_card(view, segment, row, end_row)
  elseif LABELS[segment.kind] and kind ~= "mark" then
    mark(view.buf, segment, 1, row, {
      virt_text = { { LABELS[segment.kind][segment.open and "open" or "closed"], "AgentMuted" } },
      virt_text_pos = "inline",
    })
  end
  if segment.last then -- one line, into which all that the subagent said is folded
    local _, last_row = view:rows(segment.last)
    mark(view.buf, segment, 1, end_row, {
      virt_text = { { " " .. lines(last_row - end_row), "AgentMuted" } },
      virt_text_pos = "inline",
    }, #"> subagent") -- a closed fold is cut where the window ends
  end
  M.dress_header(view.buf, segment, row)
  if segment.status and segment.kind == "text" then
    mark(view.buf, segment, 2, end_row, {
      virt_text = { { "  (" .. segment.status .. ")", "AgentMuted" } },
      virt_text_pos = "eol",
    })
  end
end

return M
