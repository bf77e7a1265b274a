--- The keys of a prompt.
local M = {}

local keys = require("agent_lsp.chat.keys")

--- Types a key as if it were not mapped, before what has been typed since.
---@param key string
local function type_plainly(key)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(key, true, false, true), "in", false)
end

--- In a completion menu the key is the menu's.
---@param key string
---@param otherwise fun()
---@return fun()
local function in_menu(key, otherwise)
  return function()
    if vim.fn.pumvisible() == 1 then
      return type_plainly(key)
    end
    otherwise()
  end
end

---@class agent.PromptActions
---@field send fun()
---@field walk fun(step: 1|-1) -1: earlier
---@field take_back fun()
---@field close fun()

--- Sets them in a buffer.
---@param buf integer
---@param actions agent.PromptActions
function M.set(buf, actions)
  local function send()
    if vim.fn.pumvisible() == 1 and vim.fn.complete_info({ "selected" }).selected >= 0 then
      return type_plainly("<C-y>")
    end
    actions.send()
  end
  local function newline()
    type_plainly("<CR>")
  end
  local function earlier()
    actions.walk(-1)
  end
  local function later()
    actions.walk(1)
  end
  local function abort()
    require("agent_lsp.commands").commands.AgentAbort({ args = "" })
  end
  local both, normal, insert = { "n", "i" }, { "n" }, { "i" }
  ---@type agent.Key[]
  local all
  all = {
    { lhs = "<CR>", modes = both, desc = "send; to the running task if there is one", run = send },
    { lhs = "<S-CR>", modes = insert, desc = "a new line", run = newline },
    { lhs = "<C-j>", modes = insert, desc = "a new line", run = newline },
    { lhs = "<C-p>", modes = both, desc = "the prompt before", run = in_menu("<C-p>", earlier) },
    { lhs = "<C-n>", modes = both, desc = "the prompt after", run = in_menu("<C-n>", later) },
    { lhs = "<C-u>", modes = both, desc = "if empty: take back the word that waits", run = actions.take_back },
    { lhs = "<C-c>", modes = normal, desc = "stop what runs", run = abort },
    { lhs = "q", modes = normal, desc = "close the chat's windows; the draft stays", run = actions.close },
    {
      lhs = "g?",
      modes = normal,
      desc = "these keys",
      run = function()
        keys.help(all)
      end,
    },
  }
  keys.apply(buf, all)
end

return M
