--- Who answers what the server asks and hears what it tells.
local M = {}

local log = require("agent_lsp.log")

---@type table<string, fun(params: any, ctx: lsp.HandlerContext): any, lsp.ResponseError?>
local registered = {}

--- Takes the server's requests or notifications of `method`. The handler of a request runs in a coroutine: it may
--- yield, and what it returns is the answer (`result`, or `nil, error`). One handler a method; the last one counts.
---@param method string
---@param handler fun(params: any, ctx: lsp.HandlerContext): any, lsp.ResponseError?
function M.handle(method, handler)
  registered[method] = handler
end

--- Whether there is a handler for `method`; what we tell the server that we can do is made from it.
---@param method string
---@return boolean
function M.handles(method)
  return registered[method] ~= nil
end

--- Called by Neovim's client for each of `protocol.handlers()`.
---@param method string
---@param params any
---@param ctx lsp.HandlerContext
function M.dispatch(method, params, ctx)
  local handler = registered[method]
  if not handler then
    local default = vim.lsp.handlers[method]
    if default then
      return default(nil, params, ctx)
    end
    return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.MethodNotFound)
  end
  local ok, result, err = xpcall(handler, debug.traceback, params, ctx)
  if not ok then
    log.error(("%s: %s"):format(method, result))
    return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, "the editor plugin has failed")
  end
  return result, err
end

return M
