local steady = require("agent_lsp.edits.steady")

local api = vim.api
local M = {}

local function rows(count)
  local lines = {}
  for number = 1, count do
    lines[number] = "row " .. number
  end
  return lines
end

--- A window on a hundred rows, scrolled so that `top` is its first and with the cursor on `row`.
local function window(top, row)
  vim.cmd("enew!")
  api.nvim_buf_set_lines(0, 0, -1, false, rows(100))
  vim.fn.winrestview({ topline = top, lnum = row, col = 2 })
  return api.nvim_get_current_buf()
end

local function seen()
  return { vim.fn.getline("."), vim.fn.col("."), vim.fn.getline(vim.fn.line("w0")) }
end

M["a window stays on its text when lines come and go above it"] = function()
  for _, change in ipairs({ { 0, 0, { "new", "newer" } }, { 3, 9, {} }, { 10, 12, { "one", "two", "three", "four" } } }) do
    local buf = window(40, 50)
    local before = seen()
    steady.while_editing(buf, function()
      api.nvim_buf_set_lines(buf, change[1], change[2], false, change[3])
    end)
    assert(vim.deep_equal(seen(), before), vim.inspect({ seen(), before }))
  end
end

M["the cursor stays on its character when text comes before it in its line"] = function()
  local buf = window(1, 5)
  steady.while_editing(buf, function()
    api.nvim_buf_set_text(buf, 4, 0, 4, 0, { "xxx" })
  end)
  assert(vim.fn.getline(".") == "xxxrow 5" and vim.fn.col(".") == 6)
end

M["an edit that fails is told, and the window is as it was"] = function()
  local buf = window(40, 50)
  local before = seen()
  local ok, problem = steady.while_editing(buf, function()
    error("no")
  end)
  assert(not ok and problem:find("no"))
  assert(vim.deep_equal(seen(), before))
end

M["lines are found again when the whole text is replaced"] = function()
  local new = rows(100)
  table.insert(new, 1, "above")
  table.remove(new, 30)
  new[60] = "another 60"
  local buf = window(40, 50)
  local before = seen()
  local restore = steady.remember(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, new)
  restore()
  assert(vim.deep_equal(seen(), before), vim.inspect({ seen(), before }))
end

M["a text that has become short is no error"] = function()
  local buf = window(80, 90)
  local restore = steady.remember(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, { "only" })
  restore()
  assert(vim.fn.getline(".") == "only")
end

M["a text that is replaced line by line by random ones keeps the cursor inside it"] = function()
  math.randomseed(7)
  for _ = 1, 60 do
    local buf = window(math.random(60), math.random(100))
    local new = {}
    for _, line in ipairs(rows(100)) do
      if math.random() < 0.8 then
        new[#new + 1] = line
      end
      if math.random() < 0.2 then
        new[#new + 1] = "fresh " .. math.random(1000)
      end
    end
    local on = vim.fn.getline(".")
    local restore = steady.remember(buf)
    api.nvim_buf_set_lines(buf, 0, -1, false, new)
    restore()
    if vim.list_contains(new, on) then
      assert(vim.fn.getline(".") == on, on)
    end
  end
end

M["an edit with an annotation is made without anybody being asked to confirm it"] = function()
  local path = vim.fn.tempname()
  vim.fn.writefile({ "one" }, path)
  vim.cmd.edit(path)
  local apply_text_edits, get_client = vim.lsp.util.apply_text_edits, vim.lsp.get_client_by_id
  vim.lsp.get_client_by_id = function()
    return { offset_encoding = "utf-16" }
  end
  vim.lsp.util.apply_text_edits = function(edits, ...) -- what newer versions of Neovim want
    for _, edit in ipairs(edits) do
      assert(edit.annotationId == nil, "it would have to be confirmed")
    end
    apply_text_edits(edits, ...)
  end
  local range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } }
  local answer = require("agent_lsp.edits.apply").handle({
    edit = {
      documentChanges = {
        {
          textDocument = { uri = vim.uri_from_fname(path) },
          edits = { { range = range, newText = "two", annotationId = "agent" } },
        },
      },
      changeAnnotations = { agent = { label = "Edit", needsConfirmation = true } },
    },
  }, { client_id = 1, method = "workspace/applyEdit" })
  vim.lsp.util.apply_text_edits, vim.lsp.get_client_by_id = apply_text_edits, get_client
  assert(answer.applied, answer.failureReason)
  assert(vim.fn.getline(1) == "two")
end

return M
