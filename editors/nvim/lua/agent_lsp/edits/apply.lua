--- `workspace/applyEdit`: one undo step in each buffer, windows stay where they are, and nothing ever asks the person.
local M = {}

local buffers = require("agent_lsp.edits.buffers")
local events = require("agent_lsp.events")
local steady = require("agent_lsp.edits.steady")

---@class agent.BufferEdit
---@field bufnr integer
---@field uri string
---@field edits lsp.TextEdit[]

---@param bufnr integer
---@return string? reason
local function refusal(bufnr)
  if not vim.bo[bufnr].modifiable then
    return "the buffer is not modifiable"
  elseif vim.bo[bufnr].readonly then
    return "the buffer is read-only"
  elseif vim.bo[bufnr].buftype ~= "" and vim.bo[bufnr].buftype ~= "acwrite" then
    return ("the buffer is no file but a %s"):format(vim.bo[bufnr].buftype)
  end
end

---@param uri string
---@param version? integer
---@param edits lsp.TextEdit[]
---@return agent.BufferEdit? edit, string? reason
local function judge(uri, version, edits)
  local bufnr = buffers.loaded(uri)
  local reason
  if not bufnr then
    reason = "it is not loaded in the editor"
  elseif type(version) == "number" and version > 0 and vim.lsp.util.buf_versions[bufnr] > version then
    reason = "its text has changed meanwhile"
  else
    reason = refusal(bufnr)
  end
  if reason then
    return nil, ("%s: %s"):format(buffers.readable(uri), reason)
  end
  return {
    bufnr = bufnr --[[@as integer]],
    uri = uri,
    edits = edits,
  }
end

--- All buffers of an edit, or why it cannot be made: nothing is done by halves.
---@param edit lsp.WorkspaceEdit
---@return agent.BufferEdit[]? plan, string? reason
local function plan(edit)
  local steps = {}
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.kind then
      return nil, ("the editor does not %s files for an edit"):format(change.kind)
    end
    steps[#steps + 1] = { change.textDocument.uri, change.textDocument.version, change.edits }
  end
  if not edit.documentChanges then
    for uri, edits in pairs(edit.changes or {}) do
      steps[#steps + 1] = { uri, nil, edits }
    end
  end
  local planned = {}
  for _, step in ipairs(steps) do
    local one, reason = judge(step[1], step[2], step[3])
    if not one then
      return nil, reason
    end
    planned[#planned + 1] = one
  end
  return planned
end

--- Ends the present undo step, also in the midst of an insert.
---@param bufnr integer
local function break_undo(bufnr)
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
end

---@param step agent.BufferEdit
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return string? problem
local function make(step, encoding)
  local listed = vim.bo[step.bufnr].buflisted
  for _, edit in ipairs(step.edits) do
    edit.annotationId = nil -- from 0.12 on Neovim would want to confirm it with the person
  end
  break_undo(step.bufnr)
  local ok, problem = steady.while_editing(step.bufnr, function()
    vim.lsp.util.apply_text_edits(step.edits, step.bufnr, encoding)
  end)
  break_undo(step.bufnr)
  if vim.bo[step.bufnr].buflisted ~= listed then
    vim.bo[step.bufnr].buflisted = listed
  end
  return not ok and tostring(problem) or nil
end

--- Makes an edit. One that reaches a buffer which cannot take it is refused as a whole, with the reason.
---@param params lsp.ApplyWorkspaceEditParams
---@param ctx lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.handle(params, ctx)
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  local steps, reason = plan(params.edit)
  if not steps then
    return { applied = false, failureReason = reason }
  end
  for _, step in ipairs(steps) do
    local problem = make(step, client.offset_encoding)
    if problem then
      return { applied = false, failureReason = problem }
    end
  end
  vim.schedule(function()
    for _, step in ipairs(steps) do
      events.announce("AgentEdit", { bufnr = step.bufnr, uri = step.uri, label = params.label })
    end
  end)
  return { applied = true }
end

return M
