--- The server as `vim.lsp.enable("agent_lsp")` starts it; the commands of the plugin start it by themselves.
---@type vim.lsp.Config
return {
  cmd = function(dispatchers, config)
    return require("agent_lsp.client").connect(dispatchers, config)
  end,
  root_dir = function(bufnr, on_dir)
    on_dir(require("agent_lsp.client").root(bufnr))
  end,
  before_init = function(params)
    require("agent_lsp.client").before_init(params)
  end,
  on_init = function(client, result)
    require("agent_lsp.client").on_init(client, result)
  end,
  on_exit = function(code, signal, client_id)
    require("agent_lsp.client").on_exit(code, signal, client_id)
  end,
  reuse_client = function(client)
    return client.name == "agent_lsp" and not client:is_stopped()
  end,
  handlers = require("agent_lsp.protocol").handlers(),
  commands = require("agent_lsp.protocol").commands(),
}
