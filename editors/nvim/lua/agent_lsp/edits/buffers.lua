--- Buffers as the server names them. Nothing is loaded or made by looking.
local M = {}

--- The loaded buffer of a URI; a file's buffer that is only listed counts as none.
---@param uri string
---@return integer? bufnr
function M.loaded(uri)
  local is_file = vim.startswith(uri, "file:")
  local name = is_file and vim.uri_to_fname(uri) or uri
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == name then
      return bufnr
    end
  end
end

--- A file's name for people: below the current folder if it is there.
---@param uri string
---@return string
function M.readable(uri)
  return vim.fn.fnamemodify(vim.startswith(uri, "file:") and vim.uri_to_fname(uri) or uri, ":~:.")
end

return M
