-- For vim.lsp.enable("azimuth"), from Neovim 0.11 on.
local client = require("azimuth.client")

local config = client.lsp_config()
config.root_dir = function(bufnr, on_dir)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype == "" and name ~= "" and not name:match("^%a[%w+.-]+://") then
    local running = client.lsp_client()
    on_dir(running and running.root_dir or client.root())
  end
end
return config
