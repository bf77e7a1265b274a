-- Nothing is loaded here but this table: a command or mapping loads its module when it is used.
if vim.g.loaded_agent_lsp then
  return
end
vim.g.loaded_agent_lsp = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify_once("agent-lsp: Neovim 0.11 or newer is needed", vim.log.levels.ERROR)
  return
end

-- name = { module, attributes of the command }; the module's `commands[name]` gets what the command was given
local commands = {
  Agent = { "commands", { nargs = "*", range = true, bang = true, complete = "file" } },
  AgentChat = { "commands", { nargs = "?", bang = true } },
  AgentSteer = { "commands", { nargs = "+" } },
  AgentAbort = { "commands", { nargs = "*" } },
  AgentCompact = { "commands", { nargs = "?", complete = "summarize,discard" } },
  AgentSessions = { "commands", { nargs = 0 } },
  AgentModel = { "commands", { nargs = "?" } },
  AgentMode = { "commands", { nargs = "?" } },
  AgentThinking = { "commands", { nargs = "?" } },
  AgentNew = { "commands", { nargs = 0 } },
  AgentApproval = { "approval", { nargs = "*", complete = "allow,deny" } },
  AgentKeep = { "edits", { range = true, bang = true } },
  AgentUndo = { "edits", { range = true, bang = true } },
  AgentEdits = { "edits", { bang = true } },
}

local function define(name, module, attributes)
  local words = attributes.complete
  if type(words) == "string" and words:find(",") then
    attributes.complete = function(lead)
      return vim.tbl_filter(function(word)
        return vim.startswith(word, lead)
      end, vim.split(words, ","))
    end
  end
  vim.api.nvim_create_user_command(name, function(given)
    require("agent_lsp." .. module).commands[name](given)
  end, attributes)
end

for name, command in pairs(commands) do
  define(name, command[1], command[2])
end

-- name = { module, modes, what it is for }; the module's `maps[name]` is called; with `expr`, its answer is typed
local maps = {
  ["agent-ask"] = { "commands", { "n", "x" }, "Ask the agent about the selection" },
  ["agent-op"] = { "commands", { "n", "x" }, "Ask the agent about the text of a motion", expr = true },
  ["agent-chat"] = { "commands", { "n" }, "Open or close the agent's chat" },
  ["agent-next-edit"] = { "edits", { "n" }, "Go to the agent's next edit" },
  ["agent-prev-edit"] = { "edits", { "n" }, "Go to the agent's edit before" },
  ["agent-approval"] = { "approval", { "n" }, "Go to the question that waits for an answer" },
}

for name, map in pairs(maps) do
  vim.keymap.set(map[2], "<Plug>(" .. name .. ")", function()
    return require("agent_lsp." .. map[1]).maps[name]()
  end, { desc = map[3], expr = map.expr })
end

local group = vim.api.nvim_create_augroup("agent_lsp", {})
vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "agent://*",
  callback = function(event)
    require("agent_lsp.chat").read(event.buf, event.match)
  end,
})
