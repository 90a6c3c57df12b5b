-- For vim.lsp.enable("azimuth"), from Neovim 0.11 on.
local client = require("azimuth.client")

local config = client.lsp_config()
-- For a `cmd` of the user's own; `server.spawn` looks for itself.
config.cmd_env = require("azimuth.keys").environment()
config.root_dir = function(bufnr, on_dir)
  if client.is_document(bufnr) then
    local running = client.lsp_client()
    on_dir(running and running.root_dir or client.root(bufnr))
  end
end
return config
