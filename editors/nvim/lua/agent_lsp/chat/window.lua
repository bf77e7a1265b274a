--- The windows of chat and prompt: where they open, what is set in them, and that they never keep Neovim open.
local M = {}

local config = require("agent_lsp.config")

local api = vim.api
local OPENERS = {
  right = "botright vsplit",
  left = "topleft vsplit",
  bottom = "botright split",
  top = "topleft split",
  tab = "tab split",
}
local CHAT_OPTIONS = {
  foldmethod = "manual",
  foldenable = true,
  foldtext = "",
  foldminlines = 0,
  foldcolumn = "0",
  conceallevel = 2,
  concealcursor = "nvic",
  wrap = true,
  linebreak = true,
  breakindent = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  spell = false,
  list = false,
  cursorline = false,
  winfixwidth = true,
  winfixbuf = true,
}
local PROMPT_OPTIONS = {
  wrap = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  foldmethod = "manual",
  winfixheight = true,
  winfixwidth = true,
  winfixbuf = true,
}

--- Sets options of one window alone: neither the global value nor another window's changes.
---@param win integer
---@param options table<string, any>
local function set_local(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

---@param win integer
function M.set_chat_options(win)
  local options = CHAT_OPTIONS
  if api.nvim_win_get_config(win).relative ~= "" or not vim.w[win].agent_window then
    options = vim.tbl_extend("force", CHAT_OPTIONS, { winfixwidth = false, winfixbuf = false })
  end
  set_local(win, options)
  local listed = vim.wo[win].fillchars
  if not listed:find("fold:", 1, true) then
    set_local(win, { fillchars = listed == "" and "fold: " or listed .. ",fold: " })
  end
end

--- The window of this tabpage that shows a buffer.
---@param buf integer
---@return integer?
function M.find(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

---@param position string
---@return integer
local function extent(position)
  local size = config.get().chat.size
  local whole = (position == "bottom" or position == "top") and vim.o.lines or vim.o.columns
  return math.max(10, math.floor(size < 1 and whole * size or size))
end

---@param opener string an Ex command that makes a window
---@param buf integer
---@param stay? boolean
---@return integer win
local function open(opener, buf, stay)
  local before = api.nvim_get_current_win()
  vim.cmd("noautocmd " .. opener)
  local win = api.nvim_get_current_win()
  vim.w[win].agent_window = true
  set_local(win, { winfixbuf = false })
  if stay then
    api.nvim_set_current_win(before)
    api.nvim_win_set_buf(win, buf)
  else
    api.nvim_win_set_buf(win, buf)
  end
  return win
end

--- Shows a chat in this tabpage, and goes there unless `stay`.
---@param buf integer
---@param stay? boolean
---@return integer win
function M.open_chat(buf, stay)
  local win = M.find(buf)
  if win then
    if not stay then
      api.nvim_set_current_win(win)
    end
    return win
  end
  local position = config.get().chat.position
  if position == "current" then
    api.nvim_win_set_buf(0, buf)
    win = api.nvim_get_current_win()
  else
    win = open(OPENERS[position], buf, stay)
    if position == "right" or position == "left" then
      api.nvim_win_set_width(win, extent(position))
    elseif position ~= "tab" then
      api.nvim_win_set_height(win, extent(position))
    end
  end
  M.set_chat_options(win)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
  return win
end

--- Shows a prompt below its chat, and goes there unless `stay`.
---@param buf integer
---@param chat_win integer
---@param stay? boolean
---@return integer win
function M.open_prompt(buf, chat_win, stay)
  local win = M.find(buf)
  if not win then
    local before = api.nvim_get_current_win()
    win = api.nvim_open_win(buf, false, { split = "below", win = chat_win, height = config.get().prompt.height })
    vim.w[win].agent_window = true
    set_local(win, PROMPT_OPTIONS)
    if api.nvim_get_current_win() ~= before then
      api.nvim_set_current_win(before)
    end
  end
  if not stay then
    api.nvim_set_current_win(win)
  end
  return win
end

---@param win integer
---@return boolean
local function is_ours(win)
  return vim.w[win].agent_window == true
end

---@return integer[] ours, integer[] others the windows of this tabpage, floats aside
local function sorted()
  local ours, others = {}, {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_config(win).relative == "" then
      table.insert(is_ours(win) and ours or others, win)
    end
  end
  return ours, others
end

--- Closes the windows of this tabpage that show one of `buffers`; the last ordinary one of all stays.
---@param buffers integer[]
function M.close(buffers)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local shows = api.nvim_win_is_valid(win) and vim.list_contains(buffers, api.nvim_win_get_buf(win))
    local ours, others = sorted()
    if shows and #ours + #others > 1 then
      api.nvim_win_close(win, true)
    elseif shows and #api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose()
      return
    end
  end
end

--- `:quit` in the last window that is not ours quits as if ours were not there. If it was refused, ours come back.
local function before_quit()
  local leaving = api.nvim_get_current_win()
  local ours, others = sorted()
  if is_ours(leaving) or #ours == 0 or #others ~= 1 or others[1] ~= leaving then
    return
  end
  local sessions = {}
  for _, win in ipairs(ours) do
    local id = vim.b[api.nvim_win_get_buf(win)].agent_session
    if id then
      sessions[id] = true
    end
    api.nvim_win_close(win, true)
  end
  vim.schedule(function()
    if api.nvim_win_is_valid(leaving) and api.nvim_get_current_win() == leaving then
      for id in pairs(sessions) do
        local session = require("agent_lsp.session").get(id)
        if session then
          require("agent_lsp.prompt").open(session, true)
        end
      end
    end
  end)
end

--- Takes part.
function M.attach()
  local group = api.nvim_create_augroup("agent_lsp_window", {})
  api.nvim_create_autocmd("QuitPre", { group = group, callback = before_quit })
end

return M
