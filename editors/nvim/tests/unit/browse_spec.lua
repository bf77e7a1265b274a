local browse = require("agent_lsp.browse")

local M = {}

local PATH = "/a folder/pages/session-20261129-212041-0a1b2c3d.html"
local open = vim.ui.open

--- Opens the page with this in place of `vim.ui.open`; what the float says, nil without one.
---@param opener fun(path: string): any, any
---@param within_ms integer
local function shown(opener, within_ms)
  vim.ui.open = opener
  browse.open(PATH)
  local text
  vim.wait(within_ms, function()
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= "" then
        local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
        text = table.concat(lines, "\n")
        vim.api.nvim_win_close(win, true)
      end
    end
    return text ~= nil
  end, 5)
  vim.ui.open = open
  return text
end

M["a page that is opened is nothing to say of"] = function()
  local opened
  local said = shown(function(path)
    opened = path
    return vim.system({ "true" })
  end, 300)
  assert(opened == PATH and said == nil, said)
  assert(shown(function() end, 50) == nil, "an opener of one's own need not give anything")
  assert(shown(function()
    return { pid = 1 }
  end, 50) == nil)
end

M["where nothing opens pages the whole path is shown with the reason"] = function()
  local said = shown(function()
    return nil, "no handler\nfound"
  end, 1000)
  assert(said == "The page was not opened: no handler found\n" .. PATH, said)
end

M["an opener that raises is one that opens nothing"] = function()
  local said = shown(function()
    error("boom", 0)
  end, 1000)
  assert(said == "The page was not opened: boom\n" .. PATH, said)
end

M["a program that fails later is heard of"] = function()
  local said = shown(function()
    return vim.system({ "sh", "-c", "echo no browser >&2; exit 3" }, { text = true })
  end, 10000)
  assert(said == "The page was not opened: no browser\n" .. PATH, said)
  said = shown(function()
    return vim.system({ "sh", "-c", "exit 3" }, { stderr = false })
  end, 10000)
  assert(said == "The page was not opened: sh ended with 3\n" .. PATH, said)
end

M["a browser that goes on holds nobody up"] = function()
  local began = vim.uv.hrtime()
  local browser
  local said = shown(function()
    browser = vim.system({ "sh", "-c", "sleep 60 &" }, { detach = true })
    return browser
  end, 200)
  assert(said == nil, said)
  assert((vim.uv.hrtime() - began) / 1e6 < 20000)
  assert(vim.uv.kill(-browser.pid, "sigkill") == 0)
end

return M
