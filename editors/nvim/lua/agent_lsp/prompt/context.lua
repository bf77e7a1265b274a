--- What can be attached to a prompt: a selection, a buffer, findings, and what they are as parts of an input.
local M = {}

local client = require("agent_lsp.client")

local api = vim.api
local MOST_FINDINGS = 100
local MOST_IMAGE_BYTES = 10 * 1024 * 1024
local IMAGES = { png = "png", jpg = "jpeg", jpeg = "jpeg", gif = "gif", webp = "webp" }

---@type integer? the last buffer of a file that was current
local last_file

--- The buffer that "this buffer" means: the current one if it is a file's, else the last one that was.
---@return integer?
function M.file_buffer()
  local current = api.nvim_get_current_buf()
  if vim.bo[current].buftype == "" and api.nvim_buf_get_name(current) ~= "" then
    return current
  end
  return last_file and api.nvim_buf_is_valid(last_file) and last_file or nil
end

--- Follows which file is current.
function M.attach()
  api.nvim_create_autocmd("BufEnter", {
    group = api.nvim_create_augroup("agent_lsp_context", {}),
    callback = function(event)
      if vim.bo[event.buf].buftype == "" and api.nvim_buf_get_name(event.buf) ~= "" then
        last_file = event.buf
      end
    end,
  })
  last_file = M.file_buffer()
end

---@class agent.Selection exact pieces of a buffer, one a line for a block
---@field buf integer
---@field type "v"|"V"|"b"
---@field pieces { row: integer, from: integer, to: integer }[] 0-based rows, byte columns, end exclusive
---@field text string

---@param buf integer
---@param kind "v"|"V"|"b"
---@param regions [integer[], integer[]][] as of `getregionpos`
---@return agent.Selection
local function selection(buf, kind, regions)
  local pieces, lines = {}, {}
  for _, region in ipairs(regions) do
    local row = region[1][2] - 1
    local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
    local from = math.min(math.max(region[1][3] - 1, 0), #line)
    local to = math.min(math.max(region[2][3], 0), #line)
    if kind == "V" then
      from, to = 0, #line
    elseif to > from then -- the end is where the last character begins or ends: take all of its bytes
      to = math.min(#line, math.max(to, to + vim.str_utf_end(line, math.max(to, 1))))
    end
    pieces[#pieces + 1] = { row = row, from = from, to = math.max(from, to) }
    lines[#lines + 1] = line:sub(from + 1, math.max(from, to))
  end
  return { buf = buf, type = kind, pieces = pieces, text = table.concat(lines, "\n") }
end

--- What is selected right now. Only while visual mode lasts.
---@return agent.Selection
function M.visual()
  local mode = vim.fn.mode()
  local kind = mode == "V" and "V" or mode == "v" and "v" or "b"
  return selection(
    api.nvim_get_current_buf(),
    kind,
    vim.fn.getregionpos(vim.fn.getpos("v"), vim.fn.getpos("."), { type = mode, eol = true })
  )
end

--- What was selected last in a buffer, or nil.
---@param buf integer
---@return agent.Selection?
function M.last_visual(buf)
  local found
  api.nvim_buf_call(buf, function()
    local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
    local mode = vim.fn.visualmode()
    if from[2] > 0 and mode ~= "" then
      local kind = mode == "V" and "V" or mode == "v" and "v" or "b"
      found = selection(buf, kind, vim.fn.getregionpos(from, to, { type = mode, eol = true }))
    end
  end)
  return found
end

--- Between the marks of an operator.
---@param motion "line"|"char"|"block"
---@return agent.Selection
function M.operated(motion)
  local mode = motion == "line" and "V" or motion == "char" and "v" or "\22"
  local regions = vim.fn.getregionpos(vim.fn.getpos("'["), vim.fn.getpos("']"), { type = mode, eol = true })
  return selection(api.nvim_get_current_buf(), motion == "line" and "V" or motion == "char" and "v" or "b", regions)
end

--- Whole lines, 1-based and inclusive.
---@param buf integer
---@param first integer
---@param last integer
---@return agent.Selection
function M.lines(buf, first, last)
  local regions = {}
  for line = first, last do
    regions[#regions + 1] = { { buf, line, 1, 0 }, { buf, line, 1, 0 } }
  end
  return selection(buf, "V", regions)
end

---@param chosen agent.Selection
---@return string name, boolean is_file
local function name_of(chosen)
  local name = api.nvim_buf_get_name(chosen.buf)
  local is_file = name ~= "" and vim.bo[chosen.buf].buftype == ""
  return name ~= "" and vim.fn.fnamemodify(name, ":.") or "[No Name]", is_file
end

--- A selection as a part: by its place where the server can read that exactly, else by its text.
---@param chosen agent.Selection
---@return agent.InputPart
function M.selection_part(chosen)
  local name, is_file = name_of(chosen)
  local first, last = chosen.pieces[1], chosen.pieces[#chosen.pieces]
  local running = client.get()
  local is_shown = running and vim.lsp.buf_is_attached(chosen.buf, running.id)
  if not is_file or not is_shown or chosen.type == "b" or not first then
    local head = first and ("[attached selection: %s:%d-%d]\n"):format(name, first.row + 1, last.row + 1) or ""
    return { type = "text", text = head .. chosen.text }
  end
  local function position(row, col)
    local line = api.nvim_buf_get_lines(chosen.buf, row, row + 1, false)[1] or ""
    return { line = row, character = vim.str_utfindex(line, running.offset_encoding, col, false) }
  end
  return {
    type = "resource",
    uri = vim.uri_from_bufnr(chosen.buf),
    range = { start = position(first.row, first.from), ["end"] = position(last.row, last.to) },
  }
end

--- A file, as the editor shows it.
---@param buf integer
---@return agent.InputPart
function M.buffer_part(buf)
  return { type = "resource", uri = vim.uri_from_bufnr(buf) }
end

---@param items { name: string, line: integer, text: string }[]
---@param title string
---@return agent.InputPart?
local function findings_part(items, title)
  if #items == 0 then
    return nil
  end
  local lines = { title }
  for index, item in ipairs(items) do
    if index > MOST_FINDINGS then
      lines[#lines + 1] = ("… and %d more"):format(#items - MOST_FINDINGS)
      break
    end
    lines[#lines + 1] = ("%s:%d: %s"):format(item.name, item.line, (item.text:gsub("%s*\n%s*", " ")))
  end
  return { type = "text", text = table.concat(lines, "\n") }
end

---@param buf integer
---@return string
local function relative(buf)
  return buf > 0 and api.nvim_buf_is_valid(buf) and vim.fn.fnamemodify(api.nvim_buf_get_name(buf), ":.") or "?"
end

--- What `vim.diagnostic` says of a buffer, or of all.
---@param buf? integer
---@return agent.InputPart?
function M.diagnostics_part(buf)
  local items = vim.tbl_map(function(one)
    local severity = vim.diagnostic.severity[one.severity]:lower()
    return { name = relative(one.bufnr or 0), line = one.lnum + 1, text = severity .. ": " .. one.message }
  end, vim.diagnostic.get(buf))
  return findings_part(items, "[attached diagnostics]")
end

--- The quickfix list.
---@return agent.InputPart?
function M.quickfix_part()
  local list = vim.fn.getqflist({ items = 0, title = 0 })
  local items = {}
  for _, item in ipairs(list.items) do
    if item.valid == 1 then
      items[#items + 1] = { name = relative(item.bufnr), line = item.lnum, text = item.text }
    end
  end
  return findings_part(items, ("[attached quickfix list: %s]"):format(list.title))
end

--- Whether a word is the path of an image.
---@param path string
---@return boolean
function M.is_image(path)
  return IMAGES[(path:match("%.(%w+)$") or ""):lower()] ~= nil and vim.fn.filereadable(path) == 1
end

--- An image file as a part.
---@param path string
---@return agent.InputPart? part, string? problem
function M.image_part(path)
  local state = vim.uv.fs_stat(path)
  if state and state.size > MOST_IMAGE_BYTES then
    return nil, ("%s is larger than 10 MiB and was not attached"):format(path)
  end
  local file, problem = io.open(path, "rb")
  if not file then
    return nil, problem
  end
  local bytes = file:read("a")
  file:close()
  local kind = IMAGES[path:match("%.(%w+)$"):lower()]
  return { type = "image", data = ("data:image/%s;base64,%s"):format(kind, vim.base64.encode(bytes)) }
end

return M
