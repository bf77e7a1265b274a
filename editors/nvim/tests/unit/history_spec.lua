local chat = require("agent_lsp.chat")
local events = require("agent_lsp.events")
local model = require("agent_lsp.chat.model")
local pages = require("agent_lsp.chat.pages")
local past = require("past")
local sessions = require("agent_lsp.session")
local streams = require("streams")

local api = vim.api
local said, event = streams.said, streams.event
local last = 0
require("agent_lsp.client").prepare()

local function session()
  last = last + 1
  return sessions.adopt({
    sessionId = "past-" .. last,
    workspace = vim.uri_from_fname(vim.uv.cwd()),
    model = { provider = "p", model = "m" },
    createdAt = "2026-11-29T21:20:41.123Z",
    state = "idle",
  })
end

local function equal(got, expected)
  assert(vim.deep_equal(got, expected), ("got:\n%s\nexpected:\n%s"):format(vim.inspect(got), vim.inspect(expected)))
end

local function text_of(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

local function user(text)
  return said({ type = "text", role = "user", text = text })
end

local function reply(text)
  return said({ type = "text", role = "assistant", text = text })
end

local function delta(text, event_type)
  return said({ type = "partial_text", event_type = event_type or "delta", role = "assistant", text = text })
end

--- Many turns of a prompt, a thought, a call and an answer.
local function turns(count)
  local messages = {}
  for number = 1, count do
    local id = "call-" .. number
    vim.list_extend(messages, {
      user("prompt " .. number),
      said({ type = "thinking", role = "assistant", thinking = "hm\nhm" }),
      said({ type = "tool_call", name = "read_file", tool_call_id = id, arguments = '{"file_path":"a"}' }),
      said({ type = "tool_call_output", role = "user", tool_call_id = id, output = "one\ntwo\nthree" }),
      reply("answer " .. number .. "\n\nand more"),
    })
  end
  return messages
end

local function whole(messages)
  local made = model.new()
  for _, message in ipairs(messages) do
    made:apply(message)
  end
  return made
end

--- What of the marks a person sees: headers and signs, by row.
local function dressed(buf)
  local found = {}
  local namespace = api.nvim_get_namespaces().agent_lsp_decor
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })) do
    local details = mark[4]
    local words = vim.inspect({ details.virt_lines, details.virt_text, details.conceal_lines })
    table.insert(found, ("%d %d %s"):format(mark[2], mark[3], words))
  end
  table.sort(found)
  return found
end

local function folded(win)
  return api.nvim_win_call(win, function()
    local found = {}
    for line = 1, vim.fn.line("$") do
      if vim.fn.foldclosed(line) == line then
        found[#found + 1] = { line, vim.fn.foldclosedend(line) }
      end
    end
    return found
  end)
end

--- Where a window stands: the texts of its first line and of the cursor's, the column, and the cursor's row on the screen.
local function stands(win)
  return api.nvim_win_call(win, function()
    local look = vim.fn.winsaveview()
    return { vim.fn.getline(look.topline), vim.fn.getline("."), look.col, vim.fn.winline(), look.skipcol, look.topfill }
  end)
end

return {
  ["a history that is read in pages is the history that was read at once, wherever the pages are cut"] = function()
    for seed = 1, 200 do
      local _, messages = streams.random(seed)
      local one = session()
      local expected = whole(messages)
      past.serving({ [one.id] = messages }, {}, function()
        local page = past.page
        past.page = function(histories, fields, params)
          return page(histories, fields, vim.tbl_extend("force", params, { limit = 1 + seed % 5 }))
        end
        one:load(function() end)
        for _ = 1, #messages do
          one:read_earlier({})
        end
        past.page = page
      end)
      assert(one.earlier == nil)
      equal(one.model:text(), expected:text())
      equal(#one.model.segments, #expected.segments)
      for index, segment in ipairs(one.model.segments) do
        equal(segment.before, one.model.segments[index - 1])
      end
    end
  end,

  ["a page begins where no output lacks its call and no end of a compaction its beginning"] = function()
    local call = said({ type = "tool_call", tool_call_id = "a", name = "t", arguments = "{}" })
    local output = said({ type = "tool_call_output", tool_call_id = "a", output = "x" })
    local begin, finish = event({ type = "compaction_begin" }), event({ type = "compaction_end" })
    equal(pages.begins({ call, output, reply("x") }), 1)
    equal(pages.begins({ output, reply("x") }), 2)
    equal(pages.begins({ reply("summary"), finish, user("x") }), 3)
    equal(pages.begins({ begin, reply("summary"), finish, user("x") }), 1)
    equal(pages.begins({ reply("x"), output }), 3)
  end,

  ["the chat shows the last page, says how much there is before it, and reads that when asked"] = function()
    local messages = turns(120)
    local one = session()
    local asked = past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      local buf = chat.buffer(one)
      equal(text_of(buf):match("prompt %d+"), "prompt 81")
      local line = require("agent_lsp.chat.earlier").line(one)
      assert(line:find("400 earlier messages", 1, true), line)
      one:read_earlier({})
      equal(text_of(buf):match("prompt %d+"), "prompt 41")
      one:read_earlier({ all = true })
      equal(text_of(buf), whole(messages):text())
      equal(require("agent_lsp.chat.earlier").line(one), nil)
    end)
    equal(#asked, 3)
  end,

  ["a chat that was put together from pages looks like one that was read at once"] = function()
    local messages = turns(90)
    local paged, at_once = session(), session()
    past.serving({ [paged.id] = messages }, {}, function()
      paged:load(function() end)
      local win = chat.open(paged, true)
      paged:read_earlier({})
      paged:read_earlier({ all = true })
      at_once:receive({ sessionId = at_once.id, seq = 0, messages = messages })
      vim.cmd("tabnew")
      local other = chat.open(at_once, true)
      local buf = api.nvim_win_get_buf(win)
      equal(text_of(buf), text_of(api.nvim_win_get_buf(other)))
      equal(dressed(buf), dressed(api.nvim_win_get_buf(other)))
      equal(folded(win), folded(other))
      local view = chat.view(paged.id)
      for _, segment in ipairs(paged.model.segments) do
        local row, col, end_row, end_col = view:place(segment)
        equal(table.concat(api.nvim_buf_get_text(buf, row, col, end_row, end_col, {}), "\n"), model.text(segment))
        equal(view:at(row), segment)
      end
    end)
  end,

  ["no window sees its text move when an earlier page comes"] = function()
    local messages = turns(200)
    local one = session()
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      vim.cmd("enew")
      local first = chat.open(one, true)
      local buf = api.nvim_win_get_buf(first)
      local count = api.nvim_buf_line_count(buf)
      local windows = { first }
      for number, cursor in ipairs({ { 1, 0 }, { 2, 3 }, { 150, 2 }, { count - 2, 1 }, { count, 2 } }) do
        if number == 4 then
          vim.cmd("tabnew")
        end
        local win = api.nvim_open_win(buf, number % 2 == 0, { split = "below", win = number < 4 and first or 0 })
        api.nvim_win_set_cursor(win, cursor)
        windows[#windows + 1] = win
      end
      vim.cmd.redraw()
      local before = vim.tbl_map(stands, windows)
      local current = api.nvim_get_current_win()
      one:read_earlier({})
      equal(vim.tbl_map(stands, windows), before)
      one:read_earlier({ all = true })
      equal(vim.tbl_map(stands, windows), before)
      equal(api.nvim_get_current_win(), current)
      equal(api.nvim_win_get_cursor(windows[6])[1], api.nvim_buf_line_count(buf))
    end)
    vim.cmd("silent! tabonly")
  end,

  ["a stream goes on undisturbed while an earlier page is read"] = function()
    local messages = turns(90)
    local live = { delta("", "start"), delta("now ") }
    local one = session()
    one.state.state = "running"
    past.serving({ [one.id] = messages }, { live = live, nextSeq = 7 }, function()
      one:load(function() end)
      local win = chat.open(one, true)
      past.is_slow = true
      one:read_earlier({})
      one:receive({ sessionId = one.id, seq = 7, messages = { delta("it "), delta("streams") } })
      past.answer()
      one:receive({ sessionId = one.id, seq = 9, messages = { delta(" on"), delta("", "stop"), reply("") } })
      one:receive({ sessionId = one.id, seq = 12, messages = { user("next") } })
      chat.view(one.id):flush()
      local text = text_of(api.nvim_win_get_buf(win))
      assert(vim.endswith(text, "and more\n\nnow it streams on\n\nnext"), text:sub(-200))
      equal(text, one.model:text())
      equal(select(2, text:gsub("prompt 45\n", "")), 1)
      equal(api.nvim_win_get_cursor(win)[1], api.nvim_buf_line_count(0 + api.nvim_win_get_buf(win)))
    end)
  end,

  ["a call on an earlier page that still runs gets its output there"] = function()
    local messages = turns(1)
    local call = said({ type = "tool_call", name = "exec_command", tool_call_id = "x", arguments = '{"cmd":"make"}' })
    messages[#messages + 1] = call
    for number = 1, 250 do
      messages[#messages + 1] = event({ type = "token_usage", number = number })
    end
    local one = session()
    one.state.state = "running"
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      one:read_earlier({})
      local output = said({ type = "tool_call_output", role = "user", tool_call_id = "x", output = "made" })
      one:receive({ sessionId = one.id, seq = 0, messages = { output } })
      assert(vim.endswith(one.model:text(), "exec_command make\nmade\n~~~~~~~~"), one.model:text())
    end)
  end,

  ["a page that says nothing is followed by the next, and two who ask get one page"] = function()
    local messages = turns(50)
    for number = 1, 700 do
      messages[#messages + 1] = event({ type = "token_usage", number = number })
    end
    messages[#messages + 1] = user("end")
    local one = session()
    local answered = 0
    local asked = past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      past.is_slow = true
      for _ = 1, 2 do
        one:read_earlier({}, function()
          answered = answered + 1
        end)
      end
      while #past.waiting > 0 do
        past.answer()
      end
    end)
    equal(answered, 2)
    equal(#asked, 4) -- the last page, two of mere events, and the one that shows something
    assert(one.model:text():find("answer 50", 1, true))
  end,

  ["a chat that was read anew meanwhile does not get the page of the one before"] = function()
    local messages = turns(90)
    local one = session()
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      past.is_slow = true
      one:read_earlier({})
      local before = past.waiting
      past.waiting, past.is_slow = {}, false
      one:load(function() end)
      before[1]()
      one:read_earlier({ all = true })
      equal(one.model:text(), whole(messages):text())
    end)
  end,

  ["after a crash only what came since the first page is read again, and the earlier pages stay"] = function()
    local messages = turns(120)
    local one = session()
    local asked = past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      one:read_earlier({})
      one:receive({ sessionId = one.id, seq = 0, messages = { user("live"), reply("seen") } })
      local shown = one.model
      events.emit("stopped", { client_id = 0, expected = true, code = 1, signal = 0 })
      vim.list_extend(messages, { event({ type = "run_begin" }), user("live"), reply("seen"), user("unseen") })
      one:load(function() end)
      equal(one.model, shown)
      one:read_earlier({ all = true })
      equal(one.model:text(), whole(messages):text())
    end)
    equal({ asked[3].cursor, asked[3].fromEnd }, { "400", nil })
  end,

  ["a window that shows the top gets a page more though the session is still being opened"] = function()
    local one = session()
    past.serving({ [one.id] = turns(90) }, {}, function()
      one:load(function() end)
      chat.open(one, false)
      one.was_cut = { has_open = false }
      past.is_slow = true
      one:load(function() end)
      vim.cmd("normal! gg")
      require("agent_lsp.chat.earlier").fill(chat.view(one.id), one)
      past.answer()
      past.answer()
      equal(one.earlier.count, 50)
    end)
  end,

  ["a window that shows the top gets a page more, one that does not none"] = function()
    local messages = turns(90)
    local one = session()
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      local win = chat.open(one, false)
      vim.cmd.redraw()
      vim.wait(50)
      local read = #one.model.segments
      equal(one.earlier.count, 250)
      vim.cmd("normal! gg")
      vim.cmd.redraw()
      api.nvim_exec_autocmds("BufWinEnter", { buffer = api.nvim_win_get_buf(win), modeline = false })
      vim.wait(1000, function()
        return #one.model.segments > read
      end, 5)
      equal(one.earlier.count, 50)
    end)
  end,

  ["the key for the prompt before reads on when the first one is reached"] = function()
    local messages = turns(90)
    local one = session()
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      chat.open(one, false)
      api.nvim_win_set_cursor(0, { 2, 0 })
      equal(vim.fn.getline("."), "prompt 51")
      vim.cmd.normal("[[")
      equal(vim.fn.getline("."), "prompt 50")
    end)
  end,

  ["Enter reads on in the first line and moves elsewhere, one key reads everything"] = function()
    local messages = turns(130)
    local one = session()
    past.serving({ [one.id] = messages }, {}, function()
      one:load(function() end)
      chat.open(one, false)
      api.nvim_win_set_cursor(0, { 2, 0 })
      vim.cmd.normal("\r")
      equal({ api.nvim_win_get_cursor(0)[1], one.earlier.count }, { 3, 450 })
      vim.cmd.normal("gg\r")
      equal(one.earlier.count, 250)
      vim.cmd.normal("g<")
      equal(one.earlier, nil)
      equal(text_of(0), whole(messages):text())
    end)
  end,

  ["calls that a crash has left without an output do not run for ever"] = function()
    local one = session()
    local call = said({ type = "tool_call", name = "exec_command", tool_call_id = "x", arguments = "{}" })
    past.serving({ [one.id] = { user("go"), call } }, {}, function()
      one:load(function() end)
    end)
    equal(one.model.segments[2].tool.state, "aborted")
  end,

  ["a page that cannot be read is told, and can be asked for again"] = function()
    local one = session()
    local histories = { [one.id] = turns(90) }
    local asked = {}
    past.serving(histories, {}, function()
      one:load(function() end)
      local kept, problem = histories[one.id], nil
      local request = require("agent_lsp.client").request
      require("agent_lsp.client").request = function(...)
        asked[#asked + 1] = true
        request(...)
      end
      histories[one.id] = nil
      one:read_earlier({}, function(err)
        problem = err
      end)
      equal(problem.message, "there is no such session")
      chat.open(one, false)
      vim.cmd("normal! gg")
      one:read_earlier({})
      local before = #asked
      vim.wait(50)
      assert(#asked - before < 10, "a window at the top asks again and again")
      histories[one.id] = kept
      one:read_earlier({ all = true })
      equal(one.model:text(), whole(kept):text())
    end)
  end,

  ["what a subagent has said stands folded behind the line that names it, as it was streamed"] = function()
    local one, live = session(), session()
    local spoken = vim.list_extend({ streams.event({ type = "run_begin" }) }, turns(2))
    local messages = {
      user("go"),
      said({ type = "tool_call", name = "run_subagent", tool_call_id = "s", arguments = '{"prompt":"look"}' }),
      event({ type = "subagent", session_id = "child-12345678" }),
      said({ type = "tool_call_output", role = "user", tool_call_id = "s", output = "seen" }),
      reply("done"),
    }
    local win
    past.serving({ [one.id] = messages, ["child-12345678"] = spoken }, {}, function()
      one:load(function() end)
      win = chat.open(one, true)
    end)
    local buf = api.nvim_win_get_buf(win)
    equal(text_of(buf), one.model:text())
    local line = "> subagent agent://session/child-12345678"
    local closed = vim.tbl_filter(function(fold)
      return api.nvim_buf_get_lines(buf, fold[1] - 1, fold[1], false)[1] == line
    end, folded(win))
    equal(#closed, 1)
    equal(api.nvim_buf_get_lines(buf, closed[1][2] - 1, closed[1][2], false)[1], "and more")
    assert(vim.endswith(text_of(buf), "and more\n\ndone"))

    for _, message in ipairs(spoken) do
      message.origin = { "child-12345678" }
    end
    live:receive({ sessionId = live.id, seq = 0, messages = spoken })
    assert(one.model:text():find(vim.trim(live.model:text()), 1, true), one.model:text())
    api.nvim_win_call(win, function()
      vim.cmd(("%dfoldopen"):format(closed[1][1]))
    end)
    assert(#folded(win) > 3, "what is folded in it stays folded")
  end,

  ["a subagent that is still at work is there once, one that is lost breaks nothing"] = function()
    local one = session()
    local at_work = said({ type = "text", role = "assistant", text = "at work" }, { "child-a" })
    local asked = past.serving({
      [one.id] = {
        event({ type = "subagent", session_id = "child-a" }),
        event({ type = "subagent", session_id = "child-lost" }),
        event({ type = "subagent", session_id = "child-b" }),
        user("x"),
      },
      ["child-a"] = { reply("at work") },
      ["child-b"] = { reply("ended") },
    }, { live = { at_work } }, function()
      one:load(function() end)
    end)
    equal(#asked, 3)
    equal(select(2, one.model:text():gsub("at work", "")), 1)
    assert(one.model:text():find("child%-b\n\nended\n\nx"), one.model:text())
  end,

  ["of a subagent that has said very much the end is shown, and where the rest is"] = function()
    local one = session()
    past.serving({
      [one.id] = { event({ type = "subagent", session_id = "child-c" }), user("x") },
      ["child-c"] = turns(300),
    }, {}, function()
      one:load(function() end)
    end)
    local text = one.model:text()
    assert(text:find("child%-c\n\n> it has said more before this: :AgentChat child%-c\n\nprompt 101"), text:sub(1, 300))
  end,

  ["what a subagent sums up or is called changes nothing of the session's own"] = function()
    local one = session()
    one:receive({
      sessionId = one.id,
      seq = 0,
      messages = {
        event({ type = "compaction_begin", reason = "manual", mode = "summarize", context = 5 }, { "c" }),
        event({ type = "session_update", title = "the child's" }, { "c" }),
        reply("mine"),
      },
    })
    equal({ one.model.title, one.model.segments[#one.model.segments].kind }, { nil, "text" })
  end,
}
