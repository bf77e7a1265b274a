--- Manual folds of a chat: thinking and cards, made when they have ended, and made again for each window.
local M = {}

local config = require("agent_lsp.config")

local api = vim.api
local FOLDED = { thinking = true, summary = true, tool = true, block = true }
-- what is there to be seen
local PLANS = { todo_write = true, exit_plan = true }

---@param view agent.View
---@param segment agent.Segment
---@param row integer
---@param end_row integer
---@return integer? first, integer? last 0-based; nil if it is not to be folded
local function extent(view, segment, row, end_row)
  if segment.last and config.get().chat.fold then
    return row, (select(2, view:rows(segment.last)))
  elseif segment.tool and PLANS[segment.tool.name] then
    return nil
  elseif not config.get().chat.fold or segment.open or not FOLDED[segment.kind] or segment.bytes == 0 then
    return nil
  end
  local is_card = segment.kind == "tool" or segment.kind == "block"
  return is_card and row + 1 or row, end_row -- of a card the head stays, not the fence above it
end

---@param win integer
---@param row integer 0-based
---@param end_row integer
---@param last integer the last line of the buffer
local function fold(win, row, end_row, last)
  local cursor = api.nvim_win_get_cursor(win)[1]
  vim.cmd(("%d,%dfold"):format(row + 1, end_row + 1))
  if cursor > row and cursor <= end_row + 1 and cursor ~= last then -- somebody reads it
    vim.cmd(("%dfoldopen"):format(row + 1))
  end
end

--- Folds a segment that has ended, in the windows that show it.
---@param view agent.View
---@param segment agent.Segment
---@param row integer
---@param end_row integer
function M.make(view, segment, row, end_row)
  local first, final = extent(view, segment, row, end_row)
  if not first or not final then
    return
  end
  local last = api.nvim_buf_line_count(view.buf)
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    if vim.wo[win].foldmethod == "manual" and view.folded_in and view.folded_in[win] then
      api.nvim_win_call(win, function()
        fold(win, first, final, last)
      end)
    end
  end
end

--- Makes all folds of one window anew.
---@param view agent.View
---@param win integer
---@param has_old? boolean whether there may be folds of an earlier visit
function M.renew_in(view, win, has_old)
  view.folded_in = view.folded_in or {}
  view.folded_in[win] = true
  local last = api.nvim_buf_line_count(view.buf)
  api.nvim_win_call(win, function()
    local seen = vim.fn.winsaveview()
    if has_old then
      vim.cmd("normal! zE")
    end
    local outer = {}
    local function make(segment)
      local row, end_row = view:rows(segment)
      local first, final
      if row and end_row then
        first, final = extent(view, segment, row, end_row)
      end
      if first and final then
        fold(win, first, final, last)
      end
    end
    for _, segment in ipairs(view.model.segments) do
      if segment.last then
        outer[#outer + 1] = segment
      else
        make(segment)
      end
    end
    vim.iter(outer):each(make) -- within a fold that is closed none can be made
    vim.fn.winrestview(seen)
  end)
end

--- The same for every window that shows the buffer.
---@param view agent.View
function M.renew(view)
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    if vim.wo[win].foldmethod == "manual" then
      M.renew_in(view, win)
    end
  end
end

return M
