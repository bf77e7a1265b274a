--- The keys of our own buffers: each listed by `g?`, none of them anywhere else.
local M = {}

local api = vim.api

---@class agent.Key
---@field lhs string
---@field modes string[]
---@field desc string
---@field run fun()

--- Sets keys in a buffer.
---@param buf integer
---@param keys agent.Key[]
function M.apply(buf, keys)
  for _, key in ipairs(keys) do
    vim.keymap.set(
      key.modes,
      key.lhs,
      key.run,
      { buffer = buf, nowait = true, silent = true, desc = "agent: " .. key.desc }
    )
  end
end

---@param keys agent.Key[]
---@return string[] lines, integer column where the words begin
local function listed(keys)
  local lines, width, modes = {}, 0, 0
  for _, key in ipairs(keys) do
    width, modes = math.max(width, #key.lhs), math.max(modes, #key.modes)
  end
  local row = (" %%-%ds  %%-%ds  %%s"):format(width, modes)
  for _, key in ipairs(keys) do
    lines[#lines + 1] = row:format(key.lhs, table.concat(key.modes), key.desc)
  end
  return lines, width + modes + 5
end

--- Gives a float the height of what it shows, lines that wrap included, in the middle of the screen.
---@param win integer
local function fit(win)
  local height = math.min(api.nvim_win_text_height(win, {}).all, vim.o.lines - 4)
  local config = api.nvim_win_get_config(win)
  config.height, config.row = height, math.max(0, math.floor((vim.o.lines - height) / 2) - 1)
  api.nvim_win_set_config(win, config)
end

--- Shows what the keys of this buffer do.
---@param keys agent.Key[]
function M.help(keys)
  local lines, column = listed(keys)
  vim.list_extend(lines, { "", " :h agent-lsp for all commands" })
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local win = api.nvim_open_win(buf, true, {
    relative = "editor",
    style = "minimal",
    border = "rounded",
    title = " keys ",
    width = math.min(width + 1, vim.o.columns - 4),
    height = 1,
    row = 0,
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
  })
  for name, value in pairs({ linebreak = true, breakindent = true, breakindentopt = "shift:" .. column - 1 }) do
    api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
  fit(win)
  for _, lhs in ipairs({ "q", "<Esc>", "g?" }) do
    vim.keymap.set("n", lhs, function()
      if api.nvim_win_is_valid(win) then
        api.nvim_win_close(win, true)
      end
    end, { buffer = buf, nowait = true, desc = "agent: close" })
  end
end

---@param buf integer
---@return agent.View?, agent.Session?
local function shown(buf)
  local id = vim.b[buf].agent_session
  return require("agent_lsp.chat").view(id), require("agent_lsp.session").get(id)
end

--- Reads what is before the first message that is shown.
---@param options { all?: boolean }
---@param callback? fun()
local function read_earlier(options, callback)
  local _, session = shown(0)
  if session then
    require("agent_lsp.chat.earlier").read(session, options, callback)
  end
end

---@param direction 1|-1
local function jump(direction)
  local view, session = shown(0)
  if not view or not session then
    return
  end
  local buf, row = view.buf, api.nvim_win_get_cursor(0)[1] - 1
  local target
  for _, segment in ipairs(view.model.segments) do
    if segment.kind == "user" or segment.kind == "steer" then
      local start = view:rows(segment)
      if start and direction == 1 and start > row then
        target = start
        break
      elseif start and direction == -1 and start < row then
        target = start
      end
    end
  end
  if target then
    vim.cmd("normal! m'")
    api.nvim_win_set_cursor(0, { target + 1, 0 })
  elseif direction == -1 and session.earlier then
    read_earlier({}, function()
      if api.nvim_get_current_buf() == buf then
        jump(direction)
      end
    end)
  end
end

--- Shows the call under the cursor in full: arguments as they were written, and the output.
local function inspect_call()
  local view = shown(0)
  local segment = view and view:at(api.nvim_win_get_cursor(0)[1] - 1)
  if not segment or not segment.tool then
    return
  end
  local arguments = require("agent_lsp.chat.compose").decoded(segment.tool.arguments)
  local lines = { "# " .. segment.tool.name .. " (" .. segment.tool.state .. ")", "" }
  local names = vim.tbl_keys(arguments or {})
  table.sort(names)
  for _, name in ipairs(names) do
    local value = arguments and arguments[name]
    local text = type(value) == "string" and value or vim.json.encode(value)
    vim.list_extend(lines, { "## " .. name, "" })
    vim.list_extend(lines, vim.split(text, "\n", { plain = true }))
    lines[#lines + 1] = ""
  end
  if not arguments then
    vim.list_extend(lines, vim.split(segment.tool.arguments, "\n", { plain = true }))
  end
  vim.list_extend(lines, { "## output", "" })
  vim.list_extend(lines, vim.split(require("agent_lsp.chat.model").text(segment), "\n", { plain = true }))
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  vim.cmd("aboveleft split")
  vim.wo[0][0].winfixbuf = false
  api.nvim_win_set_buf(0, buf)
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, nowait = true, desc = "agent: close" })
end

---@type agent.Key[]
local chat_keys
chat_keys = {
  {
    lhs = "i",
    modes = { "n" },
    desc = "write a prompt",
    run = function()
      local _, session = shown(0)
      if session then
        require("agent_lsp.prompt").open(session)
      end
    end,
  },
  {
    lhs = "<C-c>",
    modes = { "n" },
    desc = "stop what runs",
    run = function()
      require("agent_lsp.commands").commands.AgentAbort({ args = "" })
    end,
  },
  {
    lhs = "]]",
    modes = { "n" },
    desc = "the next prompt",
    run = function()
      jump(1)
    end,
  },
  {
    lhs = "[[",
    modes = { "n" },
    desc = "the prompt before",
    run = function()
      jump(-1)
    end,
  },
  {
    lhs = "g<",
    modes = { "n" },
    desc = "read all that was said earlier",
    run = function()
      read_earlier({ all = true })
    end,
  },
  {
    lhs = "<CR>",
    modes = { "n" },
    desc = "on the first line: read a page of what was said earlier",
    run = function()
      if api.nvim_win_get_cursor(0)[1] == 1 then
        read_earlier({})
      else
        vim.cmd("normal! " .. vim.v.count1 .. "\r")
      end
    end,
  },
  { lhs = "K", modes = { "n" }, desc = "the call under the cursor in full", run = inspect_call },
  {
    lhs = "q",
    modes = { "n" },
    desc = "close the chat's windows",
    run = function()
      local _, session = shown(0)
      if session then
        require("agent_lsp.prompt").close(session)
      end
    end,
  },
  {
    lhs = "g?",
    modes = { "n" },
    desc = "these keys",
    run = function()
      M.help(chat_keys)
    end,
  },
}

--- Sets the keys of a chat.
---@param buf integer
function M.set(buf)
  M.apply(buf, chat_keys)
end

return M
