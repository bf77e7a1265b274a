--- The server's code actions and lenses, on the usual keys: their commands are carried out here, in the chat.
local M = {}

local api = vim.api
local buffers = require("agent_lsp.edits.buffers")
local diagnostics = require("agent_lsp.diagnostics")
local list = require("agent_lsp.edits.list")
local log = require("agent_lsp.log")
local marks = require("agent_lsp.edits.marks")

--- Neovim sends with a request for actions only what this very client has diagnosed, which is nothing: all that others
--- have found on those lines is added.
---@param params lsp.CodeActionParams
---@param encoding "utf-8"|"utf-16"|"utf-32"
function M.complete(params, encoding)
  local bufnr = buffers.loaded(params.textDocument.uri)
  if bufnr and #params.context.diagnostics == 0 then
    params.context.diagnostics = vim.tbl_filter(function(one)
      return one.range.start.line <= params.range["end"].line and one.range["end"].line >= params.range.start.line
    end, diagnostics.of(bufnr, encoding))
  end
end

--- Runs a prompt, about a place in a file if one is named.
---@param prompt string
---@param place? { uri: string, range?: lsp.Range }
local function run(prompt, place)
  require("agent_lsp.session").ready(function(err, session)
    if err or not session then
      return err and log.tell(err.message, vim.log.levels.ERROR)
    end
    local chat = require("agent_lsp.prompt")
    chat.open(session, true)
    chat.send(session, prompt, place and { { type = "resource", uri = place.uri, range = place.range } })
  end)
end

--- Shows what an edit of the current buffer has changed, in a float that closes when the cursor moves.
---@param edit_id string
local function show(edit_id)
  local bufnr = api.nvim_get_current_buf()
  for _, placed in ipairs(marks.placed(bufnr)) do
    if placed.edit.editId == edit_id then
      local old, new = marks.texts(placed, bufnr)
      local lines = vim.split(vim.diff(old, new) --[[@as string]], "\n", { trimempty = true })
      vim.lsp.util.open_floating_preview(vim.list_slice(lines, 2), "diff", { border = "rounded" })
      return
    end
  end
  log.tell("this edit does not stand any more")
end

---@param verb "keep"|"undo"
---@return fun(command: lsp.Command)
local function on_edit(verb)
  return function(command)
    local chosen = command.arguments[1]
    require("agent_lsp.edits").decide(verb, { { editId = chosen.editId, session_id = chosen.sessionId } })
  end
end

--- The list may be a moment behind, so it is read before it is looked into.
---@param command lsp.Command
local function show_edit(command)
  local chosen = command.arguments[1]
  list.read(chosen.sessionId, function()
    show(chosen.editId)
  end)
end

--- The commands of actions and lenses, for a client's configuration.
---@type table<string, fun(command: lsp.Command, ctx?: table)>
M.commands = {
  ["agent.run"] = function(command)
    run(command.arguments[1], command.arguments[2])
  end,
  ["agent.keepEdit"] = on_edit("keep"),
  ["agent.undoEdit"] = on_edit("undo"),
  ["agent.showEdit"] = show_edit,
}

return M
