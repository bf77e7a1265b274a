local events = require("agent_lsp.events")
local questions = require("agent_lsp.approval.questions")
local statusline = require("agent_lsp.statusline")

local M = {}

statusline.attach()

M["it is a text that is ready: 50 µs are never needed"] = function()
  local slowest = math.huge
  for _ = 1, 10 do
    local began = vim.uv.hrtime()
    for _ = 1, 1000 do
      statusline.get()
    end
    slowest = math.min(slowest, (vim.uv.hrtime() - began) / 1000)
  end
  assert(slowest < 50000, slowest)
end

M["however much happens it is drawn at most four times a second"] = function()
  local drawn = 0
  local redraw = vim.api.nvim__redraw
  vim.api.nvim__redraw = function(options)
    drawn = drawn + (options.statusline and 1 or 0)
  end
  local open = {}
  local count = 0
  local began = vim.uv.hrtime()
  local function took_ms()
    return (vim.uv.hrtime() - began) / 1e6
  end
  vim.wait(20000, function()
    count = count + 1
    if count % 2 == 0 then
      coroutine.wrap(function()
        questions.put({ kind = "ask", session_id = "s", params = { question = "?" }, unanswered = "" })
      end)()
      open = questions.open()
    elseif open[1] then
      questions.withdraw(open[1])
    end
    events.emit("stopped", {})
    return count > 50 and took_ms() > 1000
  end, 3)
  local most = took_ms() / 250 + 1
  vim.api.nvim__redraw = redraw
  questions.withdraw_all(function()
    return true
  end)
  assert(count > 50 and drawn <= most, ("%d events, drawn %d times of %d"):format(count, drawn, most))
end

M["it counts what waits for the person, before all else"] = function()
  for _ = 1, 2 do
    coroutine.wrap(function()
      questions.put({ kind = "ask", session_id = "s", params = { question = "?" }, unanswered = "" })
    end)()
  end
  vim.wait(600, function()
    return statusline.get():find("? 2 waiting", 1, true) ~= nil
  end, 10)
  assert(statusline.get() == "agent ? 2 waiting for you", statusline.get())
  questions.withdraw_all(function()
    return true
  end)
end

return M
