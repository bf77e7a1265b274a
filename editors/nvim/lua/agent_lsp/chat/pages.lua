--- Pages of a history: where one may begin, and how the model takes one in between what it has.
---
---     messages ──▶ begins ──▶ the part that needs nothing from before it ──▶ put ──▶ segments at the top, or behind one
local M = {}

local model = require("agent_lsp.chat.model")

--- Where what a page says can be understood without the messages before it: no output without its call, no end of a
--- compaction without its beginning. One past the end if that is nowhere.
---@param messages agent.Message[]
---@return integer index of the first message that is
function M.begins(messages)
  local first = #messages + 1
  local unmet, missing, is_compacting = {}, 0, false
  for index = #messages, 1, -1 do
    local payload = messages[index].payload
    local id = payload.tool_call_id
    if payload.type == "tool_call_output" and id and not unmet[id] then
      unmet[id], missing = true, missing + 1
    elseif payload.type == "tool_call" and id and unmet[id] then
      unmet[id], missing = nil, missing - 1
    elseif payload.type == "compaction_end" then
      is_compacting = true
    elseif payload.type == "compaction_begin" then
      is_compacting = false
    end
    if missing == 0 and not is_compacting then
      first = index
    end
  end
  return first
end

---@param into agent.Model
---@param page agent.Model
---@param is_running boolean
local function join_calls(into, page, is_running)
  for key, call in pairs(page.calls) do
    if not into.calls[key] and is_running and call.open then
      into.calls[key] = call -- its output is still to come
    end
  end
  if not is_running then
    page:settle("aborted")
  end
end

--- Puts what `messages` say before all that the model has, or behind one segment of it, which they then belong to.
---@param into agent.Model
---@param messages agent.Message[] whole ones, which begin where a page may
---@param options { after?: agent.Segment, line?: string, is_running?: boolean } `line`: a notice before them; `is_running`:
--- calls without an output may still get one
---@return agent.Segment[] segments
function M.put(into, messages, options)
  local page = model.new(into.numbers)
  if options.line then
    page:notice(options.line)
  end
  for _, message in ipairs(messages) do
    page:apply(message)
  end
  join_calls(into, page, options.is_running or false)
  into.usage, into.title = into.usage or page.usage, into.title or page.title
  into.children = vim.list_extend(page.children, into.children)
  local new = page.segments
  if #new == 0 then
    return new
  end
  local at = 0
  for index = #into.segments, 1, -1 do
    if into.segments[index] == options.after then
      at = index
      break
    end
  end
  local after, follower = into.segments[at], into.segments[at + 1]
  new[1].before, new[1].lead = after, model.lead(after, new[1].kind, new[1].origin)
  local gap = ""
  if follower then
    follower.before = new[#new]
    gap = ("\n"):rep(#model.lead(follower.before, follower.kind, follower.origin) - #follower.lead)
    follower.lead = follower.lead .. gap
  end
  local all = vim.list_slice(into.segments, 1, at)
  vim.list_extend(all, new)
  into.segments = vim.list_extend(all, into.segments, at + 1)
  if after then
    after.last = new[#new]
  end
  if into.watcher then
    local inserted = { segments = new, after = after, follower = follower, gap = gap }
    into.watcher({ kind = "insert", segment = new[1], inserted = inserted })
  end
  return new
end

return M
