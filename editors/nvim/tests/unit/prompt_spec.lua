local client = require("agent_lsp.client")
local drafts = require("agent_lsp.prompt.draft")
local prompt = require("agent_lsp.prompt")
local sessions = require("agent_lsp.session")
local streams = require("streams")

local api = vim.api
local last = 0
client.prepare()

local function session(state)
  last = last + 1
  return sessions.adopt({
    sessionId = "p-" .. last,
    workspace = vim.uri_from_fname(vim.uv.cwd()),
    model = { provider = "p", model = "m" },
    createdAt = "2026-11-29T21:20:41.123Z",
    state = state or "idle",
  })
end

--- Runs `body` with a server that answers from `answers` (a function answers later, through its callback).
local function with_server(answers, body)
  local request, resume = client.request, sessions.resume
  local asked = {}
  client.request = function(method, params, callback)
    asked[#asked + 1] = { method, params }
    local answer = answers[method]
    if type(answer) == "function" then
      return answer(params, callback)
    end
    callback(answer == nil and { code = -1, message = "refused: " .. method } or nil, answer)
  end
  sessions.resume = function(id, callback)
    callback(nil, sessions.get(id))
  end
  local notify = vim.notify
  vim.notify = function() end
  local ok, problem = xpcall(body, debug.traceback, asked)
  vim.wait(20)
  client.request, sessions.resume, vim.notify = request, resume, notify
  assert(ok, problem)
end

local function type_keys(keys)
  api.nvim_feedkeys(api.nvim_replace_termcodes(keys, true, false, true), "xt", false)
end

local function text()
  return table.concat(api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function equal(got, expected)
  assert(vim.deep_equal(got, expected), ("got:\n%s\nexpected:\n%s"):format(vim.inspect(got), vim.inspect(expected)))
end

---@param line string the whole text of the open prompt
---@return string[] what is offered at its end
local function labels(line)
  local buf = api.nvim_get_current_buf()
  api.nvim_buf_set_lines(buf, 0, -1, false, { line })
  local ready = vim.lsp.get_clients({ bufnr = buf, name = "agent_lsp_prompt" })[1]
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = 0, character = vim.str_utfindex(line, "utf-16") },
  }
  local answer = assert(ready:request_sync("textDocument/completion", params, 2000, buf))
  return vim.tbl_map(function(item)
    return item.label
  end, answer.result.items)
end

return {
  ["Enter sends what is in the prompt, and the cursor stays there"] = function()
    local one = session()
    with_server({ ["agent/run"] = function() end }, function(asked)
      prompt.open(one)
      local win = api.nvim_get_current_win()
      type_keys("ifirst line<C-j>second<CR>")
      equal(asked, { { "agent/run", { sessionId = one.id, input = "first line\nsecond", queueIfBusy = true } } })
      equal({ text(), api.nvim_get_current_win() }, { "", win })
    end)
  end,

  ["while a task runs the same key steers, and each word shows where it is"] = function()
    local one = session("running")
    with_server({
      ["agent/steer"] = { accepted = true, steerId = "steer-1" },
      ["agent/unsteer"] = { withdrawn = true },
    }, function(asked)
      prompt.open(one)
      type_keys("ionly the parser<CR>")
      equal(asked[1][1], "agent/steer")
      equal(one.steers[1].state, "pending")
      assert(vim.wo.winbar:find("pending: only the parser", 1, true), vim.wo.winbar)
      one:receive({
        sessionId = one.id,
        seq = 0,
        messages = {
          streams.said({ type = "text", role = "user", text = "[user_steering]\nonly the parser\n[/user_steering]" }),
        },
      })
      assert(vim.wo.winbar:find("delivered: only the parser", 1, true), vim.wo.winbar)
      equal(one.model.segments[1].kind, "steer")
    end)
  end,

  ["<C-u> in an empty prompt takes back the word that waits, and gives it back"] = function()
    local one = session("running")
    with_server({
      ["agent/steer"] = { accepted = true, steerId = "steer-1" },
      ["agent/unsteer"] = { withdrawn = true },
    }, function(asked)
      prompt.open(one)
      type_keys("itake me back<CR>")
      type_keys("i<C-u>")
      equal(asked[2], { "agent/unsteer", { sessionId = one.id, steerId = "steer-1" } })
      equal({ one.steers[1].state, text() }, { "withdrawn", "take me back" })
    end)
  end,

  ["a word that no task took any more becomes a task"] = function()
    local one = session("running")
    with_server({ ["agent/steer"] = { accepted = false }, ["agent/run"] = function() end }, function(asked)
      prompt.open(one)
      type_keys("ilate<CR>")
      equal({ asked[1][1], asked[2][1], asked[2][2].input }, { "agent/steer", "agent/run", "late" })
      equal(#one.steers, 0)
    end)
  end,

  ["a refused prompt comes back, and its reason stands in the chat"] = function()
    local one = session()
    with_server({}, function()
      prompt.open(one)
      type_keys("iprecious words<CR>")
      equal(text(), "precious words")
      assert(one.model:text():find("> refused: agent/run", 1, true))
    end)
  end,

  ["a refused prompt does not overwrite what was typed since; it is in the history"] = function()
    local one = session()
    local refuse
    with_server({
      ["agent/run"] = function(_, callback)
        refuse = callback
      end,
    }, function()
      prompt.open(one)
      type_keys("iprecious<CR>")
      type_keys("inewer")
      refuse({ code = -1, message = "no" })
      equal(text(), "newer")
      type_keys("<C-p>")
      equal(text(), "precious")
      type_keys("<C-n>")
      equal(text(), "newer")
    end)
  end,

  ["the prompt of a run is in the chat as soon as the run begins, once"] = function()
    local one = session()
    with_server({ ["agent/run"] = function() end }, function()
      prompt.open(one)
      type_keys("ihello<CR>")
      equal(one.model:text(), "")
      one:receive({ sessionId = one.id, runId = "r", seq = 0, messages = { streams.event({ type = "request_begin" }) } })
      one:receive({ sessionId = one.id, runId = "r", seq = 1, messages = { streams.event({ type = "request_begin" }) } })
      equal(one.model:text(), "\nhello")
    end)
  end,

  ["a task that ended badly is told in one line, one that was stopped is not"] = function()
    local one = session()
    local told, finish = {}, nil
    with_server({
      ["agent/run"] = function(_, callback)
        finish = callback
      end,
    }, function()
      vim.notify = function(message)
        told[#told + 1] = message
      end
      prompt.open(one)
      for _, status in ipairs({ "aborted", "completed", "failed", "max_turns" }) do
        type_keys("igo<CR>")
        finish(nil, {
          sessionId = one.id,
          runId = "r",
          status = status,
          turns = 9,
          errorMessage = status == "failed" and "llm request error: HTTP 500" or nil,
        })
      end
      vim.wait(200, function()
        return #told == 2
      end, 5)
      equal(told, { "agent-lsp: the task has ended: HTTP 500", "agent-lsp: the task has ended: max turns" })
      assert(one.model:text():find("> stopped after 9 turns", 1, true))
    end)
  end,

  ["lines that are typed as numbers are lines, though a selection had the same"] = function()
    local one = session()
    with_server({ ["agent/run"] = function() end }, function(asked)
      vim.cmd("edit " .. vim.fn.tempname())
      sessions.select(one)
      api.nvim_buf_set_lines(0, 0, -1, false, { "abc", "def" })
      vim.bo.modified = false
      vim.cmd("normal! gglvjh\27")
      local function attached()
        return asked[#asked][2].input[1].text:match("\n(.*)$")
      end
      vim.fn.histadd(":", "'<,'>Agent look")
      vim.cmd("'<,'>Agent look")
      equal(attached(), "bc\nd")
      one.state.state = "idle"
      vim.fn.histadd(":", "1,2Agent look")
      vim.cmd("1,2Agent look")
      equal(attached(), "abc\ndef")
    end)
  end,

  ["the draft is on the disk when the window is closed, and comes back"] = function()
    local one = session()
    with_server({}, function()
      prompt.open(one)
      type_keys("ihalf a thou")
      prompt.close(one)
      local file = vim.fn.glob(vim.fn.stdpath("state") .. "/agent_lsp/drafts/" .. one.id .. ".json")
      equal(vim.json.decode(table.concat(vim.fn.readfile(file), "\n")).text, "half a thou")
      prompt.open(one)
      equal(text(), "half a thou")
    end)
  end,

  ["the last fifty prompts are kept, each once"] = function()
    for index = 1, 60 do
      drafts.remember("many", "prompt " .. index)
    end
    drafts.remember("many", "prompt 30")
    local history = drafts.of("many").history
    equal({ #history, history[1], history[50] }, { 50, "prompt 11", "prompt 30" })
  end,

  ["a draft file that is no draft is an empty draft"] = function()
    local folder = vim.fn.stdpath("state") .. "/agent_lsp/drafts"
    vim.fn.mkdir(folder, "p")
    for index, content in ipairs({ "", "{", "[]", '{"text": 3}', '{"text": "x", "history": {"a": 1}}' }) do
      vim.fn.writefile({ content }, ("%s/broken-%d.json"):format(folder, index))
      equal(drafts.of("broken-" .. index).text, "")
    end
  end,

  ["mentions and commands complete through a language server, without a key of ours"] = function()
    local one = session()
    with_server({}, function()
      local folder = vim.fn.tempname()
      vim.fn.mkdir(folder, "p")
      vim.fn.writefile({ "x" }, folder .. "/parser.lua")
      one.info.workspace = vim.uri_from_fname(folder)
      prompt.open(one)
      equal(labels("🙂 see @pars"), { "@buffer", "@diagnostics", "@quickfix", "@selection", "@parser.lua" })
      assert(vim.list_contains(labels("/co"), "/compact"))
      equal(labels("a word"), {})
      assert(vim.fn.maparg("<Tab>", "i", false, true).buffer ~= 1)
    end)
  end,

  ["completing a mention runs nothing that a repository names"] = function()
    local one = session()
    with_server({}, function()
      local folder = vim.fn.tempname()
      vim.fn.mkdir(folder, "p")
      local script = folder .. "/monitor.sh"
      vim.fn.writefile({ "#!/bin/sh", "touch " .. folder .. "/ran" }, script)
      assert(vim.uv.fs_chmod(script, tonumber("700", 8)))
      local function git(...)
        local done = vim.system({ "git", "-C", folder, ... }):wait()
        assert(done.code == 0, done.stderr)
      end
      git("init", "--quiet")
      git("add", "monitor.sh")
      git("config", "core.untrackedCache", "true")
      git("update-index", "--untracked-cache")
      git("config", "core.fsmonitor", script)
      one.info.workspace = vim.uri_from_fname(folder)
      prompt.open(one)
      assert(vim.list_contains(labels("@moni"), "@monitor.sh"))
      equal(vim.uv.fs_stat(folder .. "/ran"), nil)
    end)
  end,

  ["a prompt that is read again, unloaded or wiped out goes on with its draft, and completes"] = function()
    local one = session()
    with_server({}, function()
      for _, command in ipairs({ "edit", "edit!", "bdelete", "bwipeout!" }) do
        prompt.open(one)
        api.nvim_buf_set_lines(0, 0, -1, false, { "half " .. command })
        type_keys("i<Esc>")
        vim.cmd(command)
        prompt.open(one)
        local buf = api.nvim_get_current_buf()
        equal(text(), "half " .. command)
        vim.wait(1000, function()
          return #vim.lsp.get_clients({ bufnr = buf, name = "agent_lsp_prompt" }) == 1
        end, 5)
        type_keys("A @b<Esc>")
        equal({ command, vim.v.errmsg, #vim.lsp.get_clients({ bufnr = buf }) }, { command, "", 1 })
      end
    end)
  end,

  ["our keys are nowhere but in our buffers, and all are listed by g?"] = function()
    local one = session()
    local function global()
      local all = {}
      for _, mode in ipairs({ "n", "i", "x", "s", "o", "c", "t" }) do
        for _, map in ipairs(api.nvim_get_keymap(mode)) do
          all[#all + 1] = mode .. map.lhs
        end
      end
      return all
    end
    local before = global()
    require("agent_lsp").setup({})
    with_server({}, function()
      prompt.open(one)
      equal(global(), before)
      for _, buf in ipairs({ api.nvim_get_current_buf(), require("agent_lsp.chat").buffer(one) }) do
        for _, mode in ipairs({ "n", "i" }) do
          for _, map in ipairs(api.nvim_buf_get_keymap(buf, mode)) do
            equal({ map.lhs, map.nowait, (map.desc or ""):sub(1, 7) }, { map.lhs, 1, "agent: " })
          end
        end
      end
      type_keys("g?")
      assert(text():find("<C-p>", 1, true) and text():find("g?", 1, true))
      type_keys("q")
    end)
  end,

  ["two sessions have two chats and two prompts, in any tabpage"] = function()
    local one, other = session(), session()
    with_server({}, function()
      prompt.open(one)
      vim.cmd("tabnew")
      prompt.open(other)
      prompt.open(one)
      local shown = vim.tbl_map(function(win)
        return api.nvim_buf_get_name(api.nvim_win_get_buf(win))
      end, api.nvim_tabpage_list_wins(0))
      for _, id in ipairs({ one.id, other.id }) do
        assert(vim.list_contains(shown, "agent://session/" .. id), vim.inspect(shown))
        assert(vim.list_contains(shown, "agent://prompt/" .. id), vim.inspect(shown))
      end
    end)
  end,

  ["closing a chat beside nothing but a float leaves it, and in a tabpage of its own takes that along"] = function()
    local one = session()
    local chat = require("agent_lsp.chat")
    vim.cmd("enew")
    prompt.open(one)
    vim.cmd("only!")
    local float = api.nvim_create_buf(false, true)
    local where = { relative = "editor", row = 1, col = 1, width = 5, height = 1 }
    api.nvim_open_win(float, false, where)
    prompt.close(one)
    assert(vim.bo.filetype == "agent_prompt", "the last ordinary window stays")
    vim.cmd("tabnew")
    chat.open(one, false)
    vim.cmd("only!")
    api.nvim_open_win(float, false, where)
    prompt.close(one)
    assert(#api.nvim_list_tabpages() == 1)
  end,

  ["the list of keys shows every line of it, however narrow the screen is"] = function()
    local columns = vim.o.columns
    for _, width in ipairs({ 40, 80, 160 }) do
      vim.o.columns = width
      require("agent_lsp.chat.keys").help({
        { lhs = "1", modes = { "n" }, desc = ("word "):rep(20), run = function() end },
        { lhs = "<C-p>", modes = { "n", "i" }, desc = "short", run = function() end },
      })
      local shown = api.nvim_win_text_height(0, {}).all
      assert(api.nvim_win_get_height(0) == shown and (shown > 4) == (width < 100), shown)
      assert(api.nvim_win_get_width(0) <= width - 4)
      vim.cmd.close()
    end
    vim.o.columns = columns
  end,
}
