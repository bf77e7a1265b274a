--- One log file, below `stdpath("log")`, and one way to tell the person something.
local M = {}

local names = { [0] = "TRACE", "DEBUG", "INFO", "WARN", "ERROR" }
local level = vim.log.levels.WARN
local MOST_BYTES = 1024 * 1024

--- Lines below this level are not written.
---@param least integer one of `vim.log.levels`
function M.set_level(least)
  level = least
end

--- Where the lines go.
---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath("log") --[[@as string]], "agent_lsp.log")
end

---@param at integer
---@param text string
local function write(at, text)
  if at < level then
    return
  end
  vim.schedule(function()
    local path = M.path()
    local state = vim.uv.fs_stat(path)
    if not state then
      vim.fn.mkdir(vim.fs.dirname(path), "p")
    end
    local file = io.open(path, (state and state.size > MOST_BYTES) and "w" or "a")
    if file then
      file:write(("%s %s %s\n"):format(os.date("%Y-%m-%d %H:%M:%S"), names[at], text))
      file:close()
    end
  end)
end

---@param text string
function M.debug(text)
  write(vim.log.levels.DEBUG, text)
end

---@param text string
function M.info(text)
  write(vim.log.levels.INFO, text)
end

---@param text string
function M.warn(text)
  write(vim.log.levels.WARN, text)
end

---@param text string
function M.error(text)
  write(vim.log.levels.ERROR, text)
end

--- One line to the person, cut to what fits without a hit-enter prompt.
---@param text string
---@param at? integer one of `vim.log.levels`, INFO if left out
function M.tell(text, at)
  vim.schedule(function()
    local line = "agent-lsp: " .. (text:gsub("%s*\n%s*", " "))
    write(at or vim.log.levels.INFO, line)
    local width = vim.o.columns - 12
    if vim.fn.strdisplaywidth(line) > width then
      line = vim.fn.strcharpart(line, 0, math.max(width - 1, 20)) .. "…"
    end
    vim.cmd.redraw() -- so that two lines in a row are not a prompt to press Enter
    vim.notify(line, at or vim.log.levels.INFO, { title = "agent-lsp" })
  end)
end

return M
