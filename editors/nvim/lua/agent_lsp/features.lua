--- What takes part once the server is wanted. Each module's `attach()` is called once, before the first start: it
--- registers handlers (`client.handle`) and subscribes to events.
return {
  "agent_lsp.palette",
  "agent_lsp.session",
  "agent_lsp.chat",
  "agent_lsp.prompt",
  "agent_lsp.approval",
  "agent_lsp.ask",
  "agent_lsp.edits",
  "agent_lsp.save",
  "agent_lsp.diagnostics",
  "agent_lsp.statusline",
  "agent_lsp.hooks",
}
