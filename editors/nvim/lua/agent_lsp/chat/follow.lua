--- Windows follow what is written if their cursor was on the last line; nothing else moves them.
local M = {}

local api = vim.api
local MOVABLE = { n = true, i = true, c = true, t = true }

--- The windows whose cursor is on the last line of a buffer.
---@param buf integer
---@return integer[]
function M.windows(buf)
  local last = api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
end

--- Moves the cursor of windows to the end of the last line, but not while the person selects or operates there.
---@param buf integer
---@param windows integer[]
function M.move(buf, windows)
  local last = api.nvim_buf_line_count(buf)
  local bytes = api.nvim_buf_get_offset(buf, last) - api.nvim_buf_get_offset(buf, last - 1)
  local mode = api.nvim_get_mode().mode
  local is_held = not MOVABLE[mode:sub(1, 1)] or mode:sub(1, 2) == "no"
  for _, win in ipairs(windows) do
    if api.nvim_win_is_valid(win) and not (is_held and win == api.nvim_get_current_win()) then
      api.nvim_win_set_cursor(win, { last, math.max(0, bytes - 2) })
    end
  end
end

return M
