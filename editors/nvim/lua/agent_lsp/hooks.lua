--- What others may hook on: `User` autocommands at the start and the end of runs. Approvals and edits announce themselves.
local M = {}

local events = require("agent_lsp.events")

--- Announces runs.
function M.attach()
  events.on("run_start", function(data)
    events.announce("AgentRunStart", { session_id = data.session.id, run_id = data.run_id })
  end)
  events.on("run_end", function(data)
    local result = data.result or {}
    events.announce("AgentRunEnd", {
      session_id = data.session.id,
      run_id = data.run_id,
      status = result.status or "failed",
      turns = result.turns or 0,
      text = result.text or "",
      error = data.err and data.err.message or result.errorMessage,
    })
  end)
end

return M
