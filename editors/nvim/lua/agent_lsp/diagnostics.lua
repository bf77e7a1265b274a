--- `agent/diagnostics`: what `vim.diagnostic` knows, whoever has said it. After an edit other clients get a moment to look.
local M = {}

local api = vim.api
local buffers = require("agent_lsp.edits.buffers")
local client = require("agent_lsp.client")

local PATIENCE_MS = 1200
local SETTLED_MS = 150

---@type table<integer, integer> changedtick of a buffer when it was last diagnosed
local diagnosed = {}

---@param bufnr integer
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@param row integer
---@param column integer bytes
---@return lsp.Position
local function position(bufnr, encoding, row, column)
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  return { line = row, character = vim.str_utfindex(line, encoding, math.min(column, #line), false) }
end

--- What anybody has found in a buffer, as LSP has it.
---@param bufnr integer
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return lsp.Diagnostic[]
function M.of(bufnr, encoding)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(bufnr)) do
    found[#found + 1] = {
      range = {
        start = position(bufnr, encoding, one.lnum, one.col),
        ["end"] = position(bufnr, encoding, one.end_lnum or one.lnum, one.end_col or one.col),
      },
      severity = one.severity,
      message = one.message,
      source = one.source,
      code = one.code,
    }
  end
  return found
end

--- Whether somebody else looks at this buffer and has not yet seen its present text.
---@param bufnr integer
---@param own integer id of our client
---@return boolean
local function is_awaited(bufnr, own)
  if (diagnosed[bufnr] or -1) >= api.nvim_buf_get_changedtick(bufnr) then
    return false
  end
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = bufnr })) do
    if other.id ~= own and other:supports_method("textDocument/publishDiagnostics") then
      return true
    end
  end
  return false
end

--- Yields until diagnostics of the buffer came and nothing more did for a moment, or patience is at its end.
---@param bufnr integer
local function await(bufnr)
  local waiter = coroutine.running()
  local timer = assert(vim.uv.new_timer())
  local id, deadline = nil, vim.uv.now() + PATIENCE_MS
  local function finish()
    if not timer:is_closing() then
      timer:close()
      pcall(api.nvim_del_autocmd, id)
      coroutine.resume(waiter)
    end
  end
  id = api.nvim_create_autocmd("DiagnosticChanged", {
    buffer = bufnr,
    callback = function()
      local left = math.max(deadline - vim.uv.now(), 0)
      timer:start(math.min(SETTLED_MS, left), 0, vim.schedule_wrap(finish))
    end,
  })
  timer:start(PATIENCE_MS, 0, vim.schedule_wrap(finish))
  coroutine.yield()
end

---@param params { uri?: string }
---@param ctx lsp.HandlerContext
---@return { items: table[] }
local function answer(params, ctx)
  local encoding = assert(vim.lsp.get_client_by_id(ctx.client_id)).offset_encoding
  local wanted = {}
  if params.uri then
    wanted = { buffers.loaded(params.uri) }
    if wanted[1] and is_awaited(wanted[1], ctx.client_id) then
      await(wanted[1])
    end
  else
    for _, bufnr in ipairs(api.nvim_list_bufs()) do
      if api.nvim_buf_is_loaded(bufnr) and #vim.diagnostic.get(bufnr) > 0 then
        wanted[#wanted + 1] = bufnr
      end
    end
  end
  local items = {}
  for _, bufnr in ipairs(wanted) do
    if api.nvim_buf_is_loaded(bufnr) then
      items[#items + 1] = {
        uri = vim.uri_from_bufnr(bufnr),
        version = vim.lsp.util.buf_versions[bufnr],
        diagnostics = M.of(bufnr, encoding),
      }
    end
  end
  return { items = items }
end

--- Answers the server, and remembers which text others have looked at.
function M.attach()
  client.handle("agent/diagnostics", answer)
  api.nvim_create_autocmd("DiagnosticChanged", {
    group = api.nvim_create_augroup("agent_lsp_diagnostics", {}),
    callback = function(event)
      if api.nvim_buf_is_valid(event.buf) then
        diagnosed[event.buf] = api.nvim_buf_get_changedtick(event.buf)
      end
    end,
  })
end

return M
