--- From the words of a prompt to an input: what is mentioned with `@`, and images whose path stands there, become parts.
local M = {}

local context = require("agent_lsp.prompt.context")

local api = vim.api

--- The mentions that are not files, and what they stand for.
M.NAMED = {
  buffer = "the file that you were in",
  selection = "what you selected there last",
  diagnostics = "what is wrong in it",
  quickfix = "the quickfix list",
}

---@type table<string, fun(): agent.InputPart?>
local named = {}

function named.buffer()
  local buf = context.file_buffer()
  return buf and context.buffer_part(buf)
end

function named.selection()
  local buf = context.file_buffer()
  local chosen = buf and context.last_visual(buf)
  return chosen and context.selection_part(chosen)
end

function named.diagnostics()
  return context.diagnostics_part(context.file_buffer())
end

named.quickfix = context.quickfix_part

---@param word string without the `@`
---@param root string
---@return agent.InputPart? part, string? problem
local function mentioned(word, root)
  if named[word] then
    local part = named[word]()
    return part, not part and ("@%s: there is nothing of that"):format(word) or nil
  end
  local path = vim.fs.normalize(word)
  if not vim.startswith(path, "/") then
    path = vim.fs.joinpath(root, path)
  end
  local state = vim.uv.fs_stat(path)
  if not state or state.type ~= "file" then
    return nil
  elseif context.is_image(path) then
    return context.image_part(path)
  end
  return { type = "resource", uri = vim.uri_from_fname(path) }
end

---@param word string
---@return string
local function bare(word)
  local path = word:gsub("^['\"<]", ""):gsub("['\">]$", ""):gsub("\\ ", " ")
  return (path:gsub("^file://", ""))
end

--- The words of one line: split at blanks that no backslash protects.
---@param line string
---@return string[]
local function words_of(line)
  local guarded = line:gsub("\\ ", "\1")
  return vim.tbl_map(function(word)
    return (word:gsub("\1", "\\ "))
  end, vim.split(guarded, "%s+", { trimempty = true }))
end

--- The input that a text is, with `attached` parts before it. A plain string if nothing is attached.
---@param text string
---@param root string the workspace
---@param attached? agent.InputPart[]
---@return agent.Input input, string[] problems
function M.input(text, root, attached)
  local parts, problems, seen = vim.list_slice(attached or {}), {}, {}
  for line in vim.gsplit(text, "\n", { plain = true }) do
    for _, word in ipairs(words_of(line)) do
      local name = word:match("^@(.+)$")
      local part, problem
      if name and not seen[name] then
        part, problem = mentioned(bare(name), root)
        if not part and not problem and name:match("[,.;:!?)]$") then
          part, problem = mentioned(bare((name:gsub("[,.;:!?)]+$", ""))), root)
        end
      elseif not name and not seen[word] and context.is_image(bare(word)) then
        part, problem = context.image_part(bare(word))
      end
      seen[name or word] = true
      parts[#parts + 1] = part
      problems[#problems + 1] = problem
    end
  end
  if #parts == 0 then
    return text, problems
  end
  if text ~= "" then
    parts[#parts + 1] = { type = "text", text = text }
  end
  return parts, problems
end

--- Where a prompt's session works.
---@param session agent.Session
---@return string
function M.root(session)
  local ok, path = pcall(vim.uri_to_fname, session.info.workspace)
  return ok and path or vim.fn.getcwd()
end

--- The line of a buffer up to the cursor's byte column.
---@param buf integer
---@param row integer
---@param col integer
---@return string
function M.before(buf, row, col)
  return (api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""):sub(1, col)
end

return M
