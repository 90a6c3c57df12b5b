--- Answers that tell what would have to change: renaming, moving a file, formatting.

local clients = require("azimuth.lang.clients")
local documents = require("azimuth.lang.documents")

local M = {}

function M.rename(question)
  return question:ask_in_turn(function(client)
    return question:at_place(client, { newName = question.query.newName })
  end, function(with, edit)
    return with:edit(edit)
  end)
end

function M.format(question)
  local bufnr = question.document.bufnr
  local params = {
    textDocument = { uri = question.uri },
    options = { tabSize = vim.lsp.util.get_effective_tabstop(bufnr), insertSpaces = vim.bo[bufnr].expandtab },
  }
  return question:ask_in_turn(function()
    return params
  end, function(with, edits)
    return #edits > 0 and with:edit({ changes = { [question.uri] = edits } }) or {}
  end)
end

--- True if a client wants to know before a file or folder is moved.
---@param client vim.lsp.Client
---@param path string
---@return boolean
local function minds_move(client, path)
  local filters = vim.tbl_get(client.server_capabilities, "workspace", "fileOperations", "willRename", "filters")
  local kind = vim.fn.isdirectory(path) == 1 and "folder" or "file"
  return vim.iter(type(filters) == "table" and filters or {}):any(function(filter)
    local pattern = filter.pattern or {}
    local ok, glob = pcall(vim.glob.to_lpeg, pattern.glob)
    return (filter.scheme == nil or filter.scheme == "file")
      and (pattern.matches == nil or pattern.matches == kind)
      and (not ok or glob:match(path) ~= nil)
  end)
end

function M.moveFile(question)
  local from, to = documents.normal(question.query.from), documents.normal(question.query.to)
  local path = vim.uri_to_fname(from)
  question.servers = vim.tbl_filter(function(client)
    local root = client.root_dir
    local is_below = not root or path == root or vim.startswith(path, root:gsub("/$", "") .. "/")
    return is_below and minds_move(client, path)
  end, question.clients)
  vim.tbl_map(clients.flush, question.servers)
  local requests = vim.tbl_map(function(client)
    return question:request(client, "workspace/willRenameFiles", { files = { { oldUri = from, newUri = to } } })
  end, question.servers)
  local changes, touched = {}, {}
  for _, reply in ipairs(clients.ask(requests, question.deadline)) do
    local more = question:understood(reply, function(with)
      return with:edit(reply.result)
    end)
    for _, change in ipairs(more or {}) do
      -- Two servers that change the same document do not know of each other.
      local other = change.uri and touched[change.uri]
      if other and other ~= reply.client then
        question:note({ client = reply.client, problem = "failed", message = ("it changes what %s changes, too"):format(other.name) })
      else
        touched[change.uri or ""] = reply.client
        table.insert(changes, change)
      end
    end
  end
  return { type = "edit", changes = changes }
end

return M
