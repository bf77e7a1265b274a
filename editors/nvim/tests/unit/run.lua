-- Runs the specs beside it: `nvim -l tests/unit/run.lua [NAME]`. A spec is a file `NAME_spec.lua` that returns a table
-- of functions, named by the rules they prove. Each runs with a scratch state folder and no leftovers of the one before.
local here = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.normalize(vim.fs.joinpath(vim.uv.cwd(), here))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(root)))
package.path = root .. "/?.lua;" .. package.path

local scratch = vim.fn.tempname()
for _, name in ipairs({ "STATE", "DATA", "CACHE", "CONFIG" }) do
  vim.env["XDG_" .. name .. "_HOME"] = scratch .. "/" .. name
end
vim.env.NVIM_LOG_FILE = scratch .. "/nvim.log"
vim.o.swapfile = false
vim.o.hidden = true
vim.o.report = 9999
vim.o.showmode = false

local wanted = _G.arg[1]
local passed, failures = 0, {}
local files = vim.fn.glob(root .. "/*_spec.lua", true, true)
table.sort(files)
for _, file in ipairs(files) do
  local name = vim.fs.basename(file):gsub("_spec%.lua$", "")
  if not wanted or wanted == name then
    local rules = dofile(file)
    local names = vim.tbl_keys(rules)
    table.sort(names)
    for _, rule in ipairs(names) do
      vim.wait(1) -- what the one before has scheduled is not of this one
      vim.v.errmsg = ""
      local ok, problem = xpcall(rules[rule], debug.traceback)
      if ok and vim.v.errmsg ~= "" then
        ok, problem = false, "v:errmsg: " .. vim.v.errmsg
      end
      vim.cmd("silent! tabonly! | silent! new | silent! only! | silent! %bwipeout!")
      if ok then
        passed = passed + 1
      else
        failures[#failures + 1] = ("%s: %s\n%s"):format(name, rule, problem)
      end
    end
  end
end
for _, failure in ipairs(failures) do
  io.stdout:write("FAILED ", failure, "\n\n")
end
vim.fn.delete(scratch, "rf")
io.stdout:write(("%d passed, %d failed\n"):format(passed, #failures))
os.exit(#failures == 0 and passed > 0 and 0 or 1)
