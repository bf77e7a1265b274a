local chat = require("agent_lsp.chat")
local sessions = require("agent_lsp.session")
local streams = require("streams")

local api = vim.api
local last = 0
require("agent_lsp.client").prepare()

local function session()
  last = last + 1
  return sessions.adopt({
    sessionId = "s-" .. last,
    workspace = vim.uri_from_fname(vim.uv.cwd()),
    model = { provider = "p", model = "m" },
    createdAt = "2026-11-29T21:20:41.123Z",
    state = "idle",
  })
end

local function feed(one, messages)
  one:receive({ sessionId = one.id, seq = one.next_seq, messages = messages, runId = "run-1" })
end

local function text_of(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

local function delta(text, event_type)
  return streams.said({ type = "partial_text", event_type = event_type or "delta", role = "assistant", text = text })
end

local function equal(got, expected)
  assert(vim.deep_equal(got, expected), ("got:\n%s\nexpected:\n%s"):format(vim.inspect(got), vim.inspect(expected)))
end

local function flushed(one)
  chat.view(one.id):flush()
end

--- A chat with forty lines in a window of its own; returns the session, the window and that of the other buffer.
local function shown()
  vim.cmd("enew")
  local other = api.nvim_get_current_win()
  local one = session()
  local win = chat.open(one, true)
  feed(one, { delta("", "start"), delta(("line\n"):rep(40)) })
  flushed(one)
  return one, win, other
end

return {
  ["the buffer has the text of the model, however the stream was cut into flushes"] = function()
    for seed = 1, 40 do
      local one = session()
      local buf = chat.buffer(one)
      math.randomseed(seed)
      local cuts = {}
      for index = 1, 2000 do
        cuts[index] = math.random(1, 9)
      end
      local stream = streams.random(seed)
      local from, round = 1, 1
      while from <= #stream do
        feed(one, vim.list_slice(stream, from, from + cuts[round]))
        flushed(one)
        from, round = from + cuts[round] + 1, round + 1
      end
      equal(text_of(buf), one.model:text())
      local view = chat.view(one.id)
      for _, segment in ipairs(one.model.segments) do
        local row, col, end_row, end_col = view:place(segment)
        local there = table.concat(api.nvim_buf_get_text(buf, row, col, end_row, end_col, {}), "\n")
        equal(there, require("agent_lsp.chat.model").text(segment))
      end
    end
  end,

  ["a chat rendered from a history has the text of the one that was streamed"] = function()
    local stream, history = streams.random(7)
    local live, reread = session(), session()
    feed(live, stream)
    feed(reread, history)
    equal(text_of(chat.buffer(reread)), text_of(chat.buffer(live)))
  end,

  ["twenty thousand deltas in one go are one write"] = function()
    local one = session()
    chat.buffer(one)
    local before = chat.view(one.id).writes
    local messages = { delta("", "start") }
    for index = 1, 20000 do
      messages[index + 1] = delta("word ")
    end
    feed(one, messages)
    flushed(one)
    assert(chat.view(one.id).writes - before <= 2, chat.view(one.id).writes - before)
  end,

  ["a window follows if its cursor was on the last line, and no other window moves"] = function()
    local one, win = shown()
    local buf = api.nvim_win_get_buf(win)
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
    local reading = api.nvim_open_win(buf, false, { split = "below", win = win })
    api.nvim_win_set_cursor(reading, { 5, 0 })
    vim.cmd("tabnew")
    local far = api.nvim_open_win(buf, false, { split = "above", win = 0 })
    api.nvim_win_set_cursor(far, { 9, 2 })
    local function views()
      return vim.tbl_map(function(one_win)
        return api.nvim_win_call(one_win, vim.fn.winsaveview)
      end, { reading, far })
    end
    local before = views()
    feed(one, { delta("more\nand more\nand last") })
    flushed(one)
    equal(views(), before)
    equal(api.nvim_win_get_cursor(win)[1], api.nvim_buf_line_count(buf))
  end,

  ["nothing that is streamed changes window, tabpage, mode, registers or the search"] = function()
    local one, _, other = shown()
    api.nvim_set_current_win(other)
    vim.fn.setreg('"', "mine")
    vim.fn.setreg("/", "sought")
    local function state()
      return {
        api.nvim_get_current_win(),
        api.nvim_get_current_tabpage(),
        api.nvim_get_mode().mode,
        vim.fn.getreg('"'),
        vim.fn.getreg("/"),
      }
    end
    local before = state()
    local stream = streams.random(3)
    feed(one, { delta("", "stop"), streams.said({ type = "text", role = "assistant", text = "x" }) })
    feed(one, stream)
    flushed(one)
    equal(state(), before)
  end,

  ["undo, deleting, putting and editing anew never change a chat"] = function()
    local one, win = shown()
    feed(one, { delta("", "stop"), streams.said({ type = "text", role = "assistant", text = "" }) })
    flushed(one)
    api.nvim_set_current_win(win)
    local buf = api.nvim_get_current_buf()
    local before = text_of(buf)
    local client = require("agent_lsp.client")
    local request = client.request
    client.request = function() end -- there is no server that `:e` could ask
    for _, keys in ipairs({ "u", ":undo 0\r", "dd", "p", "ix\27", ":e\r", ":e!\r", ":%d\r", ":s/line/x/\r" }) do
      pcall(vim.cmd, "silent! execute " .. vim.fn.string("normal! " .. keys))
      equal(text_of(api.nvim_get_current_buf()), before)
      vim.v.errmsg = ""
    end
    client.request = request
    equal(vim.bo[buf].modifiable, false)
    equal(vim.bo[buf].modified, false)
    feed(one, { delta("", "start"), delta("still alive") })
    flushed(one)
    assert(text_of(api.nvim_get_current_buf()):find("still alive$"))
    vim.v.errmsg = ""
  end,

  ["undolevels of no other buffer change, and the chat's are none"] = function()
    local global = vim.go.undolevels
    local _, win, other = shown()
    equal(vim.go.undolevels, global)
    equal(vim.bo[api.nvim_win_get_buf(other)].undolevels, -123456)
    equal(vim.bo[api.nvim_win_get_buf(win)].undolevels, -1)
  end,

  ["folds are manual whatever is set globally, and no other window or global value changes"] = function()
    vim.go.foldmethod, vim.go.foldexpr = "expr", "v:lua.vim.treesitter.foldexpr()"
    vim.go.conceallevel = 0
    vim.cmd("enew")
    vim.wo.foldmethod, vim.wo.foldexpr = "expr", "v:lua.vim.treesitter.foldexpr()"
    local function kept()
      return {
        vim.go.foldmethod,
        vim.go.foldexpr,
        vim.go.conceallevel,
        vim.go.winfixbuf,
        vim.go.wrap,
        vim.go.number,
        vim.wo.foldmethod,
        vim.wo.conceallevel,
        vim.wo.number,
      }
    end
    local before = kept()
    local one = session()
    local win = chat.open(one, true)
    feed(one, (streams.random(11)))
    flushed(one)
    equal(kept(), before)
    equal(vim.wo[win].foldmethod, "manual")
    vim.go.foldmethod, vim.go.foldexpr = "manual", "0"
  end,

  ["thinking and outputs are folded when they have ended, in a new window too"] = function()
    local one, win = shown()
    feed(one, {
      delta("", "stop"),
      streams.said({ type = "text", role = "assistant", text = "" }),
      streams.said({ type = "tool_call", name = "exec_command", tool_call_id = "a", arguments = '{"cmd":"ls"}' }),
      streams.said({ type = "tool_call_output", tool_call_id = "a", output = "one\ntwo\nthree" }),
      streams.said({ type = "thinking", role = "assistant", thinking = "hm\nhm" }),
      streams.said({ type = "text", role = "assistant", text = "done" }),
    })
    flushed(one)
    local function folded(one_win)
      return api.nvim_win_call(one_win, function()
        local found = {}
        for line = 1, vim.fn.line("$") do
          if vim.fn.foldclosed(line) == line then
            found[#found + 1] = vim.fn.getline(line)
          end
        end
        return found
      end)
    end
    equal(folded(win), { "exec_command ls", "hm" })
    vim.cmd("tabnew")
    vim.cmd("buffer " .. api.nvim_win_get_buf(win))
    equal(folded(0), { "exec_command ls", "hm" })
  end,

  ["tree-sitter rests while a fence of more than 1,000 lines or a line of more than 2,000 bytes grows"] = function()
    local one, win = shown()
    local buf = api.nvim_win_get_buf(win)
    local function is_highlighted()
      return vim.treesitter.highlighter.active[buf] ~= nil
    end
    assert(is_highlighted())
    feed(one, { delta("\n```lua\n" .. ("x = 1\n"):rep(900)) })
    flushed(one)
    assert(is_highlighted())
    feed(one, { delta(("x = 1\n"):rep(200)) })
    flushed(one)
    assert(not is_highlighted())
    feed(one, { delta("```\n"), delta("", "stop"), streams.said({ type = "text", role = "assistant", text = "" }) })
    flushed(one)
    assert(is_highlighted())
    feed(one, { delta("", "start"), delta(("x"):rep(2100)) })
    flushed(one)
    assert(not is_highlighted())
    feed(one, { delta("", "stop"), streams.said({ type = "text", role = "assistant", text = "" }) })
    flushed(one)
    assert(is_highlighted())
  end,

  ["a chat that no window shows is neither folded nor highlighted"] = function()
    local one = session()
    local buf = chat.buffer(one)
    feed(one, (streams.random(5)))
    flushed(one)
    assert(vim.treesitter.highlighter.active[buf] == nil)
    equal(text_of(buf), one.model:text())
  end,

  ["a missing number has the history read anew, and nothing is taken twice"] = function()
    local one = session()
    local client = require("agent_lsp.client")
    local request = client.request
    local asked = {}
    client.request = function(method, _, callback)
      asked[#asked + 1] = method
      vim.schedule(function()
        callback(nil, {
          messages = { streams.said({ type = "text", role = "user", text = "hello" }) },
          nextSeq = 7,
          pending = { runs = {}, steers = {}, approvals = {} },
        })
      end)
    end
    one:receive({ sessionId = one.id, seq = 5, messages = { delta("lost") } })
    one:receive({ sessionId = one.id, seq = 6, messages = { delta("in the history already") } })
    one:receive({ sessionId = one.id, seq = 7, messages = { delta("", "start"), delta("new") } })
    vim.wait(1000, function()
      return one.next_seq == 9
    end, 5)
    client.request = request
    equal(asked, { "agent/session/history" })
    equal(one.model:text(), "\nhello\n\nnew")
  end,

  ["the chat is one unlisted buffer, and its window stays with it"] = function()
    local one, win = shown()
    local buf = api.nvim_win_get_buf(win)
    equal(api.nvim_buf_get_name(buf), "agent://session/" .. one.id)
    equal({ vim.bo[buf].buflisted, vim.bo[buf].buftype, vim.bo[buf].filetype }, { false, "nofile", "agent" })
    equal({ vim.wo[win].winfixbuf, vim.wo[win].winfixwidth }, { true, true })
    equal(chat.buffer(one), buf)
  end,
}
