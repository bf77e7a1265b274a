--- The settings: defaults, and what `setup` was given over them. Everything works without `setup`.
local M = {}

---@type agent.Config
local defaults = {
  cmd = { "agent-lsp" },
  settings = {},
  root_markers = { ".agent-lsp", ".git", ".hg", ".jj" },
  workspace_trusted = false,
  chat = { position = "right", size = 0.4, fold = true },
  prompt = { height = 6, history = 50 },
  approval = { ui = "float" },
  log_level = vim.log.levels.WARN,
}

local allowed = {
  ["chat.position"] = { "right", "left", "bottom", "top", "tab", "current" },
  ["approval.ui"] = { "float", "select" },
}

---@type agent.Config
local current = vim.deepcopy(defaults)

--- The settings in force. Not to be changed.
---@return agent.Config
function M.get()
  return current
end

--- What is in force when nothing was set.
---@return agent.Config
function M.defaults()
  return vim.deepcopy(defaults)
end

---@param given any
---@param default any
---@param path string
---@return string? problem
local function judge(given, default, path)
  if path == "workspace_trusted" and type(given) == "function" then
    return nil
  elseif type(given) ~= type(default) then
    return ("%s must be a %s, not a %s"):format(path, type(default), type(given))
  elseif allowed[path] and not vim.list_contains(allowed[path], given) then
    return ("%s must be one of %s, not %q"):format(path, table.concat(allowed[path], ", "), given)
  elseif path == "cmd" and (#given == 0 or type(given[1]) ~= "string") then
    return 'cmd must be a list that begins with a program, as { "agent-lsp" }'
  end
end

---@param given table
---@param into table
---@param path string
---@param problems string[]
local function merge(given, into, path, problems)
  for name, value in pairs(given) do
    local at = path .. name
    local default = into[name]
    if default == nil then
      problems[#problems + 1] = ("there is no setting %s"):format(at)
    else
      local problem = judge(value, default, at)
      if problem then
        problems[#problems + 1] = problem
      elseif type(value) == "table" and not vim.islist(value) and at ~= "settings" then
        merge(value, default, at .. ".", problems)
      else
        into[name] = vim.deepcopy(value)
      end
    end
  end
end

--- Sets the settings anew over the defaults. A wrong one keeps its default; returns what was wrong, a line each.
---@param given? agent.UserConfig
---@return string[] problems
function M.set(given)
  local problems = {}
  current = vim.deepcopy(defaults)
  if type(given or {}) ~= "table" then
    return { ("setup takes a table, not a %s"):format(type(given)) }
  end
  merge(given or {}, current, "", problems)
  require("agent_lsp.log").set_level(current.log_level)
  return problems
end

return M
