--- What an approval looks like: the lines of its float and their highlights. Pure.
local M = {}

local diff = require("agent_lsp.approval.diff")

---@class agent.Face
---@field title string
---@field lines string[]
---@field marks agent.FaceMark[]
---@field hints [string, string][] keys and what they do, for the lower border

local HINTS = {
  { "a", "allow" },
  { "r", "always…" },
  { "d", "deny" },
  { "D", "deny and say why" },
  { "q", "later" },
  { "g?", "keys" },
}

---@param face agent.Face
---@param text string
---@param group? string
local function add(face, text, group)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    face.lines[#face.lines + 1] = line
    if group then
      face.marks[#face.marks + 1] = { row = #face.lines - 1, group = group, from = 0, to = #line }
    end
  end
end

---@param arguments string JSON, as the model wrote it
---@return string
local function readable(arguments)
  local ok, decoded = pcall(vim.json.decode, arguments)
  return ok and type(decoded) == "table" and vim.inspect(decoded) or arguments
end

---@type table<string, fun(face: agent.Face, preview: agent.Preview)>
local previews = {}

function previews.edit(face, preview)
  face.lines, face.marks = diff.render(preview.diff or "")
  if preview.created then
    face.title = face.title .. " (new file)"
  end
end

function previews.command(face, preview)
  add(face, preview.command or "", "AgentCommand")
  add(face, "in " .. vim.fn.fnamemodify(preview.cwd or "", ":~"), "AgentApprovalHint")
end

function previews.text(face, preview)
  add(face, preview.text or "")
end

--- An approval as it is put first.
---@param params agent.ApproveParams
---@return agent.Face
function M.approval(params)
  local face = { title = params.title, lines = {}, marks = {}, hints = {} }
  local render = params.preview and previews[params.preview.kind]
  if render then
    render(face, params.preview)
  else
    add(face, readable(params.toolCall.arguments))
  end
  if params.origin and #params.origin > 0 then
    add(face, "asked by a subagent", "AgentApprovalHint")
  end
  face.hints = vim.tbl_filter(function(hint)
    return hint[1] ~= "r" or #(params.remember or {}) > 0
  end, HINTS)
  return face
end

--- The rules by which it can be allowed from now on, numbered, below the approval itself.
---@param params agent.ApproveParams
---@return agent.Face
function M.rules(params)
  local face = M.approval(params)
  add(face, "")
  add(face, "allow this, and from now on without asking:", "AgentApprovalHint")
  for number, offer in ipairs(params.remember or {}) do
    add(face, ("  %d  %s"):format(number, offer.label))
    local row = #face.lines - 1
    face.marks[#face.marks + 1] = { row = row, group = "AgentApprovalKey", from = 2, to = 3 }
  end
  face.hints = { { "1-" .. #(params.remember or {}), "allow by this rule" }, { "r", "back" }, { "q", "later" } }
  return face
end

--- A question of the model's with its options numbered; `chosen` are those that are ticked so far.
---@param params agent.AskParams
---@param chosen table<integer, true>
---@return agent.Face
function M.question(params, chosen)
  local face = { title = "the agent asks", lines = {}, marks = {}, hints = {} }
  add(face, params.question)
  local options = params.options or {}
  if #options > 0 then
    add(face, "")
  end
  for number, option in ipairs(options) do
    local tick = params.multiple and (chosen[number] and "[x] " or "[ ] ") or ""
    local key = number <= 9 and tostring(number) or " "
    add(face, ("  %s  %s%s"):format(key, tick, (option:gsub("%s*\n%s*", " "))))
    local row = #face.lines - 1
    face.marks[#face.marks + 1] = { row = row, group = "AgentApprovalKey", from = 2, to = 3 }
    if chosen[number] then
      face.marks[#face.marks + 1] = { row = row, group = "AgentApprovalChoice", from = 5, to = #face.lines[row + 1] }
    end
  end
  face.hints = { { "i", "answer in words" }, { "x", "no answer" }, { "q", "later" }, { "g?", "keys" } }
  if #options > 0 then
    table.insert(face.hints, 1, { "1-" .. math.min(#options, 9), params.multiple and "tick" or "choose" })
  end
  if params.multiple then
    table.insert(face.hints, 2, { "<CR>", "answer" })
  end
  return face
end

return M
