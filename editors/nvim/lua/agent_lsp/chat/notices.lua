--- What happened around the conversation, as one line each; nothing for what is shown otherwise or not at all.
local M = {}

local compose = require("agent_lsp.chat.compose")

local NEXT_STEP = {
  auth = "set the key of the provider, or choose another model with :AgentModel",
  timeout = "send the prompt again to go on",
  malformed = "send the prompt again to go on",
  failed = "send the prompt again to go on",
}

---@type table<string, fun(payload: table): string?>
local lines = {}

function lines.request_end(payload)
  if payload.status == "completed" then
    if payload.finish == "length" or payload.finish == "refusal" or payload.finish == "content_filter" then
      return ("the reply was ended by the model's server: %s"):format((payload.finish:gsub("_", " ")))
    end
    return nil
  elseif payload.status == "aborted" or payload.retry_in_ms then
    return nil
  end
  local next_step = NEXT_STEP[payload.status]
  local message = compose.line(payload.error_message or payload.status, 400)
  return ("**%s** %s%s"):format(payload.status, message, next_step and (" (%s)"):format(next_step) or "")
end

function lines.abort(payload)
  return payload.reason and ("stopped: " .. compose.line(compose.reason(payload.reason))) or "stopped"
end

function lines.compaction_begin(payload)
  return ("the conversation is being %s (%s, %s tokens)"):format(
    payload.mode == "discard" and "discarded" or "summarised",
    payload.reason,
    compose.tokens(payload.context)
  )
end

function lines.compaction_end(payload)
  if payload.status == "completed" then
    return payload.mode == "discard" and "discarded: what follows knows nothing of what is above"
      or "summarised: what follows knows of what is above from a summary"
  elseif payload.retry_in_ms then
    return nil
  end
  local why = payload.error_message and (": " .. compose.line(payload.error_message, 400)) or ""
  return ("it could not be compacted (%s)%s"):format(payload.status, why)
end

function lines.session_update(payload)
  local parts = {}
  for _, name in ipairs({ "model", "mode", "approval_mode", "thinking_level" }) do
    if type(payload[name]) == "string" then
      parts[#parts + 1] = ("%s: %s"):format((name:gsub("_", " ")), payload[name])
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

function lines.mcp_connect_end(payload)
  local failed = {}
  for _, result in ipairs(payload.results or {}) do
    if result.status ~= "completed" then
      failed[#failed + 1] = ("%s (%s)"):format(result.server, compose.line(result.error or result.status))
    end
  end
  return #failed > 0 and "no tools from the MCP servers " .. table.concat(failed, ", ") or nil
end

function lines.subagent(payload)
  return "subagent agent://session/" .. payload.session_id
end

function lines.goal_round(payload)
  return ("round %d of the goal, %s tokens used"):format(payload.round, compose.tokens(payload.used))
end

function lines.goal_finished(payload)
  return ("goal %s after %d rounds"):format((payload.outcome:gsub("_", " ")), payload.rounds)
end

function lines.loop_step(payload)
  if payload.outcome == "result" or payload.outcome == "final_answer" then
    return nil
  end
  local tool = type(payload.decision) == "table" and payload.decision.tool or "?"
  return ("step %d, %s: %s"):format(payload.step, tool, (payload.outcome:gsub("_", " ")))
end

--- The line for an event, or nil.
---@param payload table of an `event_msg`
---@return string?
function M.line(payload)
  local make = lines[payload.type]
  return make and make(payload)
end

return M
