local model = require("agent_lsp.chat.model")
local streams = require("streams")

local golden = vim.fs.joinpath(vim.uv.cwd(), "../../tests/golden")

local function applied(messages)
  local made = model.new()
  for _, message in ipairs(messages) do
    made:apply(message)
  end
  return made
end

local function read(path)
  local file = assert(io.open(path))
  local value = vim.json.decode(file:read("a"), { luanil = { object = true } })
  file:close()
  return value
end

local function equal(got, expected)
  assert(got == expected, ("got:\n%s\n\nexpected:\n%s"):format(got, expected))
end

return {
  ["every golden message is taken, alone and after others"] = function()
    local files = vim.fn.glob(golden .. "/*.json", true, true)
    assert(#files >= 27, "the golden files are not where they were: " .. golden)
    local all = model.new()
    for _, file in ipairs(files) do
      for _, message in ipairs(read(file)) do
        model.new():apply(message)
        all:apply(message)
      end
    end
    assert(all:text():find("Why does `make test` fail?", 1, true))
  end,

  ["what the golden events say is said"] = function()
    local function lines(name)
      return applied(read(("%s/%s.json"):format(golden, name))):text()
    end
    assert(lines("request_end"):find("**auth** HTTP 401: the key was refused", 1, true))
    assert(not lines("request_end"):find("503", 1, true), "a failure that is tried again is no line")
    assert(lines("abort"):find("stopped: aborted by user", 1, true))
    assert(lines("compaction_begin"):find("128.4k tokens", 1, true))
    assert(lines("mcp_connect_end"):find("no answer within 30 s", 1, true))
    assert(lines("subagent"):find("agent://session/2026-11-29-212041-7c1f", 1, true))
  end,

  ["a stream and its history end in the same text"] = function()
    for seed = 1, 200 do
      local stream, history = streams.random(seed)
      local live, reread = applied(stream), applied(history)
      assert(live:text() == reread:text(), ("seed %d:\n%s\n---\n%s"):format(seed, live:text(), reread:text()))
      assert(#live.segments == #reread.segments, "seed " .. seed)
    end
  end,

  ["a history with a running turn goes on as if it had been streamed"] = function()
    for seed = 1, 100 do
      local stream = streams.random(seed)
      local whole = applied(stream)
      -- cut in the middle of a segment: what is before as history, the body so far as one delta
      local cut = math.floor(#stream / 2)
      local reread, live = model.new(), {}
      for index = 1, cut do
        local message = stream[index]
        local payload = message.payload
        local kind = payload.type:match("^partial_(.+)$")
        if not kind then
          reread:apply(message)
          live = {}
        elseif payload.event_type == "start" then
          live = { message }
        elseif payload.event_type == "delta" then
          live[#live + 1] = message
        end
      end
      for _, message in ipairs(live) do
        reread:apply(message)
      end
      for index = cut + 1, #stream do
        reread:apply(stream[index])
      end
      equal(reread:text(), whole:text())
    end
  end,

  ["the changes alone give the text"] = function()
    for seed = 1, 100 do
      local made, texts, order = model.new(), {}, {}
      made.watcher = function(change)
        local id = change.segment.id
        if change.kind == "open" then
          order[#order + 1] = id
          texts[id] = change.segment.lead
        elseif change.kind == "text" then
          texts[id] = texts[id] .. change.text
        end
      end
      for _, message in ipairs((streams.random(seed))) do
        made:apply(message)
      end
      local text = table.concat(vim.tbl_map(function(id)
        return texts[id]
      end, order))
      equal(text, made:text())
    end
  end,

  ["a code fence that a reply leaves open is closed behind it"] = function()
    local made = applied({ streams.said({ type = "text", role = "assistant", text = "```lua\nx = 1" }) })
    equal(made:text(), "\n```lua\nx = 1\n```")
    made = applied({ streams.said({ type = "text", role = "assistant", text = "```lua\nx = 1\n```\nso" }) })
    equal(made:text(), "\n```lua\nx = 1\n```\nso")
    made = applied({ streams.said({ type = "text", role = "assistant", text = "````\n```\n~~~" }) })
    equal(made:text(), "\n````\n```\n~~~\n````")
  end,

  ["an output that holds the card's own fence does not end the card"] = function()
    local made = applied({
      streams.said({ type = "tool_call", name = "read_file", tool_call_id = "a", arguments = '{"file_path":"x"}' }),
      streams.said({ type = "tool_call_output", tool_call_id = "a", output = "one\n~~~~~~~~~\ntwo" }),
    })
    equal(made:text(), "\n~~~~~~~~\nread_file x\none\n    ~~~~~~~~~\ntwo\n~~~~~~~~")
  end,

  ["a plan that is put to the person is shown in full"] = function()
    local made = applied({
      streams.said({
        type = "tool_call",
        name = "exit_plan",
        tool_call_id = "a",
        arguments = '{"plan":"1. read\\n2. edit"}',
      }),
      streams.said({ type = "tool_call_output", tool_call_id = "a", output = "[no output]" }),
    })
    equal(made:text(), "\n~~~~~~~~\nexit_plan 1. read 2. edit\n1. read\n2. edit\n~~~~~~~~")
  end,

  ["a denied call stays denied when its output comes"] = function()
    local made = applied({
      streams.said({ type = "tool_call", name = "exec_command", tool_call_id = "a", arguments = "{}" }),
      streams.event({ type = "approval_decision", tool_call_id = "a", decision = "deny", decided_by = "user" }),
      streams.said({ type = "tool_call_output", tool_call_id = "a", output = "denied", stop_reason = "failed" }),
    })
    equal(made.segments[1].tool.state, "denied")
  end,

  ["what a compaction says is a summary, what follows an answer again"] = function()
    local made = applied({
      streams.event({ type = "compaction_begin", reason = "manual", mode = "summarize", context = 5, turns = 1 }),
      streams.said({ type = "text", role = "assistant", text = "[summary]all[/summary]" }),
      streams.event({ type = "compaction_end", reason = "manual", mode = "summarize", status = "completed" }),
      streams.said({ type = "text", role = "assistant", text = "on" }),
    })
    local kinds = vim.tbl_map(function(segment)
      return segment.kind
    end, made.segments)
    equal(table.concat(kinds, " "), "notice summary notice text")
  end,

  ["images of an output are named"] = function()
    local made = applied({
      streams.said({ type = "tool_call", name = "read_image", tool_call_id = "a", arguments = '{"file_path":"x.png"}' }),
      streams.said({
        type = "tool_call_output",
        tool_call_id = "a",
        output = "[no output]",
        images = { "data:image/png;base64,AAAA" },
      }),
    })
    equal(made:text(), "\n~~~~~~~~\nread_image x.png\n[image/png, 19 bytes]\n~~~~~~~~")
  end,

  ["a retry is known until the next attempt begins"] = function()
    local made = applied({
      streams.event({ type = "request_end", status = "timeout", attempt = 1, retry_in_ms = 250, error_message = "503" }),
    })
    equal(made.retry.retry_in_ms, 250)
    made:apply(streams.event({ type = "request_begin" }))
    assert(made.retry == nil)
  end,

  ["what a dead server left open is closed, and nothing is lost"] = function()
    local made = applied({
      streams.said({ type = "partial_text", event_type = "start", role = "assistant" }),
      streams.said({ type = "partial_text", event_type = "delta", role = "assistant", text = "half" }),
    })
    made:settle("aborted")
    equal(made.segments[1].status, "aborted")
    equal(made:text(), "\nhalf")
  end,

  ["arguments of every odd kind have a head of one short line"] = function()
    for _, arguments in ipairs({ "", "{", "[]", "null", "1", '"x"', '{"a":{"b":1}}', '{"cmd":"a\\nb"}', ("x"):rep(1e5) }) do
      local made = applied({
        streams.said({ type = "tool_call", name = "t", tool_call_id = "a", arguments = arguments }),
      })
      assert(not made.segments[1].head:find("\n"))
      assert(vim.fn.strchars(made.segments[1].head) <= 110)
    end
  end,
}
