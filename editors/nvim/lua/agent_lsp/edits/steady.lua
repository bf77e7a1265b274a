--- Keeps every window on its text while a buffer changes under it: the cursor, and the first line that is shown.
local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("agent_lsp_steady")

---@class agent.Stand where a window stands in a buffer; rows from 1, columns in bytes
---@field win integer
---@field cursor [integer, integer]
---@field top integer

---@param bufnr integer
---@return agent.Stand[]
local function stands(bufnr)
  return vim.tbl_map(function(win)
    return { win = win, cursor = api.nvim_win_get_cursor(win), top = vim.fn.line("w0", win) }
  end, vim.fn.win_findbuf(bufnr))
end

---@param stand agent.Stand
---@param cursor [integer, integer]
---@param top integer
local function restore(stand, cursor, top)
  if not api.nvim_win_is_valid(stand.win) then
    return
  end
  local bufnr = api.nvim_win_get_buf(stand.win)
  local last = api.nvim_buf_line_count(bufnr)
  local row = math.max(math.min(cursor[1], last), 1)
  local length = #(api.nvim_buf_get_lines(bufnr, row - 1, row, false)[1] or "")
  api.nvim_win_set_cursor(stand.win, { row, math.min(cursor[2], length) })
  top = math.max(math.min(top, last), 1)
  if vim.fn.line("w0", stand.win) ~= top then
    api.nvim_win_call(stand.win, function()
      vim.fn.winrestview({ topline = top })
    end)
  end
end

--- Calls `change`, which edits a buffer in places, so that marks follow. Returns what pcall does.
---@param bufnr integer
---@param change fun()
---@return boolean ok, any problem
function M.while_editing(bufnr, change)
  local before = stands(bufnr)
  for _, stand in ipairs(before) do
    stand.cursor_mark = api.nvim_buf_set_extmark(bufnr, namespace, stand.cursor[1] - 1, stand.cursor[2], {})
    stand.top_mark = api.nvim_buf_set_extmark(bufnr, namespace, stand.top - 1, 0, {})
  end
  local ok, problem = pcall(change)
  for _, stand in ipairs(before) do
    local cursor = api.nvim_buf_get_extmark_by_id(bufnr, namespace, stand.cursor_mark, {})
    local top = api.nvim_buf_get_extmark_by_id(bufnr, namespace, stand.top_mark, {})
    if cursor[1] and top[1] then
      restore(stand, { cursor[1] + 1, cursor[2] }, top[1] + 1)
    end
  end
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  return ok, problem
end

---@param hunks integer[][] as `vim.diff` gives them
---@param row integer from 1, in the old text
---@return integer row in the new one
local function moved(hunks, row)
  local shift = 0
  for _, hunk in ipairs(hunks) do
    local start, count, new_start, new_count = unpack(hunk)
    local first = count == 0 and start + 1 or start
    if row < first then
      break
    elseif row < first + count then
      return new_start + math.min(row - first, math.max(new_count - 1, 0))
    end
    shift = shift + new_count - count
  end
  return row + shift
end

--- Remembers where windows stand before the whole text of a buffer is replaced, as a reload does.
---@param bufnr integer
---@return fun() restore finds the lines again that are still there
function M.remember(bufnr)
  local before = stands(bufnr)
  local function text()
    return table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") .. "\n"
  end
  local old = #before > 0 and text() or ""
  return function()
    if #before == 0 or not api.nvim_buf_is_loaded(bufnr) then
      return
    end
    local new = text()
    if new == old then
      return
    end
    local hunks = vim.diff(old, new, { result_type = "indices" }) --[[@as integer[][] ]]
    for _, stand in ipairs(before) do
      restore(stand, { moved(hunks, stand.cursor[1]), stand.cursor[2] }, moved(hunks, stand.top))
    end
  end
end

return M
