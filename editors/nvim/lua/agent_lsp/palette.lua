--- The highlight groups of approvals and edits. A colour scheme, or the person, may define each of them differently.
local M = {}

local GROUPS = {
  AgentApproval = "DiagnosticWarn",
  AgentApprovalBorder = "DiagnosticWarn",
  AgentApprovalKey = "Special",
  AgentApprovalHint = "Comment",
  AgentApprovalChoice = "Identifier",
  AgentCommand = "String",
  AgentDiffAdd = "DiffAdd",
  AgentDiffDelete = "DiffDelete",
  AgentDiffText = "DiffText",
  AgentDiffPlace = "Comment",
  AgentEditSign = "Added",
  AgentEditRemovedSign = "Removed",
  AgentEditRemoved = "DiffDelete",
}

--- Defines the groups, now and again whenever a colour scheme has cleared them.
function M.attach()
  local function define()
    for name, link in pairs(GROUPS) do
      vim.api.nvim_set_hl(0, name, { link = link, default = true })
    end
  end
  define()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("agent_lsp_palette", {}),
    callback = define,
  })
end

return M
