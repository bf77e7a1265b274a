-- Presses the keys of the page: asks for something, allows the edit, waits for it, leaves.
local function fail(what)
  io.stderr:write(what .. "\n")
  vim.cmd("cquit")
end

vim.ui.input = function(_, done) done("fix the greeting in greeter.py") end
vim.ui.select = function(items, options, done)
  print("[asked] " .. (options.prompt or ""):sub(1, 60))
  for index, item in ipairs(items) do
    if (item.title or item) == "Allow" then return done(item, index) end
  end
  done(nil)
end

if not vim.wait(20000, function() return vim.lsp.get_clients({ name = "agent" })[1] ~= nil end, 50) then fail("the server did not start") end
vim.wait(20000, function() return vim.lsp.get_clients({ name = "agent" })[1].initialized end, 50)
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<leader>aa", true, false, true), "mx", false)
local function mended() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find("Hello") ~= nil end
if not vim.wait(30000, mended, 50) then fail("the greeting was not mended") end
vim.cmd("write")
print("[ended] mended\n")
vim.cmd("qall!")
