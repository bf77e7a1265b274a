--- The completion menu of a prompt where no plugin shows one. Neovim's own triggering is not used: it does not survive that
--- a buffer is read again.
local M = {}

local completion = require("agent_lsp.prompt.completion")

local api = vim.api
local PLUGINS = { "blink.cmp", "cmp", "mini.completion" }

--- Looked at late, because many are loaded only when insert mode is entered.
---@return boolean
local function has_plugin()
  for _, name in ipairs(PLUGINS) do
    if package.loaded[name] then
      return true
    end
  end
  return false
end

---@param buf integer
---@return string? word, integer row, integer col
local function place(buf)
  local row, col = unpack(api.nvim_win_get_cursor(0))
  local line = api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or ""
  return completion.word(row - 1, line:sub(1, col)), row, col
end

---@param buf integer
local function show(buf)
  local word, row, col = place(buf)
  if not word or has_plugin() or vim.fn.pumvisible() == 1 then
    return
  end
  local line = api.nvim_buf_get_lines(buf, row - 1, row, false)[1]
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = row - 1, character = vim.str_utfindex(line, "utf-16", col, false) },
  }
  completion.complete(params, function(_, list)
    if api.nvim_get_current_buf() ~= buf or api.nvim_get_mode().mode:sub(1, 1) ~= "i" then
      return
    end
    local now, _, now_col = place(buf)
    if now ~= word or now_col ~= col then -- more was typed meanwhile, which asks anew
      return
    end
    local items = {}
    for _, item in ipairs(list.items) do
      if vim.startswith(item.label, word) or item.label:lower():find(word:sub(2):lower(), 1, true) then
        items[#items + 1] = { word = item.label, menu = item.detail }
      end
    end
    if #items > 0 and not (#items == 1 and items[1].word == word) then
      vim.fn.complete(col - #word + 1, items)
    end
  end)
end

--- Shows the menu while a mention is typed. Nothing is selected or inserted by itself.
---@param buf integer
function M.attach(buf)
  vim.bo[buf].completeopt = "menuone,noselect,noinsert"
  api.nvim_create_autocmd("TextChangedI", {
    group = api.nvim_create_augroup("agent_lsp_menu_" .. buf, {}),
    buffer = buf,
    callback = function()
      show(buf)
    end,
  })
end

return M
