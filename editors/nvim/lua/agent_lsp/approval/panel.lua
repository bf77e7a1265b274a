--- The floats in which questions stand. They open without being entered: keys go on to whatever the person was typing in.
--- Those of one tabpage stand above each other in the corner of the screen that is farther from the cursor.
local M = {}

local keys = require("agent_lsp.chat.keys")
local layout = require("agent_lsp.approval.layout")
local log = require("agent_lsp.log")
local questions = require("agent_lsp.approval.questions")

local api = vim.api
local namespace = api.nvim_create_namespace("agent_lsp_approval")
local DELIBERATE_MS = 300

---@class agent.Panel
---@field question agent.Question
---@field buf integer
---@field win? integer
---@field face agent.Face
---@field keys agent.Key[]
---@field focused_at? number hrtime
---@field shown_at? number hrtime
local Panel = {}
Panel.__index = Panel

---@type table<integer, agent.Panel> by the question's id
local panels = {}
---@type agent.Corner
local corner = "bottom"

-- One panel --------------------------------------------------------------------------------------------------------------

---@param question agent.Question
---@param face agent.Face
---@param list agent.Key[]
---@return agent.Panel
local function new(question, face, list)
  local panel = setmetatable({ question = question, face = face, keys = list, buf = -1 }, Panel)
  panels[question.id] = panel
  return panel
end

---@private
function Panel:_make_buffer()
  if api.nvim_buf_is_valid(self.buf) then
    return
  end
  self.buf = api.nvim_create_buf(false, true)
  vim.bo[self.buf].bufhidden = "hide"
  vim.bo[self.buf].undolevels = -1
  vim.b[self.buf].agent_question = self.question.id
  keys.apply(self.buf, self.keys)
  api.nvim_create_autocmd({ "WinEnter", "WinLeave" }, {
    buffer = self.buf,
    callback = function(event)
      self.focused_at = event.event == "WinEnter" and vim.uv.hrtime() or self.focused_at
      self:_sign(event.event == "WinEnter")
    end,
  })
  self:_write()
end

---@private
function Panel:_write()
  vim.bo[self.buf].modifiable = true
  api.nvim_buf_set_lines(self.buf, 0, -1, false, self.face.lines)
  vim.bo[self.buf].modifiable = false
  api.nvim_buf_clear_namespace(self.buf, namespace, 0, -1)
  for _, mark in ipairs(self.face.marks) do
    local given = { hl_group = mark.group, end_row = mark.row, end_col = mark.to, priority = 200 }
    if not mark.from then
      given = { hl_group = mark.group, end_row = mark.row + 1, end_col = 0, hl_eol = true, priority = 100 }
    end
    given.strict = false
    api.nvim_buf_set_extmark(self.buf, namespace, mark.row, mark.from or 0, given)
  end
end

--- The key that goes to a question, or the command where none is mapped.
---@return string
local function way_in()
  for _, map in ipairs(api.nvim_get_keymap("n")) do
    if map.rhs == "<Plug>(agent-approval)" then
      return vim.fn.keytrans(map.lhsraw or map.lhs)
    end
  end
  return ":AgentApproval"
end

---@private
---@param is_entered boolean keys count in the float alone; who is outside has to know the way in
function Panel:_footer(is_entered)
  return layout.footer(is_entered and self.face.hints or { { way_in(), "to answer" } })
end

---@private
---@param is_entered boolean
function Panel:_sign(is_entered)
  if self:is_visible() then
    api.nvim_win_set_config(self.win, { footer = self:_footer(is_entered), footer_pos = "right" })
  end
end

---@private
---@param config vim.api.keyset.win_config
function Panel:_open(config)
  config.title = { { " " .. self.face.title .. " ", "AgentApproval" } }
  config.footer = self:_footer(self.win ~= nil and api.nvim_get_current_win() == self.win)
  config.footer_pos = "right"
  if self.win and api.nvim_win_is_valid(self.win) then
    return api.nvim_win_set_config(self.win, config)
  end
  config.style, config.noautocmd = "minimal", true
  config.border = layout.border()
  local ok, win = pcall(api.nvim_open_win, self.buf, false, config)
  if not ok then -- in the command-line window no other can be opened
    log.info(("the question waits for a window: %s"):format(win))
    return
  end
  self.win, self.shown_at, self.focused_at = win, vim.uv.hrtime(), vim.uv.hrtime()
  local options = {
    wrap = true,
    smoothscroll = true,
    linebreak = self.question.kind == "ask",
    breakindent = false,
    statuscolumn = layout.padding,
    showbreak = "",
    winfixbuf = true,
    winhighlight = "FloatBorder:AgentApprovalBorder",
  }
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

---@private
function Panel:_close()
  local win = self.win
  self.win = nil
  if win and api.nvim_win_is_valid(win) then
    pcall(api.nvim_win_close, win, true)
  end
end

---@return boolean
function Panel:is_visible()
  return self.win ~= nil and api.nvim_win_is_valid(self.win)
end

--- Whether the person has had the time to see what is answered: not with a key that was meant for something else.
---@param since? number hrtime
---@return boolean
local function is_deliberate(since)
  return since ~= nil and (vim.uv.hrtime() - since) / 1e6 >= DELIBERATE_MS
end

-- All of them ------------------------------------------------------------------------------------------------------------

--- Opens, moves and closes floats, until those are there that should be: of questions that wait and are not put away.
function M.arrange()
  local offset = 0
  local here = api.nvim_get_current_tabpage()
  for _, question in ipairs(questions.open()) do
    local panel = panels[question.id]
    if panel and not question.hidden then
      if panel:is_visible() and api.nvim_win_get_tabpage(panel.win) ~= here then
        panel:_close()
      end
      panel:_make_buffer()
      local config
      config, offset = layout.place(panel.face, offset, corner)
      panel:_open(config)
    end
  end
end

---@param question agent.Question
local function follow(question)
  local panel = panels[question.id]
  if not panel then
    return
  end
  if question.settled then
    panels[question.id] = nil
    panel:_close()
    if api.nvim_buf_is_valid(panel.buf) then
      pcall(api.nvim_buf_delete, panel.buf, { force = true })
    end
  elseif question.hidden then
    panel:_close()
  end
  M.arrange()
end

--- Shows a question with these keys. Those that answer must go through `deliberately`.
---@param question agent.Question
---@param face agent.Face
---@param list agent.Key[]
function M.show(question, face, list)
  if vim.tbl_isempty(panels) then
    corner = layout.free_corner()
  end
  new(question, face, list)
  M.arrange()
end

--- Another face for a question that is shown, with `row` (from 0) of it in view.
---@param question agent.Question
---@param face agent.Face
---@param row integer
function M.repaint(question, face, row)
  local panel = panels[question.id]
  if panel and api.nvim_buf_is_valid(panel.buf) then
    panel.face = face
    panel:_write()
    M.arrange()
    if panel:is_visible() then
      api.nvim_win_call(panel.win, function()
        vim.fn.winrestview({ lnum = math.min(row + 1, #face.lines), col = 0, topline = 1 })
        vim.cmd("normal! zb")
      end)
    end
  end
end

--- The action as a key does it: nothing happens within 300 ms after the float has got the focus.
---@param question agent.Question
---@param action fun()
---@return fun()
function M.deliberately(question, action)
  return function()
    local panel = panels[question.id]
    if panel and is_deliberate(panel.focused_at) then
      action()
    end
  end
end

--- Whether a question has been on the screen for long enough to be answered by a command.
---@param question agent.Question
---@return boolean
function M.was_seen(question)
  local panel = panels[question.id]
  return panel ~= nil and panel:is_visible() and is_deliberate(panel.shown_at)
end

--- Enters the float of a question, which is shown again if it was put away.
---@param question agent.Question
function M.focus(question)
  questions.hide(question, false)
  local panel = panels[question.id]
  if panel and panel:is_visible() then
    api.nvim_set_current_win(panel.win)
    panel.focused_at = vim.uv.hrtime()
  end
end

--- The question of the float that the person is in.
---@return agent.Question?
function M.focused()
  local win = api.nvim_get_current_win()
  for _, panel in pairs(panels) do
    if panel.win == win then
      return panel.question
    end
  end
end

--- Keeps floats where they belong.
function M.attach()
  questions.listen(follow)
  local group = api.nvim_create_augroup("agent_lsp_approval", {})
  api.nvim_create_autocmd({ "TabEnter", "VimResized", "CmdwinLeave" }, {
    group = group,
    callback = vim.schedule_wrap(M.arrange),
  })
  api.nvim_create_autocmd("WinClosed", {
    group = group,
    callback = function(event)
      for _, panel in pairs(panels) do
        if panel.win == tonumber(event.match) then
          local tabpage = api.nvim_win_get_tabpage(panel.win)
          panel.win = nil
          vim.schedule(function()
            if api.nvim_tabpage_is_valid(tabpage) then
              questions.hide(panel.question, true)
            end
            M.arrange()
          end)
        end
      end
    end,
  })
end

return M
