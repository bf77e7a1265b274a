--- Tree-sitter's Markdown for a chat, within limits: what grows for long without an end is highlighted when it has ended.
local M = {}

local MOST_LINE_BYTES = 2000
local MOST_BLOCK_LINES = 1000
-- Each write leaves syntax trees behind, outside of the memory that the collector counts: measured, 70 MB a minute. So much
-- of a collection with each write, a few tenths of a millisecond however large the heap is, keeps up with that.
local COLLECT_KB = 200

---@class agent.Block the part of a segment that grows: a fence, or what is between blank lines
---@field lines integer
---@field bytes integer of its last line
---@field carry string the beginning of its last line
---@field fence? string what closes it

---@class agent.Highlight
---@field buf integer
---@field private wanted boolean whether a window has shown the buffer
---@field private running boolean
---@field private growing table<agent.Segment, agent.Block> per open segment: its last block
---@field private over table<agent.Segment, true> what is over the limits
local Highlight = {}
Highlight.__index = Highlight

---@param buf integer
---@return agent.Highlight
function M.new(buf)
  return setmetatable({ buf = buf, wanted = false, running = false, growing = {}, over = {} }, Highlight)
end

--- Nothing is in the buffer any more.
function Highlight:reset()
  self.growing, self.over = {}, {}
  self:_settle()
end

--- A window shows the buffer: from now on it is highlighted.
function Highlight:want()
  self.wanted = true
  self:_settle()
end

--- Lines that Markdown's query hides whole (fences) are looked for with a blocking parse whenever the height of a line is
--- asked for, so for each line of the window after each write: measured, two thirds of all time. Our own marks hide fences.
---@param buf integer
local function without_hidden_lines(buf)
  local highlighter = vim.treesitter.highlighter.active[buf]
  if highlighter and rawget(highlighter, "_conceal_line") then
    rawset(highlighter, "_conceal_line", false)
  end
end

---@private
function Highlight:_settle()
  local wanted = self.wanted and next(self.over) == nil
  if wanted == self.running or not vim.api.nvim_buf_is_loaded(self.buf) then
    return
  end
  self.running = wanted
  if wanted then
    local ok = pcall(vim.treesitter.start, self.buf, "markdown")
    self.wanted = ok
    without_hidden_lines(self.buf)
  else
    vim.treesitter.stop(self.buf)
  end
end

---@param block agent.Block
---@param line string
local function end_line(block, line)
  local mark = line:match("^%s*(```+)") or line:match("^%s*(~~~+)")
  if mark and not block.fence then
    block.fence, block.lines = mark, 0
  elseif mark and line:match("^%s*[`~]+%s*$") and vim.startswith(mark, block.fence) then
    block.fence, block.lines = nil, 0
  elseif not block.fence and line:match("^%s*$") then
    block.lines = 0
  else
    block.lines = block.lines + 1
  end
  block.bytes = 0
end

---@private
---@param growth agent.Growth
function Highlight:_grown(growth)
  local segment = growth.segment
  if not segment.open then
    return
  end
  local block = self.growing[segment] or { lines = 0, bytes = 0, carry = "" }
  self.growing[segment] = block
  local text = table.concat(growth.pieces)
  local from = 1
  for position in text:gmatch("()\n") do
    end_line(block, block.carry .. text:sub(from, position - 1))
    from, block.carry = position + 1, ""
  end
  block.bytes = block.bytes + #text - from + 1
  -- of a line that is still growing only the start can matter: whether it is a fence
  block.carry = (block.carry .. text:sub(from, from + 80)):sub(1, 80)
  local is_over = block.bytes >= MOST_LINE_BYTES or block.lines >= MOST_BLOCK_LINES
  self.over[segment] = (self.over[segment] or is_over) or nil
end

--- Text was added to these segments.
---@param tail agent.Growth[]
---@param inner agent.Growth[]
function Highlight:grown(tail, inner)
  for _, growth in ipairs(tail) do
    self:_grown(growth)
  end
  for _, growth in ipairs(inner) do
    self:_grown(growth)
  end
  self:_settle()
  if self.running then
    collectgarbage("step", COLLECT_KB)
  end
end

--- A segment has ended.
---@param segment agent.Segment
function Highlight:closed(segment)
  self.growing[segment], self.over[segment] = nil, nil
  self:_settle()
end

return M
