--- What was written but not sent, and what was sent: a file a session, below `stdpath("state")`.
local M = {}

local config = require("agent_lsp.config")
local log = require("agent_lsp.log")

---@class agent.Draft
---@field text string
---@field history string[] oldest first
---@field parked? string what was being written when the history was entered

---@param session_id string
---@return string
local function path(session_id)
  local name = session_id:gsub("[^%w%-_.]", "_")
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "agent_lsp", "drafts", name .. ".json")
end

---@type table<string, agent.Draft>
local drafts = {}

--- The draft of a session; what is changed in it is kept by `save`.
---@param session_id string
---@return agent.Draft
function M.of(session_id)
  local known = drafts[session_id]
  if known then
    return known
  end
  local draft = { text = "", history = {} }
  local file = io.open(path(session_id), "r")
  if file then
    local ok, read = pcall(vim.json.decode, file:read("a"))
    file:close()
    if ok and type(read) == "table" and type(read.text) == "string" and vim.islist(read.history or {}) then
      draft = { text = read.text, history = read.history or {} }
    end
  end
  drafts[session_id] = draft
  return draft
end

--- Writes the draft to the disk, whole or not at all.
---@param session_id string
function M.save(session_id)
  local draft = M.of(session_id)
  local target = path(session_id)
  if draft.text == "" and #draft.history == 0 and not vim.uv.fs_stat(target) then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(target), "p", tonumber("700", 8))
  local temporary = target .. ".new"
  local file, problem = io.open(temporary, "w")
  if not file then
    return log.error("the draft could not be saved: " .. problem)
  end
  local written, why = file:write(vim.json.encode({ text = draft.text, history = draft.history }))
  file:close()
  if not written then
    return log.error("the draft could not be saved: " .. tostring(why))
  end
  local renamed, failure = vim.uv.fs_rename(temporary, target)
  if not renamed then
    log.error("the draft could not be saved: " .. tostring(failure))
  end
end

--- Remembers what was sent, the newest last, once.
---@param session_id string
---@param text string
function M.remember(session_id, text)
  local draft = M.of(session_id)
  draft.history = vim.tbl_filter(function(one)
    return one ~= text
  end, draft.history)
  table.insert(draft.history, text)
  while #draft.history > config.get().prompt.history do
    table.remove(draft.history, 1)
  end
  M.save(session_id)
end

--- Forgets a session that was deleted.
---@param session_id string
function M.forget(session_id)
  drafts[session_id] = nil
  vim.uv.fs_unlink(path(session_id))
end

return M
