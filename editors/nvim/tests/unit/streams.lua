--- Streams for tests: random ones that keep the protocol's discipline, from a seed, with what a history of them would hold.
local M = {}

local WORDS = {
  "The ",
  "parser",
  " drops",
  "\n",
  "\n\n",
  "```lua\n",
  "\n```\n",
  "~~~\n",
  "- item\n",
  "**bold** ",
  "`code` ",
  "naïve 🙂 ",
  "# Title\n",
  "> quote\n",
  "| a | b |\n",
  "1\t\r",
  "__init__.py ",
  "é",
}

local function envelope(type, payload, origin)
  return { timestamp = "2026-11-29T21:20:41.123Z", type = type, payload = payload, origin = origin }
end

--- A message of the model's context.
function M.said(payload, origin)
  return envelope("model_msg", payload, origin)
end

--- An event.
function M.event(payload, origin)
  return envelope("event_msg", payload, origin)
end

local function pieces(random, most)
  local list = {}
  for index = 1, random(0, most) do
    list[index] = WORDS[random(1, #WORDS)]
  end
  return list
end

local function streamed(out, whole, kind, field, extra, parts)
  local function fragment(event_type, text)
    return M.said(
      vim.tbl_extend("force", { type = "partial_" .. kind, event_type = event_type, [field] = text }, extra)
    )
  end
  out[#out + 1] = fragment("start", "")
  for _, part in ipairs(parts) do
    out[#out + 1] = fragment("delta", part)
  end
  out[#out + 1] = fragment("stop", "")
  local complete = M.said(vim.tbl_extend("force", { type = kind, [field] = table.concat(parts) }, extra))
  out[#out + 1] = complete
  whole[#whole + 1] = complete
end

--- A stream and the history that it leaves: `(stream, history)`.
---@param seed integer
function M.random(seed)
  math.randomseed(seed)
  local random = math.random
  local out, whole = {}, {}
  local function both(message)
    out[#out + 1] = message
    whole[#whole + 1] = message
  end
  for turn = 1, random(1, 6) do
    both(M.said({ type = "text", role = "user", text = table.concat(pieces(random, 6)) }))
    out[#out + 1] = M.event({ type = "request_begin" })
    streamed(out, whole, "thinking", "thinking", { role = "assistant" }, pieces(random, 12))
    streamed(out, whole, "text", "text", { role = "assistant" }, pieces(random, 30))
    local calls = random(0, 3)
    for call = 1, calls do
      local id = ("call_%d_%d"):format(turn, call)
      local extra = { role = "assistant", name = "exec_command", tool_call_id = id }
      streamed(out, whole, "tool_call", "arguments", extra, { '{"cmd": "ls ', tostring(call), '"}' })
    end
    for call = calls, 1, -1 do
      local id = ("call_%d_%d"):format(turn, call)
      if random(1, 4) == 1 then
        both(M.said({ type = "tool_call_output", role = "user", tool_call_id = id, output = "[no output]" }))
      else
        streamed(out, whole, "tool_call_output", "output", { role = "user", tool_call_id = id }, pieces(random, 15))
      end
    end
    both(M.event({
      type = "request_end",
      status = random(1, 5) == 1 and "failed" or "completed",
      error_message = "HTTP 500",
    }))
  end
  return out, whole
end

return M
