--- What the commands and the <Plug> mappings do.
local M = {}

local client = require("agent_lsp.client")
local log = require("agent_lsp.log")
local picker = require("agent_lsp.picker")
local protocol = require("agent_lsp.protocol")
local sessions = require("agent_lsp.session")

local api = vim.api

---@param err agent.Error
local function tell(err)
  if err.code ~= protocol.SERVER_GONE then -- that has been told where it happened
    log.tell(err.message, vim.log.levels.ERROR)
  end
end

--- Calls back with the current session, or a new one; problems are told.
---@param callback fun(session: agent.Session)
local function with_session(callback)
  client.prepare()
  sessions.ready(function(err, session)
    if err or not session then
      return err and tell(err)
    end
    callback(session)
  end)
end

--- The session that is there already, or a word that there is none.
---@param callback fun(session: agent.Session)
local function with_existing(callback)
  local session = sessions.current()
  if not session then
    return log.tell("there is no session yet: begin one with :Agent {prompt}")
  end
  sessions.resume(session.id, function(err, resumed)
    if err or not resumed then
      return err and tell(err)
    end
    callback(resumed)
  end)
end

---@param session agent.Session
---@param changes table<string, any>
---@param done string
local function update(session, changes, done)
  session:update(changes, function(err)
    if err then
      return tell(err)
    end
    log.tell(done)
  end)
end

---@param text string
---@param chosen? agent.Selection
local function ask(text, chosen)
  with_session(function(session)
    local prompt = require("agent_lsp.prompt")
    local part = chosen and require("agent_lsp.prompt.context").selection_part(chosen)
    if text == "" then
      prompt.open(session)
      if part then
        prompt.add(session, part)
      end
      return
    end
    prompt.open(session, true)
    prompt.send(session, text, { part })
  end)
end

---@type table<string, fun(given: vim.api.keyset.create_user_command.command_args)>
M.commands = {}

--- Whether the range of a command is the visual selection. Lines that happen to be those of the last selection are still
--- lines if they were typed as numbers.
---@param given vim.api.keyset.create_user_command.command_args
---@return boolean
local function means_selection(given)
  local from, to = vim.fn.getpos("'<")[2], vim.fn.getpos("'>")[2]
  if given.range ~= 2 or given.line1 ~= from or given.line2 ~= to then
    return false
  end
  local typed = vim.fn.histget(":", -1)
  return not (typed:match("^%s*[%d.$%%][^A]*Agent") and vim.endswith(vim.trim(typed), vim.trim(given.args)))
end

--- `:[range]Agent[!] [prompt]`: a task, with the lines of the range, or exactly the visual selection if that is the range.
function M.commands.Agent(given)
  local context = require("agent_lsp.prompt.context")
  local chosen
  if given.range > 0 then
    local buf = api.nvim_get_current_buf()
    chosen = means_selection(given) and context.last_visual(buf) or context.lines(buf, given.line1, given.line2)
  end
  if not given.bang then
    return ask(given.args, chosen)
  end
  sessions.new({}, function(err)
    if err then
      return tell(err)
    end
    ask(given.args, chosen)
  end)
end

--- `:AgentChat[!] [session]`: opens chat and prompt, or closes them when they are open here.
function M.commands.AgentChat(given)
  local prompt = require("agent_lsp.prompt")
  local session = sessions.current()
  if session and given.args == "" and not given.bang and require("agent_lsp.chat").is_shown(session) then
    return prompt.close(session)
  end
  client.prepare()
  if given.args ~= "" then
    return require("agent_lsp.glance").open(given.args, prompt.open, tell)
  end
  with_session(prompt.open)
end

--- `:AgentEarlier[!]`: a page of what was said before, or all of it.
function M.commands.AgentEarlier(given)
  with_existing(function(session)
    if not session.earlier then
      return log.tell("the chat has everything that was said")
    end
    require("agent_lsp.chat.earlier").read(session, { all = given.bang })
  end)
end

--- `:AgentNew`: another session in this workspace.
function M.commands.AgentNew()
  client.prepare()
  sessions.new({}, function(err, session)
    if err or not session then
      return err and tell(err)
    end
    require("agent_lsp.prompt").open(session)
  end)
end

--- `:AgentSteer {text}`: a word to the task that runs.
function M.commands.AgentSteer(given)
  with_existing(function(session)
    if not session:is_busy() then
      return log.tell("nothing runs that could be steered: :Agent begins a task")
    end
    require("agent_lsp.prompt").send(session, given.args)
  end)
end

--- `:AgentAbort [reason]`: ends what runs.
function M.commands.AgentAbort(given)
  local session = sessions.current()
  if not session or not client.get() then
    return log.tell("nothing runs")
  end
  session:abort(given.args ~= "" and given.args or nil, function(err, answer)
    if err then
      return tell(err)
    elseif not answer.aborted then
      log.tell("nothing runs")
    end
  end)
end

--- `:AgentCompact [summarize|discard]`: goes on from a summary, or from nothing.
function M.commands.AgentCompact(given)
  local mode = given.args ~= "" and given.args or nil
  with_existing(function(session)
    client.request("agent/compact", { sessionId = session.id, mode = mode }, function(err, answer)
      if err then
        return tell(err)
      elseif answer.availability ~= "ok" then
        log.tell("nothing to compact: " .. answer.availability:gsub("_", " "))
      elseif answer.status ~= "completed" then
        log.tell("not compacted: " .. (answer.errorMessage or answer.status), vim.log.levels.ERROR)
      end
    end)
  end)
end

--- `:AgentSessions`: chooses another session.
function M.commands.AgentSessions()
  client.prepare()
  picker.session()
end

--- `:AgentModel [provider/model]`: the model of the session from the next run on.
function M.commands.AgentModel(given)
  with_session(function(session)
    local function set(name)
      update(session, { model = name }, "model: " .. name)
    end
    if given.args ~= "" then
      return set(given.args)
    end
    picker.model(set)
  end)
end

---@param field string
---@param values string[]
---@param title string
local function setting(field, values, title)
  return function(given)
    with_session(function(session)
      local function set(value)
        update(session, { [field] = value }, title .. ": " .. value)
      end
      if given.args ~= "" then
        return set(given.args)
      end
      picker.choose(values, title, tostring, set)
    end)
  end
end

--- `:AgentMode [mode]`: what runs without asking. `:AgentThinking [level]`: how much the model thinks.
M.commands.AgentMode = setting("approvalMode", protocol.approval_modes, "mode")
M.commands.AgentThinking = setting("thinkingLevel", protocol.thinking_levels, "thinking")

--- Commands that can be typed into the prompt, by name.
---@type table<string, fun(arguments: string)>
M.in_prompt = {}
for name, command in pairs({
  compact = "AgentCompact",
  abort = "AgentAbort",
  new = "AgentNew",
  model = "AgentModel",
  mode = "AgentMode",
  sessions = "AgentSessions",
}) do
  M.in_prompt[name] = function(arguments)
    M.commands[command]({ args = arguments })
  end
end

---@type table<string, fun(): string?>
M.maps = {}

--- In visual mode the selection goes with the next prompt; else only the prompt is opened.
M.maps["agent-ask"] = function()
  local mode = vim.fn.mode()
  local chosen = (mode == "v" or mode == "V" or mode == "\22") and require("agent_lsp.prompt.context").visual() or nil
  if chosen then
    vim.cmd("normal! \27")
  end
  ask("", chosen)
end

--- An operator: the text of the motion that follows goes with the next prompt.
M.maps["agent-op"] = function()
  vim.o.operatorfunc = "v:lua.require'agent_lsp.commands'.operate"
  return "g@"
end

--- The second half of the operator.
---@param motion "line"|"char"|"block"
function M.operate(motion)
  ask("", require("agent_lsp.prompt.context").operated(motion))
end

M.maps["agent-chat"] = function()
  M.commands.AgentChat({ args = "", bang = false })
end

return M
