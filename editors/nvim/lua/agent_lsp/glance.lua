--- A session on the screen before it is open: opening a long one takes the server a second, reading its end a moment.
local M = {}

local client = require("agent_lsp.client")
local sessions = require("agent_lsp.session")

local PAGE = 200

--- The session with this id, resumed. `shown` comes before that, once, as soon as there is something to show.
---@param id string
---@param shown fun(session: agent.Session)
---@param failed fun(err: agent.Error)
function M.open(id, shown, failed)
  local known = sessions.get(id)
  local function resume()
    sessions.resume(id, function(err, session)
      if err then
        failed(err)
      elseif session and session ~= known then
        shown(session)
      end
    end)
  end
  if known then
    shown(known)
    return resume()
  end
  client.request("agent/session/history", { sessionId = id, limit = PAGE, fromEnd = true }, function(err, history)
    known = sessions.get(id)
    if not err and not known then
      local workspace = vim.uri_from_fname(client.root(0))
      known = sessions.adopt({ sessionId = id, workspace = workspace, createdAt = "", state = "idle" })
      known.epoch = 0
      known:replace(history)
      known.was_cut = { has_open = false }
    end
    if known then
      shown(known)
    end
    resume()
  end)
end

return M
