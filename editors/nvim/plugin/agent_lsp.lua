-- Nothing is loaded here but this table: a command or mapping loads its module when it is used.
if vim.g.loaded_agent_lsp then
  return
end
vim.g.loaded_agent_lsp = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify_once("agent-lsp: Neovim 0.11 or newer is needed", vim.log.levels.ERROR)
  return
end

-- name = { module, arguments in words, what it does, attributes }; the module's `commands[name]` gets what was given.
-- A list of words in `complete` is what can be typed. The help is made from this table.
local commands = {
  Agent = {
    "commands",
    "[prompt]",
    "Runs a task; if one runs already it is a word to that one. Lines of a range, or exactly the visual selection,"
      .. " go with it. Without a prompt chat and prompt are opened; [!] takes a new session.",
    { nargs = "*", range = true, bang = true, complete = "file" },
  },
  AgentChat = {
    "commands",
    "[session]",
    "Opens chat and prompt of the current session, or of the one named, or closes them when they are open in this"
      .. " tabpage ([!]: only opens).",
    { nargs = "?", bang = true, bar = true },
  },
  AgentEarlier = {
    "commands",
    "",
    "Reads a page of what was said before the first message that the chat shows; [!]: all of it, for a search.",
    { nargs = 0, bang = true, bar = true },
  },
  AgentNew = { "commands", "", "Begins another session in this workspace and opens it.", { nargs = 0, bar = true } },
  AgentSteer = { "commands", "{text}", "Says a word to the task that runs.", { nargs = "+" } },
  AgentAbort = { "commands", "[reason]", "Ends what runs.", { nargs = "*" } },
  AgentCompact = {
    "commands",
    "[how]",
    "Has the conversation go on from a summary (`summarize`) or from nothing (`discard`).",
    { nargs = "?", bar = true, complete = { "summarize", "discard" } },
  },
  AgentSessions = { "commands", "", "Lets you choose another session of this workspace.", { nargs = 0, bar = true } },
  AgentModel = {
    "commands",
    "[provider/model]",
    "Changes the session's model; without a name you choose one of those that have a key.",
    { nargs = "?", bar = true },
  },
  AgentMode = {
    "commands",
    "[mode]",
    "Changes what runs without asking.",
    { nargs = "?", bar = true, complete = { "ask", "auto-edit", "plan", "read-only", "allow-all" } },
  },
  AgentThinking = {
    "commands",
    "[level]",
    "Changes how much the model thinks.",
    { nargs = "?", bar = true, complete = { "none", "low", "medium", "high", "xhigh", "max" } },
  },
  AgentApproval = {
    "approval",
    "[allow|deny] [reason]",
    "Goes to the question that waits for an answer, showing it again if it was put away, or answers it.",
    { nargs = "*", complete = { "allow", "deny" } },
  },
  AgentKeep = {
    "edits",
    "",
    "Keeps the agent's edit under the cursor, those of a range, or all with [!].",
    { range = true, bang = true, bar = true },
  },
  AgentUndo = {
    "edits",
    "",
    "Takes back the agent's edit under the cursor, those of a range, or all with [!].",
    { range = true, bang = true, bar = true },
  },
  AgentEdits = {
    "edits",
    "",
    "Puts the edits of a run into the quickfix list, behind your own lists; [!] opens it.",
    { bang = true, bar = true },
  },
  AgentTrace = {
    "browse",
    "",
    "Opens a page of the session in the browser: what took how long, what it cost, everything that was said.",
    { nargs = 0, bar = true },
  },
  AgentUsage = {
    "browse",
    "",
    "Opens a page of what all sessions have used in the last 30 days, by day, model and session.",
    { nargs = 0, bar = true },
  },
}

for name, command in pairs(commands) do
  local module, _, does, attributes = unpack(command)
  local words = attributes.complete
  if type(words) == "table" then
    attributes.complete = function(lead)
      return vim.tbl_filter(function(word)
        return vim.startswith(word, lead)
      end, words)
    end
  end
  attributes.desc = does
  vim.api.nvim_create_user_command(name, function(given)
    require("agent_lsp." .. module).commands[name](given)
  end, attributes)
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
vim.api.nvim_create_autocmd("BufFilePost", { -- how a session file names what it cannot edit
  group = group,
  pattern = "agent://*",
  callback = function(event)
    if vim.g.SessionLoad == 1 then
      require("agent_lsp.chat").restore(event.buf, event.match)
    end
  end,
})
