--- The edits of a run as a quickfix list, which is replaced in place while the run goes on.
local M = {}

local api = vim.api
local buffers = require("agent_lsp.edits.buffers")
local list = require("agent_lsp.edits.list")
local log = require("agent_lsp.log")
local marks = require("agent_lsp.edits.marks")

local TITLE_CHARS = 60

---@type table<string, integer> ids of quickfix lists, by run
local made = {}

---@param edit agent.StandingEdit
---@return table item
local function item(edit)
  local bufnr = buffers.loaded(edit.uri)
  local row, col, last = edit.range.start.line, edit.range.start.character, edit.range["end"].line
  for _, placed in ipairs(bufnr and marks.placed(bufnr) or {}) do
    if placed.edit.editId == edit.editId then
      row, last = marks.rows(placed)
      col = placed.col
    end
  end
  local line = bufnr and api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  local state = edit.state == "pending" and "" or (" (%s)"):format(edit.state)
  return {
    bufnr = bufnr,
    filename = not bufnr and vim.uri_to_fname(edit.uri) or nil,
    lnum = row + 1,
    col = col + 1,
    end_lnum = last + 1,
    text = vim.trim(line or vim.split(edit.oldText or "", "\n")[1]) .. state,
  }
end

--- What the person had asked for: the last words of theirs before the run has done anything.
---@param session? agent.Session
---@param run_id string
---@return string
local function title(session, run_id)
  local prompt = "the agent's edits"
  for _, segment in ipairs(session and session.model.segments or {}) do
    if segment.kind == "user" then
      prompt = table.concat(segment.pieces)
    end
    if segment.run_id == run_id then
      break
    end
  end
  local words = vim.trim((prompt:gsub("%s+", " ")))
  return vim.fn.strchars(words) > TITLE_CHARS and vim.fn.strcharpart(words, 0, TITLE_CHARS - 1) .. "…" or words
end

---@param session_id string
---@param run_id string
---@return table[]
local function items(session_id, run_id)
  local edits = vim.tbl_filter(function(edit)
    return edit.runId == run_id
  end, list.get(session_id))
  return vim.tbl_map(item, edits)
end

---@param id integer
---@return boolean
local function is_there(id)
  return vim.fn.getqflist({ id = id, title = 0 }).id == id
end

--- Makes the list of the newest run with edits, behind the lists that are there, or renews it; `:cnext` goes through it.
---@param session_id string
---@param session? agent.Session
---@return integer? count
function M.make(session_id, session)
  local edits = list.get(session_id)
  local last = edits[#edits]
  if not last then
    log.tell("the agent has edited nothing that still stands")
    return nil
  end
  local run_id = last.runId
  local what = { title = title(session, run_id), items = items(session_id, run_id), context = { agent_run = run_id } }
  if made[run_id] and is_there(made[run_id]) then
    what.id = made[run_id]
    vim.fn.setqflist({}, "r", what)
  else
    what.nr = "$"
    vim.fn.setqflist({}, " ", what)
    made[run_id] = vim.fn.getqflist({ nr = "$", id = 0 }).id
  end
  return #what.items
end

--- Renews the lists that were made, each where it is.
function M.renew()
  for run_id, id in pairs(made) do
    local edits = vim.tbl_filter(function(edit)
      return edit.runId == run_id
    end, list.get())
    if not is_there(id) then
      made[run_id] = nil
    else
      local index = vim.fn.getqflist({ id = id, idx = 0 }).idx
      vim.fn.setqflist({}, "r", { id = id, items = vim.tbl_map(item, edits), idx = math.min(index, #edits) })
    end
  end
end

return M
