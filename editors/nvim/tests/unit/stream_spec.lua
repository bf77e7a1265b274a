local client = require("agent_lsp.client")
local events = require("agent_lsp.events")
local past = require("past")
local sessions = require("agent_lsp.session")
local streams = require("streams")

local last = 0
client.prepare()

local function session()
  last = last + 1
  return sessions.adopt({
    sessionId = "stream-" .. last,
    workspace = vim.uri_from_fname(vim.uv.cwd()),
    model = { provider = "p", model = "m" },
    createdAt = "2026-11-29T21:20:41.123Z",
    state = "idle",
  })
end

local function feed(one, messages)
  one:receive({ sessionId = one.id, seq = one.next_seq, messages = messages })
end

--- Reads the history that a server has.
local function load(one, messages, fields)
  local problem
  past.serving({ [one.id] = messages }, fields or {}, function()
    one:load(function(err)
      problem = err
    end)
  end)
  assert(problem == nil)
end

local function user(text)
  return streams.said({ type = "text", role = "user", text = text })
end

local function reply(text)
  return streams.said({ type = "text", role = "assistant", text = text })
end

local function run_begin()
  return streams.event({ type = "run_begin", run_id = "r" })
end

local function failed()
  return streams.event({ type = "request_end", status = "failed", error_message = "HTTP 500" })
end

local function equal(got, expected)
  assert(vim.deep_equal(got, expected), ("got:\n%s\nexpected:\n%s"):format(vim.inspect(got), vim.inspect(expected)))
end

--- The server dies.
local function crash()
  events.emit("stopped", { client_id = 0, expected = true, code = 1, signal = 0 })
end

return {
  ["after a crash what was shown stays, and what only the trace has is added"] = function()
    local one = session()
    feed(one, { user("one"), reply("first"), failed() })
    one.model:notice("a line of ours")
    local shown = one.model
    crash()
    load(
      one,
      { run_begin(), user("one"), reply("first"), failed(), failed(), user("two"), reply("second") },
      { nextSeq = 3 }
    )
    equal(one.model, shown)
    equal(select(2, one.model:text():gsub("HTTP 500", "")), 2)
    equal(select(2, one.model:text():gsub("first", "")), 1)
    assert(one.model:text():find("a line of ours.*two\n\nsecond$"), one.model:text())
    equal(one.next_seq, 3)
  end,

  ["what was cut off stays if the trace has nothing behind it"] = function()
    local one = session()
    local part = { type = "partial_text", role = "assistant" }
    feed(one, {
      user("one"),
      streams.said(vim.tbl_extend("force", part, { event_type = "start", text = "" })),
      streams.said(vim.tbl_extend("force", part, { event_type = "delta", text = "half a sen" })),
    })
    crash()
    load(one, { run_begin(), user("one") })
    equal(one.model:text(), "\none\n\nhalf a sen")
  end,

  ["what was cut off and is whole in the trace is there once"] = function()
    local one = session()
    local part = { type = "partial_text", role = "assistant" }
    feed(one, {
      user("one"),
      streams.said(vim.tbl_extend("force", part, { event_type = "start", text = "" })),
      streams.said(vim.tbl_extend("force", part, { event_type = "delta", text = "half a sen" })),
    })
    crash()
    load(one, { run_begin(), user("one"), reply("half a sentence") })
    equal(one.model:text(), "\none\n\nhalf a sentence")
  end,

  ["a trace that has lost its end takes nothing away"] = function()
    local one = session()
    feed(one, { user("one"), reply("first"), user("two") })
    crash()
    load(one, { run_begin(), user("one") })
    equal(one.model:text(), "\none\n\nfirst\n\ntwo")
  end,

  ["waiting words are pending again after a reload, and a delivered one is not"] = function()
    local one = session()
    load(one, { user("one") }, {
      pending = {
        runs = {},
        approvals = {},
        steers = { { steerId = "s", input = { { type = "text", text = "wait" } } } },
      },
    })
    equal({ one.steers[1].state, one.steers[1].text }, { "pending", "wait" })
    feed(one, { user("[user_steering]\nwait\n[/user_steering]") })
    equal(one.steers[1].state, "delivered")
  end,

  ["a failing subscriber is logged and keeps nobody from hearing"] = function()
    local heard = {}
    local off = events.on("session", function()
      error("mine")
    end)
    local off_too = events.on("session", function()
      heard[#heard + 1] = true
    end)
    events.emit("session", { session = session() })
    off()
    off_too()
    equal(#heard, 2)
  end,

  ["a setting that is wrong keeps its default and is named"] = function()
    local config = require("agent_lsp.config")
    local problems = config.set({
      chat = { position = "middle", size = 0.5, colour = 1 },
      cmd = {},
      prompt = 3,
      settings = { anything = { goes = true } },
    })
    table.sort(problems)
    equal(problems, {
      'chat.position must be one of right, left, bottom, top, tab, current, not "middle"',
      'cmd must be a list that begins with a program, as { "agent-lsp" }',
      "prompt must be a table, not a number",
      "there is no setting chat.colour",
    })
    equal(
      { config.get().chat.size, config.get().chat.position, config.get().settings.anything.goes },
      { 0.5, "right", true }
    )
    config.set()
  end,
}
