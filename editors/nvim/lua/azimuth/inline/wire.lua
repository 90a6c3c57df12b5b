--- Requests that can be withdrawn, for all versions of Neovim.

local client = require("azimuth.client")

local M = {}

local is_011 = vim.fn.has("nvim-0.11") == 1

---@class azimuth.inline.Asked
---@field is_invoked boolean True if the user has made it by a key.
---@field about? string The subject.
---@field id? integer The request's id; nil until it is sent.

--- A kind of request of which one runs at a time.
---@class azimuth.inline.Slot
---@field asked? azimuth.inline.Asked The one that runs.
local Slot = {}
Slot.__index = Slot

---@return azimuth.inline.Slot
function M.slot()
  return setmetatable({}, Slot)
end

--- Sends a request. Its answer is dropped if another one follows.
---@param asked azimuth.inline.Asked
---@param method string
---@param params table
---@param callback fun(err?: azimuth.Error, result: any)
---@param bufnr integer
function Slot:ask(asked, method, params, callback, bufnr)
  self.asked = asked
  asked.id = M.send(method, params, function(err, result)
    if self.asked == asked then
      self.asked = nil
      callback(err, result)
    end
  end, bufnr)
  if not asked.id then
    self.asked = nil
  end
end

--- Withdraws the request that runs, if one does.
---@param is_patient? boolean True to let one run that the user has made by a key.
function Slot:withdraw(is_patient)
  local old = self.asked
  if old and is_patient and old.is_invoked then
    return
  end
  self.asked = nil
  if old and old.id then
    M.cancel(old.id)
  end
end

--- Forgets the request that runs: the server has ended.
function Slot:lost()
  self.asked = nil
end

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
