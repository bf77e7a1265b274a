--- The words of the chat: pure functions from payloads to the text of segments.
local M = {}

local protocol = require("agent_lsp.protocol")

--- Cards (calls, attached files, blocks of the harness) are tilde fences: what is in them is not Markdown. Their first line
--- inside is the head: Markdown's highlighting hides the fences themselves.
M.FENCE = "~~~~~~~~"

local MOST_HEAD = 100
local TELLING = {
  "file_path",
  "cmd",
  "pattern",
  "path",
  "url",
  "prompt",
  "question",
  "process_id",
  "subagent_id",
  "name",
}
local BLOCK_TITLES = {
  context_summary = "summary of the conversation so far",
  turn_aborted = "what the interrupted turn had brought",
  turn_retried = "what the failed attempt had brought",
  goal = "goal",
  output_limit = "the reply was too long",
  user_edits = "what you changed meanwhile",
}

--- Where a message comes from, as one word; empty for the session itself.
---@param origin? string[]
---@return string
function M.place(origin)
  return origin and table.concat(origin, "/") or ""
end

--- One line of at most `most` characters.
---@param text string
---@param most? integer
---@return string
function M.line(text, most)
  local line = vim.trim((text:sub(1, 4 * (most or MOST_HEAD) + 400):gsub("%s+", " ")))
  if #line > (most or MOST_HEAD) and vim.fn.strchars(line) > (most or MOST_HEAD) then
    line = vim.fn.strcharpart(line, 0, (most or MOST_HEAD) - 1) .. "…"
  end
  return line
end

--- Why a task has ended, without the mark that the engine gives to what it did not try again.
---@param reason string
---@return string
function M.reason(reason)
  return (reason:gsub("^llm request error: ", ""))
end

---@param arguments string
---@return table<string, any>?
function M.decoded(arguments)
  local ok, value = pcall(vim.json.decode, arguments, { luanil = { object = true, array = true } })
  return ok and type(value) == "table" and value or nil
end

--- What a call is about, in one line: its most telling argument.
---@param arguments string JSON
---@return string
function M.summary(arguments)
  local given = M.decoded(arguments)
  if not given then
    return M.line(arguments)
  end
  for _, name in ipairs(TELLING) do
    if type(given[name]) == "string" and given[name] ~= "" then
      return M.line(given[name])
    end
  end
  local first = vim.tbl_filter(function(name)
    return type(given[name]) == "string"
  end, vim.tbl_keys(given))
  table.sort(first)
  return first[1] and M.line(given[first[1]]) or ""
end

--- The plan that a call puts to the person, in full; of `todo_write` it is the output.
---@param name string
---@param arguments string
---@return string?
function M.plan(name, arguments)
  local given = name == "exit_plan" and M.decoded(arguments) or nil
  return given and type(given.plan) == "string" and given.plan or nil
end

--- Text that goes into a card: a line of it that would end the card's fence is indented.
---@param text string
---@return string
function M.guarded(text)
  if not text:find(M.FENCE, 1, true) then
    return text
  end
  return (("\n" .. text):gsub("\n( ? ? ?~~~~~~~~)", "\n    %1"):sub(2))
end

--- What closes the code fence that a text has left open, or nil. Later text would be taken for code.
---@param text string
---@return string?
function M.unclosed(text)
  if not text:find("```", 1, true) and not text:find("~~~", 1, true) then
    return nil
  end
  local open
  for line in vim.gsplit(text, "\n", { plain = true }) do
    local mark, rest = line:match("^[%s>]*(```+)(.*)$")
    if not mark then
      mark, rest = line:match("^[%s>]*(~~~+)(.*)$")
    end
    if mark then
      if not open then
        if mark:sub(1, 1) ~= "`" or not rest:find("`", 1, true) then
          open = mark
        end
      elseif mark:sub(1, 1) == open:sub(1, 1) and #mark >= #open and rest:match("^%s*$") then
        open = nil
      end
    end
  end
  return open
end

--- How a user-role text is shown: kind, head of a card, and the text itself.
---@param payload agent.Payload
---@return agent.SegmentKind kind, string head, string text
function M.user(payload)
  local tag, body = protocol.marker(payload.text)
  if tag == "user_steering" then
    return "steer", "", body or ""
  elseif tag == "attached_file" then
    local path, rest = (body or ""):match("^([^\n]*)\n?(.*)$")
    return "block", "attached " .. path, rest
  elseif tag then
    return "block", BLOCK_TITLES[tag], body or ""
  elseif payload.sender == "harness" then
    return "block", "from the harness", payload.text
  end
  return "user", "", payload.text
end

--- An image, or other data, as a line.
---@param payload agent.Payload
---@return string
function M.media(payload)
  local address = payload.image_url
  if type(address) == "string" and not vim.startswith(address, "data:") then
    return ("[image %s]"):format(M.line(address))
  end
  local data = address or payload.data or ""
  local mime = payload.mime_type or data:match("^data:([^;,]+)") or "image"
  return ("[%s, %s]"):format(mime, M.size(#data * 3 / 4))
end

--- Bytes for people.
---@param bytes number
---@return string
function M.size(bytes)
  if bytes < 1000 then
    return ("%d bytes"):format(bytes)
  elseif bytes < 1000 * 1000 then
    return ("%.1f kB"):format(bytes / 1000)
  end
  return ("%.1f MB"):format(bytes / 1000 / 1000)
end

--- Tokens for people.
---@param tokens integer
---@return string
function M.tokens(tokens)
  if tokens < 1000 then
    return tostring(tokens)
  elseif tokens < 1000 * 1000 then
    return ("%.1fk"):format(tokens / 1000)
  end
  return ("%.1fM"):format(tokens / 1000 / 1000)
end

return M
