--- What is started, where it works, and how we introduce ourselves to it.
local M = {}

local config = require("agent_lsp.config")
local protocol = require("agent_lsp.protocol")

--- The workspace of a buffer: the next folder upwards with one of `root_markers`, else the current folder.
---@param bufnr? integer
---@return string
function M.root(bufnr)
  local root = vim.fs.root(bufnr or 0, config.get().root_markers)
  return root or vim.fn.getcwd()
end

--- What to start: the program with its full path, and its arguments.
---@return string[]? cmd, string? problem
function M.command()
  local cmd = config.get().cmd
  local program = vim.fn.exepath(vim.fn.expand(cmd[1]))
  if program == "" then
    local advice = "Install it (in its checkout: pipx install .), or name it: setup{ cmd = { '/path/to/agent-lsp' } }"
    return nil, ("%s was not found in $PATH. %s"):format(cmd[1], advice)
  end
  return vim.list_extend({ program }, cmd, 2)
end

--- Adds to `initialize` what the server wants to know of us.
---@param params lsp.InitializeParams
---@param handles fun(method: string): boolean whether somebody answers the requests of this name
function M.introduce(params, handles)
  local trusted = config.get().workspace_trusted
  if type(trusted) == "function" then
    local ok, answer = pcall(trusted, params.rootPath)
    trusted = ok and answer == true
  end
  params.initializationOptions = vim.tbl_extend("force", params.initializationOptions or {}, {
    agent = vim.tbl_isempty(config.get().settings) and vim.empty_dict() or config.get().settings,
  })
  local edits = params.capabilities.workspace.workspaceEdit
  edits.documentChanges, edits.changeAnnotationSupport = true, { groupsOnLabel = false }
  params.capabilities.experimental = vim.tbl_extend("force", params.capabilities.experimental or {}, {
    agent = {
      protocolVersion = protocol.VERSION,
      partials = true,
      workspaceTrusted = trusted,
      codeActions = true,
      approve = handles("agent/approve"),
      ask = handles("agent/ask"),
      saveDocument = handles("agent/saveDocument"),
      diagnostics = handles("agent/diagnostics"),
    },
  })
end

return M
