--- A unified diff as lines with highlights: what was added and removed, and within a changed line the part that differs.
local M = {}

---@class agent.FaceMark a highlight: of the line if `to` is left out, else of its bytes `from` to `to`
---@field row integer from 0
---@field group string
---@field from? integer
---@field to? integer

---@param one string
---@param other string
---@return integer prefix, integer suffix bytes in common at both ends, whole characters
local function common(one, other)
  local shorter = math.min(#one, #other)
  local prefix = 0
  while prefix < shorter and one:byte(prefix + 1) == other:byte(prefix + 1) do
    prefix = prefix + 1
  end
  local suffix = 0
  while suffix < shorter - prefix and one:byte(#one - suffix) == other:byte(#other - suffix) do
    suffix = suffix + 1
  end
  local function is_inside(byte)
    return byte and byte >= 0x80 and byte < 0xC0
  end
  while prefix > 0 and (is_inside(one:byte(prefix + 1)) or is_inside(other:byte(prefix + 1))) do
    prefix = prefix - 1
  end
  while suffix > 0 and is_inside(one:byte(#one - suffix + 1)) do
    suffix = suffix - 1
  end
  return prefix, suffix
end

---@param lines string[]
---@param removed integer[] rows
---@param added integer[] rows
---@param marks agent.FaceMark[]
local function mark_changed_parts(lines, removed, added, marks)
  if #removed ~= #added then
    return
  end
  for index, row in ipairs(removed) do
    local old, new = lines[row + 1]:sub(2), lines[added[index] + 1]:sub(2)
    local prefix, suffix = common(old, new)
    if prefix + suffix > 0 then
      for _, side in ipairs({ { row, old }, { added[index], new } }) do
        local from, to = 1 + prefix, 1 + #side[2] - suffix
        if to > from then
          marks[#marks + 1] = { row = side[1], group = "AgentDiffText", from = from, to = to }
        end
      end
    end
  end
end

--- The hunks of a diff. The two lines that name the file are left out: the title has it.
---@param diff string
---@return string[] lines, agent.FaceMark[] marks
function M.render(diff)
  local lines, marks = {}, {}
  local removed, added = {}, {}
  local function settle()
    mark_changed_parts(lines, removed, added, marks)
    removed, added = {}, {}
  end
  local in_hunk = false
  for _, line in ipairs(vim.split(diff:gsub("\n$", ""), "\n", { plain = true })) do
    local first = line:sub(1, 1)
    in_hunk = in_hunk or vim.startswith(line, "@@")
    if in_hunk or not (vim.startswith(line, "--- ") or vim.startswith(line, "+++ ")) then
      local row = #lines
      lines[row + 1] = line
      if first == "-" and #added == 0 then
        removed[#removed + 1] = row
      elseif first == "+" then
        added[#added + 1] = row
      else
        settle()
      end
      local group = ({ ["-"] = "AgentDiffDelete", ["+"] = "AgentDiffAdd", ["@"] = "AgentDiffPlace" })[first]
      if group then
        marks[#marks + 1] = { row = row, group = group }
      end
    end
  end
  settle()
  return lines, marks
end

return M
