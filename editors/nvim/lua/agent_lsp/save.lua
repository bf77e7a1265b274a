--- `agent/saveDocument`, and reloading what commands have changed. Neither ever asks the person anything.
local M = {}

local api = vim.api
local buffers = require("agent_lsp.edits.buffers")
local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local log = require("agent_lsp.log")
local steady = require("agent_lsp.edits.steady")

local RELOAD_AFTER_MS = 50
local group = api.nvim_create_augroup("agent_lsp_save", {})

--- Looks whether the file of a buffer has changed on the disk, and lets `choose` decide what is done about it.
--- Without that Neovim would ask the person, or say so.
---@param bufnr integer
---@param choose fun(reason: string): ""|"reload"
---@return string? reason why it is not as it was: "changed", "conflict", "deleted", "mode" or "time"
local function check(bufnr, choose)
  local found
  local id = api.nvim_create_autocmd("FileChangedShell", {
    group = group,
    buffer = bufnr,
    callback = function()
      found = vim.v.fcs_reason
      vim.v.fcs_choice = choose(found)
    end,
  })
  pcall(vim.cmd.checktime, { args = { tostring(bufnr) }, mods = { silent = true, emsg_silent = true } })
  pcall(api.nvim_del_autocmd, id)
  return found
end

-- Saving -----------------------------------------------------------------------------------------------------------------

---@param problem any
---@return string
local function readable(problem)
  return (tostring(problem):gsub("^.-Vim%(%a+%):", ""):gsub("^.-Vim:", ""):gsub("%s*\n%s*", " "))
end

---@param bufnr integer
---@return string? problem
local function write(bufnr)
  local reason = check(bufnr, function()
    return ""
  end)
  if reason == "changed" or reason == "conflict" then
    return "W12: the file has changed on the disk since it was read"
  end
  local confirms = vim.o.confirm
  vim.o.confirm = false -- or errors become questions
  local ok, problem = steady.while_editing(bufnr, function()
    api.nvim_buf_call(bufnr, function()
      vim.cmd.write({ mods = { silent = true, keepalt = true, lockmarks = true } })
    end)
  end)
  vim.o.confirm = confirms
  if not ok then
    return readable(problem)
  end
end

---@param params { uri: string }
---@return { saved: boolean, reason?: string }
local function save(params)
  local bufnr = buffers.loaded(params.uri)
  if not bufnr then
    return { saved = false, reason = "it is not loaded in the editor" }
  end
  local problem = write(bufnr)
  if problem then
    log.tell(("%s was not saved: %s"):format(buffers.readable(params.uri), problem), vim.log.levels.WARN)
    return { saved = false, reason = problem }
  end
  return { saved = true }
end

-- Reloading ----------------------------------------------------------------------------------------------------------------

---@param bufnr integer
---@return boolean
local function is_file(bufnr)
  return api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" and api.nvim_buf_get_name(bufnr) ~= ""
end

---@type table<integer, string> of the file of a buffer, when it was last looked at
local stamps = {}

--- Whether a file may have changed since it was last looked at.
---@param bufnr integer
---@return boolean
local function may_differ(bufnr)
  local state = vim.uv.fs_stat(api.nvim_buf_get_name(bufnr))
  local stamp = state and ("%d.%d %d"):format(state.mtime.sec, state.mtime.nsec, state.size) or "gone"
  local known = stamps[bufnr]
  stamps[bufnr] = stamp
  return known ~= stamp
end

--- Reloads the buffers whose files are others on the disk. One with unsaved changes stays as it is.
---@return string[] left names of those that were left
function M.reload()
  local left = {}
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if is_file(bufnr) and may_differ(bufnr) then
      local restore = steady.remember(bufnr)
      local reason = check(bufnr, function(reason)
        return reason == "changed" and "reload" or ""
      end)
      restore()
      if reason == "conflict" then
        left[#left + 1] = vim.fn.fnamemodify(api.nvim_buf_get_name(bufnr), ":~:.")
      end
    end
  end
  return left
end

---@param session agent.Session
local function reload_for(session)
  local left = M.reload()
  if #left > 0 then
    local line = "%s changed on the disk and has unsaved changes here: left as it is"
    require("agent_lsp.chat").note(session.id, line:format(table.concat(left, ", ")))
  end
end

--- Takes the server's wish to save, and looks at the files whenever a tool has ended.
function M.attach()
  client.handle("agent/saveDocument", save)
  local timers = {} ---@type table<string, uv.uv_timer_t>
  events.on("message", function(data)
    if data.message.payload.type ~= "tool_call_output" then
      return
    end
    local session = data.session
    local timer = timers[session.id] or assert(vim.uv.new_timer())
    timers[session.id] = timer
    timer:start(
      RELOAD_AFTER_MS,
      0,
      vim.schedule_wrap(function()
        reload_for(session)
      end)
    )
  end)
end

return M
