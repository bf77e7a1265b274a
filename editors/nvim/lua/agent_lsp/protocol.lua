--- The protocol's names and pure conversions. Mirrors agent_lsp/server/methods.py, run_methods.py and messages/markers.py.
local M = {}

--- What this plugin understands.
M.VERSION = 1

--- Where `client.lua` answers with an error of its own: the process has ended, or never came up.
M.SERVER_GONE = -32099

local MOST_ERROR_BYTES, MOST_ERROR_CHARS = 800, 400

M.notifications = {
  "agent/message",
  "agent/state",
  "agent/modelsChanged",
  "agent/approvalResolved",
  "window/showMessage",
}
M.requests = {
  "agent/approve",
  "agent/ask",
  "agent/saveDocument",
  "agent/diagnostics",
  "workspace/applyEdit",
}
M.approval_modes = { "ask", "auto-edit", "plan", "read-only", "allow-all" }
M.thinking_levels = { "none", "low", "medium", "high", "xhigh", "max" }
M.modes = { "native", "loop" }

--- The field that holds the words of a kind of fragment or of its complete message.
M.body = {
  text = "text",
  thinking = "thinking",
  tool_call = "arguments",
  tool_call_output = "output",
}

--- Handlers for a client's configuration, which find the one that is registered when something comes.
---@return table<string, lsp.Handler>
function M.handlers()
  local handlers = {}
  for _, method in ipairs(vim.list_extend(vim.list_slice(M.notifications), M.requests)) do
    handlers[method] = function(_, params, ctx)
      return require("agent_lsp.client").dispatch(method, params, ctx)
    end
  end
  return handlers
end

--- The commands of the server's code actions and lenses, for a client's configuration.
---@return table<string, fun(command: lsp.Command)>
function M.commands()
  local commands = {}
  for _, name in ipairs({ "agent.run", "agent.keepEdit", "agent.undoEdit", "agent.showEdit" }) do
    commands[name] = function(command)
      require("agent_lsp.actions").commands[name](command)
    end
  end
  return commands
end

--- A model's reference as one word.
---@param model? agent.ModelRef|string
---@return string
function M.model_name(model)
  if type(model) ~= "table" then
    return model or ""
  end
  return model.provider .. "/" .. model.model
end

--- The words of an input, for one line or a draft; what is attached is named in brackets.
---@param input agent.Input
---@return string
function M.input_text(input)
  if type(input) == "string" then
    return input
  end
  local words = {}
  for _, part in ipairs(input) do
    if part.type == "text" then
      words[#words + 1] = part.text
    elseif part.type == "resource" then
      words[#words + 1] = "[" .. vim.fs.basename(part.uri) .. "]"
    else
      words[#words + 1] = "[image]"
    end
  end
  return table.concat(words, "\n")
end

--- An error of the client or the server, as callbacks get it: one line, with the hint if there is one.
---@param err table
---@return agent.Error
function M.readable(err)
  local message = tostring(err.message or "unknown error")
  local hint = type(err.data) == "table" and err.data.hint
  if type(hint) == "string" and not message:find(hint, 1, true) then
    message = message .. ": " .. hint
  end
  message = message:gsub("%s*\n%s*", " ")
  if #message > MOST_ERROR_BYTES then
    message = vim.fn.strcharpart(message, 0, MOST_ERROR_CHARS) .. "…"
  end
  return { code = err.code or 0, message = message, data = err.data }
end

local BLOCKS = {
  user_steering = true,
  context_summary = true,
  turn_aborted = true,
  turn_retried = true,
  goal = true,
  output_limit = true,
  user_edits = true,
}

--- What a user-role text is: the tag and body of a marker block that is the whole text, or the attached file and its text.
---@param text string
---@return string? tag, string? body
function M.marker(text)
  local tag, body = text:match("^%[([%l_]+)%]\n(.*)$")
  if tag and BLOCKS[tag] then
    local closing = "[/" .. tag .. "]"
    if vim.endswith(body, closing) then
      return tag, (body:sub(1, -#closing - 1):gsub("\n$", ""))
    elseif tag == "goal" then
      return tag, body
    end
  end
  local path, rest = text:match("^%[attached file: ([^\n]-)%]\n?(.*)$")
  if path then
    return "attached_file", path .. "\n" .. rest
  end
end

return M
