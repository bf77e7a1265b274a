--- What a flush adds, sorted out: pure.
local M = {}

---@class agent.Growth what one flush adds to one segment
---@field segment agent.Segment
---@field is_new boolean
---@field pieces string[]

--- Changes by where they go: into the last segment and those behind it, in order, or into others that still grow.
--- `touched` has of each segment the change that its marks have to follow.
---@param queue agent.Change[]
---@param last? agent.Segment the last one in the buffer
---@return agent.Growth[] tail, agent.Growth[] inner, table<agent.Segment, agent.Change> touched
function M.sorted(queue, last)
  local tail, inner, by_segment, touched = {}, {}, {}, {}
  for _, change in ipairs(queue) do
    local segment = change.segment
    if change.kind == "open" then
      tail[#tail + 1] = { segment = segment, is_new = true, pieces = {} }
      by_segment[segment] = tail[#tail]
      touched[segment] = change
    elseif change.kind == "text" then
      local growth = by_segment[segment]
      if not growth then
        growth = { segment = segment, is_new = false, pieces = {} }
        by_segment[segment] = growth
        if segment == last then
          table.insert(tail, 1, growth)
        else
          inner[#inner + 1] = growth
        end
      end
      growth.pieces[#growth.pieces + 1] = change.text
    end
    if change.kind == "close" or (change.kind == "mark" and not touched[segment]) then
      touched[segment] = change
    end
  end
  return tail, inner, touched
end

---@class agent.Cursor where text that is collected will end
---@field private row integer
---@field private col integer
---@field private parts string[]
local Cursor = {}
Cursor.__index = Cursor

--- Begins to collect text for a place.
---@param row integer 0-based
---@param col integer bytes
---@return agent.Cursor
function M.cursor(row, col)
  return setmetatable({ row = row, col = col, parts = {} }, Cursor)
end

--- Collects text; says where it ends.
---@param text string
---@return integer row, integer col
function Cursor:advance(text)
  self.parts[#self.parts + 1] = text
  local from, newlines = 1, 0
  for position in text:gmatch("()\n") do
    newlines, from = newlines + 1, position + 1
  end
  self.row = self.row + newlines
  self.col = newlines > 0 and #text - from + 1 or self.col + #text
  return self.row, self.col
end

--- All that was collected.
---@return string
function Cursor:text()
  return table.concat(self.parts)
end

return M
