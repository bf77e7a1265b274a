--- What the server does not say back: the prompts of the person, as the messages that its trace has of them.
local M = {}

local api = vim.api
local MOST_BYTES = 1024 * 1024

---@param uri string
---@param workspace string URI
---@return string
local function name_of(uri, workspace)
  local ok, path = pcall(vim.uri_to_fname, uri)
  if not ok then
    return uri
  end
  local has_root, root = pcall(vim.uri_to_fname, workspace)
  return has_root and vim.fs.relpath(root, path) or path
end

---@param uri string
---@return string[]? lines
local function lines_of(uri)
  local buf = vim.uri_to_bufnr(uri)
  if api.nvim_buf_is_loaded(buf) then
    return api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local ok, path = pcall(vim.uri_to_fname, uri)
  local state = ok and vim.uv.fs_stat(path)
  if state and state.type == "file" and state.size <= MOST_BYTES then
    return vim.fn.readfile(path)
  end
end

---@param lines string[]
---@param range lsp.Range
---@param encoding string
---@return string
local function cut(lines, range, encoding)
  local function column(position)
    local line = lines[position.line + 1] or ""
    return vim.str_byteindex(line, encoding, position.character, false)
  end
  local kept = vim.list_slice(lines, range.start.line + 1, range["end"].line + 1)
  if #kept == 0 then
    return ""
  end
  kept[#kept] = kept[#kept]:sub(1, column(range["end"]))
  kept[1] = kept[1]:sub(column(range.start) + 1)
  return table.concat(kept, "\n")
end

---@param part agent.ResourcePart
---@param workspace string
---@param encoding string
---@return string
local function resource(part, workspace, encoding)
  local name = name_of(part.uri, workspace)
  local lines = lines_of(part.uri) or {}
  if not part.range then
    return ("[attached file: %s]\n%s"):format(name, table.concat(lines, "\n"))
  end
  local from, to = part.range.start.line + 1, part.range["end"].line + 1
  return ("[attached file: %s:%d-%d]\n%s"):format(name, from, to, cut(lines, part.range, encoding))
end

--- The messages that an input is.
---@param input agent.Input
---@param workspace string URI
---@param encoding string that ranges count in
---@return agent.Message[]
function M.messages(input, workspace, encoding)
  local parts = type(input) == "string" and { { type = "text", text = input } } or input --[[@as agent.InputPart[] ]]
  local stamp = os.date("!%Y-%m-%dT%H:%M:%S.000Z") --[[@as string]]
  return vim.tbl_map(function(part)
    local payload = { type = "text", role = "user", text = part.text }
    if part.type == "image" then
      payload = { type = "image_url", role = "user", image_url = part.data or part.url }
    elseif part.type == "resource" then
      payload.text = resource(part, workspace, encoding)
    end
    return { timestamp = stamp, type = "model_msg", payload = payload }
  end, parts)
end

return M
