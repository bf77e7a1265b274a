--- The public face: `setup`, which need not be called, and what others may build on.
local M = {}

--- Changes settings (|agent-lsp-settings|). What is wrong is told and left as it was; nothing is started.
---@param settings? agent.UserConfig
function M.setup(settings)
  local log = require("agent_lsp.log")
  for _, problem in ipairs(require("agent_lsp.config").set(settings)) do
    log.tell("setup: " .. problem, vim.log.levels.ERROR)
  end
end

return M
