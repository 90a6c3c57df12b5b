--- Requests that can be withdrawn, for all versions of Neovim.

local client = require("azimuth.client")

local M = {}

local is_011 = vim.fn.has("nvim-0.11") == 1

--- Sends a request about a buffer.
---@param method string
---@param params table
---@param callback fun(err?: azimuth.Error, result: any)
---@param bufnr integer
---@return integer? id Nil if the server does not run.
function M.send(method, params, callback, bufnr)
  local server = client.lsp_client()
  if not server then
    return nil
  end
  local sent, id
  if is_011 then
    sent, id = server:request(method, params, callback, bufnr)
  else
    sent, id = server.request(method, params, callback, bufnr)
  end
  return sent and id or nil
end

--- Withdraws a request.
---@param id integer
function M.cancel(id)
  local server = client.lsp_client()
  if not server then
    return
  elseif is_011 then
    server:cancel_request(id)
  else
    server.cancel_request(id)
  end
end

return M
