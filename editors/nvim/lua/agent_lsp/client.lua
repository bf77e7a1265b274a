--- The connection to the server: one process for this Neovim, whatever the workspace. It starts with the first command.
local M = {}

local config = require("agent_lsp.config")
local events = require("agent_lsp.events")
local handlers = require("agent_lsp.handlers")
local launch = require("agent_lsp.launch")
local log = require("agent_lsp.log")
local protocol = require("agent_lsp.protocol")

-- registered where they are needed, in `handlers.lua`
M.handle, M.handles, M.dispatch = handlers.handle, handlers.handles, handlers.dispatch

local NAME = "agent_lsp"
local STOP_MS = 800
--- How long the server may take until it is ready, in milliseconds.
M.start_ms = 20000
local MOST_SHOWN_BYTES = 32 * 1024 * 1024 -- half of what the server takes in one message
local SHOWN_AS = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO, vim.log.levels.DEBUG }

---@type vim.lsp.Client?
local client
---@type fun(err?: agent.Error, client?: vim.lsp.Client)[]
local waiting = {}
---@type table<integer, agent.Callback> requests without an answer yet, by a running number
local unanswered = {}
local last_number = 0
local is_prepared, is_leaving = false, false
---@type string? why the server refused us, said in place of "it ended"
local refusal
---@type { code: integer, signal: integer } how the last process ended
local ending = { code = 0, signal = 0 }

-- Starting -------------------------------------------------------------------------------------------------------------

M.root, M.command = launch.root, launch.command

--- Starts the process for Neovim's client; what it refuses at `initialize` is said in one line.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@param lsp_config vim.lsp.ClientConfig
---@return vim.lsp.rpc.PublicClient
function M.connect(dispatchers, lsp_config)
  M.prepare()
  local cmd, problem = M.command()
  if not cmd then
    error(problem, 0)
  end
  local on_exit = dispatchers.on_exit
  dispatchers.on_exit = function(code, signal)
    ending = { code = code, signal = signal }
    on_exit(0, 0) -- or Neovim would say in two long lines what we say in one
  end
  local rpc = vim.lsp.rpc.start(cmd, dispatchers, { cwd = lsp_config.root_dir, env = lsp_config.cmd_env })
  local request = rpc.request
  rpc.request = function(method, params, callback, notify_reply)
    if method == "textDocument/codeAction" and client then
      require("agent_lsp.actions").complete(params, client.offset_encoding)
    end
    if method ~= "initialize" then
      return request(method, params, callback, notify_reply)
    end
    return request(method, params, function(err, result)
      if not err then
        return callback(nil, result)
      end
      refusal = protocol.readable(err).message
      rpc.terminate()
    end, notify_reply)
  end
  return rpc
end

--- Adds to `initialize` what the server wants to know of us.
---@param params lsp.InitializeParams
function M.before_init(params)
  M.prepare()
  launch.introduce(params, M.handles)
end

--- Loads what takes part, once.
function M.prepare()
  if is_prepared then
    return
  end
  is_prepared = true
  for _, name in ipairs(require("agent_lsp.features")) do
    require(name).attach()
  end
  M.handle("agent/modelsChanged", function() end)
  M.handle("window/showMessage", function(params)
    log.tell(params.message, SHOWN_AS[params.type])
  end)
  local group = vim.api.nvim_create_augroup("agent_lsp_client", {})
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = group,
    callback = function()
      M.stop(STOP_MS)
    end,
  })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost", "FileType" }, {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
end

--- Neovim's client is ready.
---@param ready vim.lsp.Client
---@param result lsp.InitializeResult
function M.on_init(ready, result)
  local told = vim.tbl_get(result, "capabilities", "experimental", "agent")
  if client == ready then
    return
  elseif not told then
    refusal = ("%s is no agent-lsp, or one that is too old: :checkhealth agent_lsp"):format(config.get().cmd[1])
    ready:stop(true)
    return
  end
  client = ready
  if told.protocolVersion < protocol.VERSION then
    log.tell(
      ("the server speaks version %d of the protocol, the plugin version %d: update agent-lsp"):format(
        told.protocolVersion,
        protocol.VERSION
      ),
      vim.log.levels.WARN
    )
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
  events.emit("started", { client = ready })
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(nil, ready)
  end
end

--- Shows the server the text of a buffer that is a file's.
---@param bufnr integer
function M.attach(bufnr)
  if
    client
    and not client:is_stopped()
    and vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].buftype == ""
    and vim.api.nvim_buf_get_name(bufnr) ~= ""
    and vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)) < MOST_SHOWN_BYTES
    and not vim.lsp.buf_is_attached(bufnr, client.id)
  then
    vim.lsp.buf_attach_client(bufnr, client.id)
  end
end

-- The end --------------------------------------------------------------------------------------------------------------

---@param err agent.Error
function M._give_up(err)
  local callbacks, requests = waiting, unanswered
  waiting, unanswered = {}, {}
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
  for _, number in ipairs(vim.tbl_keys(requests)) do
    requests[number](err)
  end
end

--- Neovim's client has ended; may come in a fast event.
---@param client_id integer
M.on_exit = vim.schedule_wrap(function(_, _, client_id)
  local code, signal = ending.code, ending.signal
  if client and client.id ~= client_id then
    return
  end
  local was_ready, expected, message = client ~= nil, is_leaving, refusal
  client, refusal = nil, nil
  if not message and was_ready then
    message = ("the server has ended (%s); the next command starts it again"):format(
      signal ~= 0 and ("signal %d"):format(signal) or ("exit code %d"):format(code)
    )
  end
  message = message or ("the server ended before it was ready (exit code %d): :checkhealth agent_lsp"):format(code)
  if not expected then
    log.tell(message, vim.log.levels.ERROR)
  end
  events.emit("stopped", { client_id = client_id, expected = expected, code = code, signal = signal })
  M._give_up({ code = protocol.SERVER_GONE, message = message, data = { kind = "server_gone" } })
end)

--- Stops the server and waits for its end, at most `within_ms`. What it runs is aborted.
---@param within_ms integer
---@return boolean stopped
function M.stop(within_ms)
  local leaving = client
  if not leaving or leaving:is_stopped() then
    return true
  end
  is_leaving = true
  leaving:stop()
  local stopped = vim.wait(within_ms, function()
    return leaving:is_stopped()
  end, 10)
  if not stopped then
    leaving:stop(true)
  end
  vim.schedule(function()
    is_leaving = false
  end)
  return stopped
end

-- Use ------------------------------------------------------------------------------------------------------------------

--- The client if the server is up; nothing is started.
---@return vim.lsp.Client?
function M.get()
  return client and not client:is_stopped() and client or nil
end

--- A program that says nothing is no server: whoever waits for it is told so.
---@param id integer
local function await_answer(id)
  vim.defer_fn(function()
    local silent = vim.lsp.get_client_by_id(id)
    if silent and not silent.initialized and #waiting > 0 then
      refusal = ("%s has not answered for %d s: is it an agent-lsp? :checkhealth agent_lsp"):format(
        config.get().cmd[1],
        M.start_ms / 1000
      )
      silent:stop(true)
    end
  end, M.start_ms)
end

--- Calls back with the client, once there is one; starts the server if need be. What goes wrong has been told to the
--- person when the callback gets it.
---@param callback fun(err?: agent.Error, client?: vim.lsp.Client)
function M.with(callback)
  if M.get() and client and client.initialized then
    return callback(nil, client)
  end
  waiting[#waiting + 1] = callback
  if #waiting > 1 then
    return
  end
  M.prepare()
  local cmd, problem = M.command()
  local lsp_config = vim.deepcopy(vim.lsp.config[NAME])
  if type(lsp_config.cmd) == "function" and not cmd then
    log.tell(problem --[[@as string]], vim.log.levels.ERROR)
    return M._give_up({
      code = protocol.SERVER_GONE,
      message = problem --[[@as string]],
    })
  end
  lsp_config.root_dir = M.root(0)
  lsp_config.name = NAME
  is_leaving = false
  local theirs = lsp_config.on_init -- may have taken the place of ours
  lsp_config.on_init = vim.list_extend({ M.on_init }, type(theirs) == "table" and theirs or { theirs })
  local id = vim.lsp.start(lsp_config, { attach = false, silent = true, reuse_client = lsp_config.reuse_client })
  if not id then
    local message = ("%s could not be started: :checkhealth agent_lsp"):format((cmd or { NAME })[1])
    log.tell(message, vim.log.levels.ERROR)
    M._give_up({ code = protocol.SERVER_GONE, message = message })
  else
    await_answer(id)
  end
end

--- Asks the server, starting it if need be. `callback` is called exactly once, on the main loop; also when the server
--- ends first (`code` is then `protocol.SERVER_GONE`).
---@param method string
---@param params table
---@param callback agent.Callback
function M.request(method, params, callback)
  M.with(function(err, ready)
    if err or not ready then
      return callback(err)
    end
    last_number = last_number + 1
    local number = last_number
    unanswered[number] = callback
    local sent = ready:request(method, next(params) and params or vim.empty_dict(), function(problem, result)
      if unanswered[number] then
        unanswered[number] = nil
        callback(problem and protocol.readable(problem) or nil, result)
      end
    end)
    if not sent and unanswered[number] then
      unanswered[number] = nil
      callback({ code = protocol.SERVER_GONE, message = "the server has ended", data = { kind = "server_gone" } })
    end
  end)
end

return M
