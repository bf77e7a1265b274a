--- The window in which prompts are written. Enter sends; while a task runs it is a word to that task.
local M = {}

local bar = require("agent_lsp.chat.bar")
local chat = require("agent_lsp.chat")
local drafts = require("agent_lsp.prompt.draft")
local sessions = require("agent_lsp.session")
local window = require("agent_lsp.chat.window")

local api = vim.api
local PREFIX = "agent://prompt/"
local SAVE_MS = 300

---@type table<string, integer> buffer by session id
local buffers = {}
---@type table<string, agent.InputPart[]> what goes with the next prompt, by session id
local attachments = {}
---@type table<string, integer> place in the history, counted from its end, by session id
local places = {}
---@type table<string, uv.uv_timer_t>
local timers = {}

---@param buf integer
---@return string
local function text_of(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

---@param buf integer
---@param text string
local function put(buf, text)
  local lines = vim.split(text, "\n", { plain = true })
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modified = false
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_set_cursor(win, { #lines, #lines[#lines] })
  end
end

---@param id string
local function keep(id)
  local buf = buffers[id]
  if buf and api.nvim_buf_is_loaded(buf) then
    drafts.of(id).text = text_of(buf)
    drafts.save(id)
  end
end

---@param id string
local function keep_soon(id)
  local timer = timers[id] or assert(vim.uv.new_timer())
  timers[id] = timer
  timer:start(
    SAVE_MS,
    0,
    vim.schedule_wrap(function()
      keep(id)
    end)
  )
end

-- Sending --------------------------------------------------------------------------------------------------------------

--- Gives a text back that was not taken: into the prompt if that is empty. It is in the history in any case.
---@param id string
---@param text string
local function give_back(id, text)
  local draft, buf = drafts.of(id), buffers[id]
  if buf and api.nvim_buf_is_loaded(buf) then
    if text_of(buf) == "" then
      put(buf, text)
    end
    keep(id)
  elseif draft.text == "" then
    draft.text = text
    drafts.save(id)
  end
end

--- Sends a text: starts a task, or says a word to the one that runs. What is refused comes back into the prompt.
---@param session agent.Session
---@param text string
---@param attached? agent.InputPart[]
function M.send(session, text, attached)
  drafts.remember(session.id, text)
  require("agent_lsp.prompt.sending").send(session, text, attached, function()
    give_back(session.id, text)
  end)
end

---@param text string
---@return boolean done whether it was a command of the prompt's own
local function carried_out(text)
  local name, arguments = text:match("^/(%l+)%s*(.-)%s*$")
  local command = name and require("agent_lsp.commands").in_prompt[name]
  if command then
    command(arguments)
  end
  return command ~= nil
end

--- Sends what is in the prompt of a session.
---@param id string
local function submit(id)
  local session, buf = sessions.get(id), buffers[id]
  local text = vim.trim(text_of(buf))
  local attached = attachments[id]
  if not session or (text == "" and not attached) then
    return
  end
  attachments[id], places[id] = nil, nil
  put(buf, "")
  keep(id)
  if not carried_out(text) then
    M.send(session, text, attached)
  end
  bar.refresh(session, false)
end

-- History and steers ---------------------------------------------------------------------------------------------------

---@param id string
---@param step 1|-1 -1: earlier
local function walk(id, step)
  local draft = drafts.of(id)
  local place = (places[id] or 0) - step
  if place < 0 or place > #draft.history then
    return
  end
  if (places[id] or 0) == 0 then
    draft.parked = text_of(buffers[id])
  end
  places[id] = place
  put(buffers[id], place == 0 and draft.parked or draft.history[#draft.history - place + 1])
end

---@param id string
local function take_back(id)
  local session = sessions.get(id)
  if session and text_of(buffers[id]) == "" then
    session:unsteer(function(_, steer)
      if steer then
        give_back(id, steer.text)
      end
    end)
  else
    api.nvim_feedkeys(api.nvim_replace_termcodes("<C-u>", true, false, true), "in", false)
  end
end

-- The buffer -----------------------------------------------------------------------------------------------------------

---@param buf integer
---@param id string
local function set_keys(buf, id)
  require("agent_lsp.prompt.keys").set(buf, {
    send = function()
      submit(id)
    end,
    walk = function(step)
      walk(id, step)
    end,
    take_back = function()
      take_back(id)
    end,
    close = function()
      local session = sessions.get(id)
      if session then
        M.close(session)
      end
    end,
  })
end

--- Keeps what is written. A buffer that was unloaded and read again is followed anew.
---@param buf integer
---@param id string
local function follow(buf, id)
  local group = api.nvim_create_augroup("agent_lsp_prompt_" .. buf, {})
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    group = group,
    buffer = buf,
    callback = function()
      keep_soon(id)
    end,
  })
  api.nvim_create_autocmd({ "BufWinLeave", "BufUnload", "InsertLeave" }, {
    group = group,
    buffer = buf,
    callback = function()
      keep(id)
    end,
  })
end

---@param buf integer
---@param id string
local function prepare(buf, id)
  for name, value in pairs({ buftype = "nofile", bufhidden = "hide", buflisted = false, swapfile = false }) do
    api.nvim_set_option_value(name, value, { buf = buf })
  end
  vim.b[buf].agent_session = id
  buffers[id] = buf
  put(buf, drafts.of(id).text)
  if vim.bo[buf].filetype ~= "agent_prompt" then
    vim.bo[buf].filetype = "agent_prompt"
    set_keys(buf, id)
    pcall(vim.treesitter.start, buf, "markdown")
  end
  follow(buf, id)
  require("agent_lsp.prompt.completion").attach(buf)
  require("agent_lsp.prompt.menu").attach(buf)
end

---@param session agent.Session
---@return integer
local function buffer(session)
  local known = buffers[session.id]
  if known and api.nvim_buf_is_loaded(known) then
    return known
  end
  local buf = vim.fn.bufadd(PREFIX .. session.id)
  local ignored = vim.o.eventignore
  vim.o.eventignore = "BufReadCmd"
  vim.fn.bufload(buf)
  vim.o.eventignore = ignored
  prepare(buf, session.id)
  return buf
end

--- `BufReadCmd`: `:edit` in a prompt, or a restored session.
---@param buf integer
---@param id string
function M.read(buf, id)
  prepare(buf, id)
end

--- Opens chat and prompt of a session in this tabpage, with the cursor in the prompt unless `stay`.
---@param session agent.Session
---@param stay? boolean
function M.open(session, stay)
  sessions.select(session)
  local chat_win = chat.open(session, true)
  window.open_prompt(buffer(session), chat_win, stay)
  bar.refresh(session)
end

--- Closes both in this tabpage. Nothing is stopped.
---@param session agent.Session
function M.close(session)
  local open = { buffers[session.id] }
  local view = chat.view(session.id)
  open[#open + 1] = view and view.buf
  window.close(open)
end

--- Adds to what goes with the next prompt.
---@param session agent.Session
---@param part agent.InputPart
function M.add(session, part)
  attachments[session.id] = attachments[session.id] or {}
  table.insert(attachments[session.id], part)
  local names = require("agent_lsp.protocol").input_text(attachments[session.id])
  bar.refresh(session, (names:gsub("%s+", " ")))
end

--- Takes part.
function M.attach()
  require("agent_lsp.prompt.context").attach()
  api.nvim_create_autocmd("VimLeavePre", {
    group = api.nvim_create_augroup("agent_lsp_prompt", {}),
    callback = function()
      for id in pairs(buffers) do
        keep(id)
      end
    end,
  })
end

return M
