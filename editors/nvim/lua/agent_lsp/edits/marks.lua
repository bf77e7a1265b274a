--- Signs on the lines that the agent has changed, and above them, as virtual lines, what it has removed.
local M = {}

local api = vim.api
local list = require("agent_lsp.edits.list")
local client = require("agent_lsp.client")

local namespace = api.nvim_create_namespace("agent_lsp_edits")
local MOST_SIGNS, MOST_REMOVED = 2000, 200
local PRIORITY = 8

---@class agent.PlacedEdit where an edit is in a loaded buffer; rows from 0, columns in bytes, the end exclusive
---@field edit agent.StandingEdit
---@field row integer
---@field col integer
---@field end_row integer
---@field end_col integer

---@type table<integer, table<integer, agent.StandingEdit>> by buffer, then by extmark
local placed = {}

---@param bufnr integer
---@param position lsp.Position
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return integer row, integer column
local function bytes(bufnr, position, encoding)
  local row = math.min(position.line, api.nvim_buf_line_count(bufnr) - 1)
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  if position.line > row then
    return row, #line
  end
  return row, vim.str_byteindex(line, encoding, position.character, false)
end

--- The whole lines that an edit reaches into, as they were before and as they are.
---@param edit agent.PlacedEdit
---@param bufnr integer
---@return string old, string new
function M.texts(edit, bufnr)
  local lines = api.nvim_buf_get_lines(bufnr, edit.row, edit.end_row + 1, false)
  local before = (lines[1] or ""):sub(1, edit.col)
  local after = (lines[#lines] or ""):sub(edit.end_col + 1)
  return before .. edit.edit.oldText:gsub("\r\n?", "\n") .. after .. "\n", table.concat(lines, "\n") .. "\n"
end

---@param bufnr integer
---@param lines string[]
---@return [string, string][][]
local function removed(bufnr, lines)
  local shown = {}
  local tab = (" "):rep(vim.bo[bufnr].tabstop)
  for index, line in ipairs(lines) do
    if index > MOST_REMOVED then
      shown[#shown + 1] = { { ("… %d more lines"):format(#lines - MOST_REMOVED), "AgentApprovalHint" } }
      break
    end
    shown[#shown + 1] = { { (line:gsub("\t", tab)) .. " ", "AgentEditRemoved" } }
  end
  return shown
end

---@param bufnr integer
---@param row integer
---@param options vim.api.keyset.set_extmark
local function mark(bufnr, row, options)
  local last = api.nvim_buf_line_count(bufnr) - 1
  options.priority = PRIORITY
  api.nvim_buf_set_extmark(bufnr, namespace, math.max(math.min(row, last), 0), 0, options)
end

---@param bufnr integer
---@param edit agent.PlacedEdit
local function paint(bufnr, edit)
  local old, new = M.texts(edit, bufnr)
  local old_lines = vim.split(old, "\n", { plain = true })
  local hunks = vim.diff(old, new, { result_type = "indices" }) --[[@as integer[][] ]]
  for _, hunk in ipairs(hunks) do
    local start, count, new_start, new_count = unpack(hunk)
    local row = edit.row + (new_count == 0 and new_start or new_start - 1)
    for offset = 0, math.min(new_count, MOST_SIGNS) - 1 do
      mark(bufnr, row + offset, { sign_text = "▎", sign_hl_group = "AgentEditSign" })
    end
    if count > 0 then
      local gone = vim.list_slice(old_lines, start, start + count - 1)
      local options = { virt_lines = removed(bufnr, gone), virt_lines_above = true }
      if new_count == 0 then
        options.sign_text, options.sign_hl_group = "▁", "AgentEditRemovedSign"
      end
      mark(bufnr, row, options)
    end
  end
end

---@param bufnr integer
---@param edit agent.StandingEdit
---@param encoding "utf-8"|"utf-16"|"utf-32"
local function place(bufnr, edit, encoding)
  local row, col = bytes(bufnr, edit.range.start, encoding)
  local end_row, end_col = bytes(bufnr, edit.range["end"], encoding)
  local where = { edit = edit, row = row, col = col, end_row = end_row, end_col = end_col }
  local id =
    api.nvim_buf_set_extmark(bufnr, namespace, row, col, { end_row = end_row, end_col = end_col, strict = false })
  placed[bufnr][id] = edit
  if edit.state == "pending" then
    paint(bufnr, where)
  end
end

--- Shows the edits of a buffer as the list has them.
---@param bufnr integer
function M.draw(bufnr)
  local was_marked = placed[bufnr]
  local ready = client.get()
  if not api.nvim_buf_is_loaded(bufnr) or not (ready or was_marked) or vim.bo[bufnr].buftype ~= "" then
    return
  end
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  placed[bufnr] = nil
  if not ready or api.nvim_buf_get_name(bufnr) == "" then
    return
  end
  local uri = vim.uri_from_bufnr(bufnr)
  for _, edit in ipairs(list.get()) do
    if edit.uri == uri then
      placed[bufnr] = placed[bufnr] or {}
      place(bufnr, edit, ready.offset_encoding)
    end
  end
end

--- The edits of a buffer where they are now, from top to bottom.
---@param bufnr integer
---@return agent.PlacedEdit[]
function M.placed(bufnr)
  local found = {}
  for id, edit in pairs(placed[bufnr] or {}) do
    local mark_at = api.nvim_buf_get_extmark_by_id(bufnr, namespace, id, { details = true })
    if mark_at[1] then
      local details = mark_at[3] --[[@as vim.api.keyset.extmark_details]]
      found[#found + 1] = {
        edit = edit,
        row = mark_at[1],
        col = mark_at[2],
        end_row = details.end_row or mark_at[1],
        end_col = details.end_col or mark_at[2],
      }
    end
  end
  table.sort(found, function(one, other)
    return one.row < other.row or (one.row == other.row and one.col < other.col)
  end)
  return found
end

--- The rows of an edit, both inclusive: an end at the start of a line does not count that line.
---@param edit agent.PlacedEdit
---@return integer first, integer last
function M.rows(edit)
  local last = edit.end_col == 0 and edit.end_row > edit.row and edit.end_row - 1 or edit.end_row
  return edit.row, last
end

--- Draws whenever the list was read or a buffer was loaded.
function M.attach()
  list.listen(function()
    for _, bufnr in ipairs(api.nvim_list_bufs()) do
      M.draw(bufnr)
    end
  end)
  local group = api.nvim_create_augroup("agent_lsp_marks", {})
  api.nvim_create_autocmd("BufReadPost", {
    group = group,
    callback = function(event)
      vim.schedule(function()
        if api.nvim_buf_is_valid(event.buf) then
          M.draw(event.buf)
        end
      end)
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    callback = function(event)
      placed[event.buf] = nil
    end,
  })
end

return M
