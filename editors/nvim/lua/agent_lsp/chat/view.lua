--- Writes a conversation into a buffer: the only code that changes a chat's text.
---
---     model ──▶ changes ──▶ queue ──▶ flush, at most every 50 ms ──▶ one write at the end, one for each card that grows above it
---
--- An extmark holds where each segment is. Text is only ever added, at the end of a segment or between two, never rewritten.
local M = {}

local decor = require("agent_lsp.chat.decor")
local follow = require("agent_lsp.chat.follow")
local folds = require("agent_lsp.chat.folds")
local growth = require("agent_lsp.chat.growth")
local highlight = require("agent_lsp.chat.highlight")
local insertion = require("agent_lsp.chat.insertion")

local api = vim.api
local BATCH_MS = 50

---@class agent.View
---@field buf integer
---@field model agent.Model
---@field marks table<integer, integer> extmark of each segment that is in the buffer
---@field writes integer how often the buffer was written to
---@field private queue agent.Change[]
---@field tail? agent.Segment the last segment in the buffer
---@field private timer uv.uv_timer_t
---@field private flushed_ms number when the last flush was
---@field private is_waiting boolean whether the timer runs
---@field highlight agent.Highlight
---@field folded_in? table<integer, true> windows in which the folds have been made
local View = {}
View.__index = View

M.namespace = api.nvim_create_namespace("agent_lsp_segments")

local function now_ms()
  return vim.uv.hrtime() / 1e6
end

--- Shows `model` in `buf`, all of it now and what comes when it comes.
---@param buf integer
---@param model agent.Model
---@return agent.View
function M.new(buf, model)
  local self = setmetatable({
    buf = buf,
    queue = {},
    marks = {},
    writes = 0,
    flushed_ms = 0,
    is_waiting = false,
    timer = assert(vim.uv.new_timer()),
    highlight = highlight.new(buf),
  }, View)
  self:show(model)
  return self
end

--- Shows another model in place of the one so far.
---@param model agent.Model
function View:show(model)
  if self.model and self.model ~= model then
    self.model.watcher = nil
  end
  self.model = model
  self.queue, self.marks, self.tail = {}, {}, nil
  api.nvim_buf_clear_namespace(self.buf, M.namespace, 0, -1)
  decor.clear(self.buf)
  self.highlight:reset()
  self:write(function()
    api.nvim_buf_set_lines(self.buf, 0, -1, false, {})
  end)
  for _, segment in ipairs(model.segments) do
    self:_queue({ kind = "open", segment = segment })
    for _, piece in ipairs(segment.pieces) do
      self:_queue({ kind = "text", segment = segment, text = piece })
    end
    if not segment.open then
      self:_queue({ kind = "close", segment = segment })
    end
  end
  model.watcher = function(change)
    if change.kind == "insert" then
      return insertion.make(self, change.inserted)
    end
    self:_queue(change)
  end
  self:flush()
  folds.renew(self)
end

---@private
---@param change agent.Change
function View:_queue(change)
  self.queue[#self.queue + 1] = change
end

--- Ends it; the buffer may be gone.
function View:close()
  self.model.watcher = nil
  if not self.timer:is_closing() then
    self.timer:stop()
    self.timer:close()
  end
end

--- Called when something may have been queued: flushes now if the last flush is long enough ago, else soon. A pipe that is
--- never empty starves timers, so that a flush must not depend on them alone.
function View:poke()
  local left = BATCH_MS - (now_ms() - self.flushed_ms)
  if left <= 0 then
    return self:flush()
  elseif not self.is_waiting and not self.timer:is_closing() then
    self.is_waiting = true
    self.timer:start(
      math.ceil(left),
      0,
      vim.schedule_wrap(function()
        self.is_waiting = false
        self:poke() -- a notification may have flushed in the meantime
      end)
    )
  end
end

-- Flushing -------------------------------------------------------------------------------------------------------------

--- Writes what is queued.
function View:flush()
  self.flushed_ms = now_ms()
  if #self.queue == 0 or not api.nvim_buf_is_loaded(self.buf) then
    return
  end
  local following = follow.windows(self.buf)
  local tail, inner, touched = growth.sorted(self.queue, self.tail)
  self.queue = {}
  self:write(function()
    for _, one in ipairs(inner) do
      self:_grow_inside(one)
    end
    if #tail > 0 then
      self:_grow_tail(tail)
    end
  end)
  self.highlight:grown(tail, inner)
  -- headers first: a window that has placed its cursor does not look again at what virtual lines push out of it
  for segment, change in pairs(touched) do
    self:_dress(segment, change)
  end
  follow.move(self.buf, following)
  for segment in pairs(touched) do
    self:_ended(segment)
  end
end

---@private
---@param segment agent.Segment
---@param change agent.Change
function View:_dress(segment, change)
  local row, end_row = self:rows(segment)
  if row and end_row then
    decor.dress(self, segment, row, end_row, change.kind)
  end
end

---@private
---@param segment agent.Segment
function View:_ended(segment)
  local row, end_row = self:rows(segment)
  if row and end_row and not segment.open then
    self.highlight:closed(segment)
    folds.make(self, segment, row, end_row)
  end
end

--- Runs `change` with the buffer modifiable; whatever happens, it is locked again.
---@param change fun()
function View:write(change)
  local buf = self.buf
  vim.bo[buf].modifiable = true
  local ok, problem = pcall(change)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if not ok then
    require("agent_lsp.log").error(("chat %d: %s"):format(buf, problem))
  end
end

---@private
---@param one agent.Growth
function View:_grow_inside(one)
  local _, _, end_row, end_col = self:place(one.segment)
  if end_row then
    local lines = vim.split(table.concat(one.pieces), "\n", { plain = true })
    api.nvim_buf_set_text(self.buf, end_row, end_col, end_row, end_col, lines)
    self.writes = self.writes + 1
  end
end

--- One write at the end of the buffer, for any number of segments.
---@private
---@param tail agent.Growth[]
function View:_grow_tail(tail)
  local buf = self.buf
  local row = api.nvim_buf_line_count(buf) - 1
  local col = #api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local at = growth.cursor(row, col)
  local places = {}
  if self.tail and tail[1].segment ~= self.tail then -- what follows must not push its end along
    local start_row, start_col = self:place(self.tail)
    places[1] = { self.tail, start_row, start_col, row, col }
  end
  for _, one in ipairs(tail) do
    local start_row, start_col
    if one.is_new then
      start_row, start_col = at:advance(one.segment.lead)
    else
      start_row, start_col = self:place(one.segment)
    end
    local end_row, end_col = at:advance(table.concat(one.pieces))
    places[#places + 1] = { one.segment, start_row, start_col, end_row, end_col }
  end
  api.nvim_buf_set_text(buf, row, col, row, col, vim.split(at:text(), "\n", { plain = true }))
  self.writes = self.writes + 1
  for _, place in ipairs(places) do
    self:mark(place[1], place[2], place[3], place[4], place[5])
  end
  self.tail = tail[#tail].segment
end

--- Says where a segment is, 0-based, the end exclusive.
---@param segment agent.Segment
---@param row integer
---@param col integer
---@param end_row integer
---@param end_col integer
function View:mark(segment, row, col, end_row, end_col)
  self.marks[segment.id] = api.nvim_buf_set_extmark(self.buf, M.namespace, row, col, {
    id = self.marks[segment.id],
    end_row = end_row,
    end_col = end_col,
    right_gravity = false,
    end_right_gravity = true,
    hl_group = decor.body_group(segment),
    hl_eol = decor.body_group(segment) == "AgentThinking",
    strict = false,
  })
end

-- Where things are -----------------------------------------------------------------------------------------------------

--- Where a segment is, 0-based, the end exclusive; nil if it is not in the buffer.
---@param segment agent.Segment
---@return integer? row, integer? col, integer? end_row, integer? end_col
function View:place(segment)
  local id = self.marks[segment.id]
  if not id then
    return nil
  end
  local mark = api.nvim_buf_get_extmark_by_id(self.buf, M.namespace, id, { details = true })
  if not mark[1] then
    return nil
  end
  return mark[1], mark[2], mark[3].end_row, mark[3].end_col
end

--- The first and last row of a segment, 0-based.
---@param segment agent.Segment
---@return integer? row, integer? end_row
function View:rows(segment)
  local row, _, end_row = self:place(segment)
  return row, end_row
end

--- The segment at a row, 0-based.
---@param row integer
---@return agent.Segment?
function View:at(row)
  local low, high = 1, #self.model.segments
  local found
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local start = self:rows(self.model.segments[middle])
    if not start or start > row then
      high = middle - 1
    else
      found, low = self.model.segments[middle], middle + 1
    end
  end
  return found
end

return M
