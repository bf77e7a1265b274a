--- `:checkhealth agent_lsp`: what is missing or wrong, and what to do about it. Starts no server, needs no `setup`.
local M = {}

local health = vim.health

local LEAST_VERSION = "0.1.0"
local WITHIN_MS = 10000

---@param cmd string[]
---@param cwd? string
---@return boolean ok, string output
local function run(cmd, cwd)
  local started, process = pcall(vim.system, cmd, { text = true, cwd = cwd })
  if not started then
    return false, tostring(process)
  end
  local result = process:wait(WITHIN_MS)
  if result.code ~= 0 then
    local said = vim.trim(result.stderr ~= "" and result.stderr or result.stdout or "")
    return false, said ~= "" and said or ("exit code %d"):format(result.code)
  end
  return true, result.stdout or ""
end

local function check_editor()
  health.start("agent-lsp: editor")
  local version = ("%d.%d.%d"):format(vim.version().major, vim.version().minor, vim.version().patch)
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim " .. version)
  else
    health.error("Neovim " .. version .. " is too old", "install Neovim 0.11 or newer")
  end
  if pcall(vim.treesitter.language.inspect, "markdown") then
    health.ok("the Markdown parser is there: the chat is highlighted")
  else
    health.warn(
      "there is no Markdown parser: the chat is plain text",
      "install it with nvim-treesitter, or :h treesitter-parsers"
    )
  end
  if vim.g.loaded_agent_lsp then
    health.ok("the plugin is loaded")
  else
    health.error("plugin/agent_lsp.lua was not loaded", "put the plugin on 'runtimepath' before Neovim has started up")
  end
end

--- The program to start, if it is one that works.
---@return string[]? cmd
local function check_server()
  health.start("agent-lsp: server")
  local cmd, problem = require("agent_lsp.client").command()
  if not cmd then
    health.error(problem or "it was not found")
    return nil
  end
  health.info("program: " .. table.concat(cmd, " "))
  local ok, said = run({ cmd[1], "--version" })
  local version = said:match("agent%-lsp (%d+%.%d+%.%d+)")
  if not ok or not version then
    local told = vim.split(vim.trim(said), "\n")[1]:sub(1, 200)
    health.error(
      ("%s is no agent-lsp that works: %s"):format(cmd[1], told),
      { "in its checkout: pipx install .", "or name the program: setup{ cmd = { '/path/to/agent-lsp' } }" }
    )
    return nil
  elseif vim.version.lt(version, LEAST_VERSION) then
    health.error(
      ("agent-lsp %s is older than %s, which this plugin needs"):format(version, LEAST_VERSION),
      "pipx upgrade agent-lsp"
    )
  else
    health.ok("agent-lsp " .. version)
  end
  return cmd
end

---@param cmd string[]
---@param name string of an option
---@return string? value
local function option(cmd, name)
  for index, word in ipairs(cmd) do
    if word == name then
      return cmd[index + 1]
    end
    local value = word:match("^" .. vim.pesc(name) .. "=(.*)$")
    if value then
      return value
    end
  end
end

--- What the server that runs says of its models, or one that is started for this: that one knows no settings of ours.
---@param cmd string[]
---@param root string
---@return table? answer, string? problem
local function models(cmd, root)
  local client = require("agent_lsp.client").get()
  if client then
    local answer, problem = client:request_sync("agent/models", vim.empty_dict(), WITHIN_MS)
    problem = problem or (answer and answer.err and answer.err.message)
    return answer and answer.result, problem
  end
  local words = { cmd[1], "models", "--json" }
  local config = option(cmd, "--config")
  if config then
    vim.list_extend(words, { "--config", config })
  end
  local ok, said = run(words, root)
  local decoded, answer = pcall(vim.json.decode, said, { luanil = { object = true, array = true } })
  if not ok or not decoded then
    return nil, vim.split(said, "\n")[1]
  end
  return answer
end

---@param cmd string[]
---@param root string
local function check_models(cmd, root)
  health.start("agent-lsp: model")
  local settings = require("agent_lsp.config").get().settings
  if (settings.providers or settings.config) and not require("agent_lsp.client").get() then
    health.info("providers are set in setup{}: look again when the server has been started, with :AgentModel say")
    return
  end
  local answer, problem = models(cmd, root)
  if answer then
    return M.judge_models(answer)
  end
  health.error(
    "the models could not be listed: " .. (problem or "no answer"),
    "run `agent-lsp doctor` in a terminal: it names what is wrong in the configuration"
  )
end

local KEY_REMEDIES = {
  "set the key of a provider, such as ANTHROPIC_API_KEY, in the environment that starts Neovim",
  "or keep one: `agent-lsp login PROVIDER`",
  "or choose another model: :AgentModel, or default_model in the configuration",
}

--- Says what is wrong with the model that would be used.
---@param answer { models: agent.ModelInfo[], defaultModel?: agent.ModelRef }
function M.judge_models(answer)
  local protocol = require("agent_lsp.protocol")
  local wanted = require("agent_lsp.config").get().settings.defaultModel or answer.defaultModel
  local name = protocol.model_name(wanted)
  local is_usable = vim.iter(answer.models or {}):any(function(model)
    return protocol.model_name(model) == name and model.hasCredential ~= false
  end)
  if name == "rehearsal/rehearsal" then
    health.warn("model: rehearsal/rehearsal, which only goes through the motions", KEY_REMEDIES)
  elseif is_usable then
    health.ok("model: " .. name)
  elseif name == "" then
    health.error("no model can be used", KEY_REMEDIES)
  else
    health.error(("%s cannot be used: its provider has no key, or no such model"):format(name), KEY_REMEDIES)
  end
end

local function check_workspace()
  health.start("agent-lsp: workspace")
  local root = require("agent_lsp.client").root(vim.fn.bufnr("#") > 0 and vim.fn.bufnr("#") or 0)
  local markers = require("agent_lsp.config").get().root_markers
  if vim.fs.root(root, markers) then
    health.ok("root: " .. root)
  else
    health.warn(
      ("no %s above the current file: the current folder %s is the workspace"):format(table.concat(markers, ", "), root),
      { ":cd to the project, or put one of these there", "or setup{ root_markers = { … } }" }
    )
  end
  if root == vim.uv.os_homedir() or root == "/" then
    health.warn(root .. " is the whole workspace: the agent may look at everything in it", ":cd to a project first")
  end
  return root
end

local function check_clients()
  health.start("agent-lsp: connection")
  local ours, others = {}, {}
  for _, client in ipairs(vim.lsp.get_clients()) do
    local info = client.server_info
    if client.name == "agent_lsp" then
      ours[#ours + 1] = client
    elseif info and info.name == "agent-lsp" then
      others[#others + 1] = client.name
    end
  end
  if #ours > 1 then
    health.error(
      ("%d servers run side by side"):format(#ours),
      ":lua vim.lsp.stop_client(vim.lsp.get_clients({ name = 'agent_lsp' }), true), then the next command starts one"
    )
  elseif #ours == 1 then
    health.ok(("connected (client %d)"):format(ours[1].id))
  else
    health.info("not started yet: the first command does that")
  end
  if #others > 0 then
    health.warn(
      ("%s starts agent-lsp once more, without what this plugin adds"):format(table.concat(others, ", ")),
      "remove that configuration: both would edit the same files"
    )
  end
  health.info("log: " .. require("agent_lsp.log").path())
end

--- Called by `:checkhealth`.
function M.check()
  check_editor()
  local cmd = check_server()
  local root = check_workspace()
  if cmd then
    check_models(cmd, root)
  end
  check_clients()
end

return M
