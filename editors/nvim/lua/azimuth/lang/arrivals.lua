--- The time in which a language client may still come to a document that has none.
---
--- Clients come when a file is read, and some of them find out first, by running programs, where its project is. Whoever takes the
--- document for one without a language server meanwhile starts a second one of the same.

local clients = require("azimuth.lang.clients")

local M = {}

--- How long a client is waited for, from when the document was read, or lost a client that may be started again, in milliseconds.
M.WITHIN = 1500
--- The same where one was waited for in vain before.
local WITHIN_AGAIN = 200

--- When this was loaded: what was read before may have been so just before.
local began = clients.now()
---@type table<integer, number> When a buffer was read or lost a client, in milliseconds of `clients.now`.
local since = {}
---@type table<string, true> The types of files that a client has come to.
local wanted = {}
---@type table<string, true> The kinds of documents for which a client was waited for in vain.
local in_vain = {}

--- The documents that are alike in whether a client comes: those of a type, and of a folder where only some are in a project.
---@param bufnr integer
---@return string
local function kind(bufnr)
  local filetype = vim.bo[bufnr].filetype
  return wanted[filetype] and ("%s %s"):format(filetype, vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr))) or filetype
end

--- Until when a client may come to a document, in milliseconds of `clients.now`.
---@param bufnr integer
---@return number
function M.latest(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or vim.bo[bufnr].filetype == "" then
    return 0
  end
  return (since[bufnr] or began) + (in_vain[kind(bufnr)] and WITHIN_AGAIN or M.WITHIN)
end

--- Notes that no client that was of use has come to a document in time. The next one like it is not waited for so long.
---@param bufnr integer
function M.note_none(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    in_vain[kind(bufnr)] = true
  end
end

---@param bufnr integer
local function note_client(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    wanted[vim.bo[bufnr].filetype] = true
    -- Some come to every file at once; that does not say of others that they come.
    if clients.now() >= (since[bufnr] or began) + WITHIN_AGAIN then
      in_vain[kind(bufnr)] = nil
    end
  end
end

local group = vim.api.nvim_create_augroup("azimuth.arrivals", { clear = true })

---@param event string
---@param callback fun(args: table)
local function on(event, callback)
  vim.api.nvim_create_autocmd(event, { group = group, callback = callback })
end

on("FileType", function(args)
  since[args.buf] = clients.now()
end)
on("BufWipeout", function(args)
  since[args.buf] = nil
end)
on("LspAttach", function(args)
  local client = vim.lsp.get_client_by_id(args.data.client_id)
  if client and clients.is_other(client) then
    note_client(args.buf)
  end
end)
on("LspDetach", function(args)
  local client = vim.lsp.get_client_by_id(args.data.client_id)
  -- One that has ended may be gone already.
  if not client or clients.is_other(client) then
    since[args.buf] = clients.now()
  end
end)
for _, client in ipairs(vim.lsp.get_clients()) do
  if clients.is_other(client) then
    vim.tbl_map(note_client, vim.tbl_keys(client.attached_buffers))
  end
end

return M
