--- Where the floats of questions stand, and how large they are: as their text needs, within what the screen has.
local M = {}

local api = vim.api

---@alias agent.Corner "top"|"bottom" at the right edge

local LEAST_WIDTH, MOST_WIDTH = 50, 110
local MOST_SHARE = 0.6
local PADDING = 1
local ZINDEX = 45 -- below what the person opens

---@return integer rows, integer top free for floats, and the first of them
local function room()
  local tabline = (vim.o.showtabline == 2 or (vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1)) and 1 or 0
  local below = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return math.max(vim.o.lines - tabline - below, 3), tabline
end

--- The corner where the person is not at work.
---@return agent.Corner
function M.free_corner()
  local win = api.nvim_get_current_win()
  local info = vim.fn.getwininfo(win)[1]
  local row = info.winrow + vim.fn.line(".", win) - info.topline
  return row > vim.o.lines / 2 and "top" or "bottom"
end

---@param face agent.Face
---@return integer
local function wanted_width(face)
  local widest = math.max(LEAST_WIDTH, vim.fn.strdisplaywidth(face.title) + 4)
  local hints = 2
  for _, hint in ipairs(face.hints) do
    hints = hints + vim.fn.strdisplaywidth(hint[1] .. hint[2]) + 3
  end
  widest = math.max(widest, hints)
  for _, line in ipairs(face.lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line) + 1 + PADDING)
  end
  local most = math.max(math.min(MOST_WIDTH, vim.o.columns - 4), 10)
  return math.min(widest, most)
end

---@param face agent.Face
---@param width integer
---@return integer
local function wanted_height(face, width)
  local height = 0
  for _, line in ipairs(face.lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / (width - PADDING)))
  end
  return height
end

--- Where a float goes that stands above, or below, those that have taken `offset` rows.
---@param face agent.Face
---@param offset integer
---@param corner agent.Corner
---@return vim.api.keyset.win_config config, integer taken with it
function M.place(face, offset, corner)
  local rows, top = room()
  local width = wanted_width(face)
  local most = math.max(math.floor(rows * MOST_SHARE) - 2, 1)
  local left = math.max(rows - offset - 2, 3)
  local height = math.min(wanted_height(face, width), most, left)
  local taken = offset + height + 2
  local row = corner == "bottom" and top + rows - taken or top + offset
  return {
    relative = "editor",
    row = math.max(row, 0),
    col = vim.o.columns - width - 2,
    width = width,
    height = height,
    zindex = ZINDEX,
  },
    taken
end

--- Keys and what they do, for the lower border.
---@param hints [string, string][]
---@return [string, string][] chunks
function M.footer(hints)
  local chunks = { { " ", "AgentApprovalHint" } }
  for _, hint in ipairs(hints) do
    chunks[#chunks + 1] = { hint[1], "AgentApprovalKey" }
    chunks[#chunks + 1] = { " " .. hint[2] .. "  ", "AgentApprovalHint" }
  end
  return chunks
end

--- What stands before each line of a float, so that text does not touch the border.
M.padding = (" "):rep(PADDING)

--- The person's border, if a title can stand in it.
---@return string
function M.border()
  local wanted = vim.o.winborder
  return vim.list_contains({ "single", "double", "solid", "bold" }, wanted) and wanted or "rounded"
end

return M
