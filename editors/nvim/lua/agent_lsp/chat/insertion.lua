--- Writes segments between those that a chat's buffer has already. No window sees its text move.
local M = {}

local decor = require("agent_lsp.chat.decor")
local folds = require("agent_lsp.chat.folds")
local growth = require("agent_lsp.chat.growth")

local api = vim.api

---@param buf integer
---@return table<integer, vim.fn.winsaveview.ret> by window
local function looks(buf)
  local seen = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    seen[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return seen
end

--- Has each window show what it showed.
---@param seen table<integer, vim.fn.winsaveview.ret>
---@param row integer the last one above what was inserted, from 1; of the top: 0
---@param added integer rows
local function restore(seen, row, added)
  for win, look in pairs(seen) do
    if api.nvim_win_is_valid(win) then
      look.lnum = look.lnum > row and look.lnum + added or look.lnum
      look.topline = look.topline > row and look.topline + added or look.topline
      api.nvim_win_call(win, function()
        vim.fn.winrestview(look)
      end)
    end
  end
end

--- Where the selection begins that somebody is making in this buffer, nil if nobody does.
---@param buf integer
---@return [integer, integer]? row, from 1, and column
local function selected(buf)
  local mode = vim.fn.mode()
  if api.nvim_get_current_buf() == buf and (mode == "v" or mode == "V" or mode == "\22") then
    local start = vim.fn.getpos("v")
    return { start[2], start[3] - 1 }
  end
end

--- Moves the beginning of the selection, which follows no change of the text by itself.
---@param start [integer, integer]
local function reselect(start)
  vim.cmd("normal! o")
  api.nvim_win_set_cursor(0, start)
  vim.cmd("normal! o")
end

--- Writes the segments in one go; says where each of them is.
---@param view agent.View
---@param inserted agent.Inserted
---@return integer[][] places row, column, end row and end column
local function write(view, inserted)
  local row, col, places, after_at = 0, 0, {}, nil
  if inserted.after then
    after_at = { view:place(inserted.after) }
    row, col = after_at[3], after_at[4]
  end
  local at = growth.cursor(row, col)
  for index, segment in ipairs(inserted.segments) do
    local start_row, start_col = at:advance(segment.lead)
    local end_row, end_col = at:advance(table.concat(segment.pieces))
    places[index] = { start_row, start_col, end_row, end_col }
  end
  at:advance(inserted.gap)
  api.nvim_buf_set_text(view.buf, row, col, row, col, vim.split(at:text(), "\n", { plain = true }))
  view.writes = view.writes + 1
  if inserted.after then -- its end was pushed along
    view:mark(inserted.after, unpack(after_at))
  end
  for index, segment in ipairs(inserted.segments) do
    view:mark(segment, unpack(places[index]))
  end
  return places
end

--- Writes what was put into the model; what is queued goes first, so that buffer and model are one.
---@param view agent.View
---@param inserted agent.Inserted
function M.make(view, inserted)
  view:flush()
  if not api.nvim_buf_is_loaded(view.buf) then
    return -- it is rendered whole when it is read
  end
  local seen, lines, start = looks(view.buf), api.nvim_buf_line_count(view.buf), selected(view.buf)
  local row = 0
  if inserted.after then
    row = select(2, view:rows(inserted.after)) + 1
  end
  local places = {}
  view:write(function()
    places = write(view, inserted)
  end)
  for index, segment in ipairs(inserted.segments) do
    local place = places[index]
    if place then
      decor.dress(view, segment, place[1], place[3], "close")
      folds.make(view, segment, place[1], place[3])
    end
  end
  if inserted.after then
    local first, last = view:rows(inserted.after)
    decor.dress(view, inserted.after, first, last, "close")
    folds.make(view, inserted.after, first, last)
  end
  if inserted.follower then
    decor.dress_header(view.buf, inserted.follower, (view:rows(inserted.follower)))
  else
    view.tail = inserted.segments[#inserted.segments]
  end
  local added = api.nvim_buf_line_count(view.buf) - lines
  if start and start[1] > row then
    reselect({ start[1] + added, start[2] })
  end
  restore(seen, row, added)
end

return M
