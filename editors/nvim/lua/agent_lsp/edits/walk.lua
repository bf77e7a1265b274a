--- From one of the agent's edits to the next, across files.
local M = {}

local api = vim.api
local buffers = require("agent_lsp.edits.buffers")
local list = require("agent_lsp.edits.list")
local log = require("agent_lsp.log")
local marks = require("agent_lsp.edits.marks")

--- The files with pending edits, in the order in which they were first edited; not those that are deleted.
---@return string[] uris
local function files()
  local uris, seen = {}, {}
  for _, edit in ipairs(list.pending()) do
    if not seen[edit.uri] then
      seen[edit.uri] = true
      if buffers.loaded(edit.uri) or vim.uv.fs_stat(vim.uri_to_fname(edit.uri)) then
        uris[#uris + 1] = edit.uri
      end
    end
  end
  return uris
end

---@param bufnr integer
---@return agent.PlacedEdit[]
local function pending(bufnr)
  return vim.tbl_filter(function(one)
    return one.edit.state == "pending"
  end, marks.placed(bufnr))
end

--- An ordinary window, for a file: the current one unless it is bound to something else.
---@return integer win
local function window()
  local current = api.nvim_get_current_win()
  local function is_ordinary(win)
    local is_float = api.nvim_win_get_config(win).relative ~= ""
    return not is_float and not vim.wo[win].winfixbuf and vim.bo[api.nvim_win_get_buf(win)].buftype == ""
  end
  if is_ordinary(current) then
    return current
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if is_ordinary(win) then
      return win
    end
  end
  vim.cmd("topleft vertical new")
  vim.bo.bufhidden = "wipe"
  return api.nvim_get_current_win()
end

---@param uri string
---@return integer? bufnr
local function open(uri)
  local name = vim.uri_to_fname(uri)
  api.nvim_set_current_win(window())
  if api.nvim_buf_get_name(0) ~= name then
    local ok, problem = pcall(vim.cmd.edit, { args = { name }, magic = { file = false, bar = false } })
    if not ok then -- unsaved changes without 'hidden'
      log.tell((tostring(problem):gsub("^.-Vim%(%a+%):", "")), vim.log.levels.ERROR)
      return nil
    end
  end
  local bufnr = api.nvim_get_current_buf()
  marks.draw(bufnr)
  return bufnr
end

---@param edit agent.PlacedEdit
local function go(edit)
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { edit.row + 1, edit.col })
  vim.cmd("normal! zv")
end

--- The nearest edit of the current buffer in a direction.
---@param direction 1|-1
---@return agent.PlacedEdit?
local function nearest(direction)
  local here = pending(api.nvim_get_current_buf())
  local at = api.nvim_win_get_cursor(0)
  local row, col = at[1] - 1, at[2]
  local from, to = 1, #here
  if direction < 0 then
    from, to = to, from
  end
  for index = from, to, direction do
    local edit = here[index]
    local is_beyond = edit.row > row or (edit.row == row and edit.col > col)
    local is_before = edit.row < row or (edit.row == row and edit.col < col)
    if direction > 0 and is_beyond or direction < 0 and is_before then
      return edit
    end
  end
end

---@param direction 1|-1
local function step(direction)
  local uris = files()
  if #uris == 0 then
    return log.tell("the agent has no edits that wait for you")
  end
  local edit = nearest(direction)
  if edit then
    return go(edit)
  end
  local here = vim.uri_from_bufnr(0)
  local at = direction > 0 and 0 or #uris + 1
  for index, uri in ipairs(uris) do
    at = uri == here and index or at
  end
  local bufnr = open(uris[(at - 1 + direction) % #uris + 1])
  local there = bufnr and pending(bufnr) or {}
  local target = direction > 0 and there[1] or there[#there]
  if target then
    go(target)
  end
end

--- To the next pending edit, the first one after the last.
function M.next()
  step(1)
end

--- To the one before.
function M.previous()
  step(-1)
end

return M
