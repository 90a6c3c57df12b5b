--- How an accepted edit goes into its document. The work is Neovim's own; this sees to it that each edit is one undo step,
--- that the server hears of it as of one change, and that an edit which came too late is refused aloud.

local client = require("azimuth.client")

local M = {}

local METHOD = "workspace/applyEdit"

--- Ends the undo step that is open in a buffer. Without this, edits with no key between them are undone as one.
---@param bufnr integer
local function break_undo(bufnr)
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd("let &g:undolevels = &g:undolevels")
  end)
end

--- Does something and tells the server of all that changed by it in one `didChange`. Neovim sends one for each hunk of an
--- edit, and the server would take the first of them for a change of the user's own.
---@param running vim.lsp.Client
---@param task fun(): any
---@return any
local function as_one_change(running, task)
  local notify = running.rpc.notify
  local held
  running.rpc.notify = function(method, params)
    if method ~= "textDocument/didChange" then
      return notify(method, params)
    elseif held and held.textDocument.uri == params.textDocument.uri then
      vim.list_extend(held.contentChanges, params.contentChanges)
      held.textDocument = params.textDocument
    else
      if held then
        notify(method, held)
      end
      held = { textDocument = params.textDocument, contentChanges = vim.list_slice(params.contentChanges) }
    end
    return true
  end
  local ok, result = pcall(task)
  running.rpc.notify = notify
  if held then
    notify("textDocument/didChange", held)
  end
  return ok and result or { applied = false, failureReason = tostring(result) }
end

---@param change lsp.TextDocumentEdit
---@param deletes boolean Whether the file goes.
---@return integer bufnr
---@return string? problem Why the change cannot be made.
local function target(change, deletes)
  local bufnr = vim.uri_to_bufnr(change.textDocument.uri)
  vim.fn.bufload(bufnr)
  local version = change.textDocument.version
  local known = vim.lsp.util.buf_versions[bufnr]
  if type(version) == "number" and known and known > version then
    return bufnr, "the document has changed in the meantime"
  elseif not deletes and not vim.bo[bufnr].modifiable then
    return bufnr, "the buffer is not modifiable"
  end
  return bufnr
end

--- The handler of `workspace/applyEdit`. The server sends one document in each request, or its deletion behind an edit of it
--- that is empty and names its version.
---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
local function apply(_, params, context)
  local built_in = vim.lsp.handlers[METHOD]
  -- Neovim would print the label, which waits for a key where the screen is narrow.
  params.label = nil
  local changes = params.edit.documentChanges or {}
  local change, deletes = changes[1], #changes == 2 and changes[2].kind == "delete"
  if not change or not change.textDocument or not (deletes or #changes == 1) then
    return built_in(nil, params, context)
  end
  local bufnr, problem = target(change, deletes)
  if problem then
    return { applied = false, failureReason = problem }
  end
  -- Neovim asks nothing before it drops a deleted file's buffer, so this is where a version that is another is refused.
  if deletes then
    return built_in(nil, params, context)
  end
  break_undo(bufnr)
  local result = as_one_change(assert(vim.lsp.get_client_by_id(context.client_id)), function()
    return built_in(nil, params, context)
  end)
  break_undo(bufnr)
  return result
end

--- Has the running client apply edits so.
function M.install()
  local running = client.lsp_client()
  if running then
    running.handlers[METHOD] = apply
  end
end

return M
