--- The requests of the server: to save a document, to give its text, to format one, and questions about code.

local documents = require("azimuth.lang.documents")
local protocol = require("azimuth.generated.protocol")

local M = {}

---@param params azimuth.EditorDocumentParams
---@return azimuth.EditorSaveResult
local function save(_, params)
  local bufnr = documents.open(params.uri)
  if not bufnr then
    return { saved = false }
  end
  local ok, problem = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd("silent update")
  end)
  if not ok then
    local message = "Azimuth: %s could not be saved: %s"
    vim.notify(message:format(vim.api.nvim_buf_get_name(bufnr), problem), vim.log.levels.ERROR)
  end
  return { saved = ok and not vim.bo[bufnr].modified }
end

---@param params azimuth.EditorDocumentParams
---@return azimuth.EditorTextResult
local function text(_, params)
  local bufnr = documents.open(params.uri)
  if not bufnr then
    return vim.empty_dict()
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local ends = vim.bo[bufnr].fileformat == "dos" and "\r\n" or "\n"
  local whole = table.concat(lines, ends)
  -- As in what Neovim told of the document: what 'fixendofline' would add when it is saved is not there yet.
  if vim.bo[bufnr].endofline then
    whole = whole .. ends
  end
  return { text = whole }
end

---@param params azimuth.EditorFormatParams
---@param context lsp.HandlerContext
---@return azimuth.EditorFormatResult
local function format(_, params, context)
  local bufnr = documents.open(params.uri)
  return bufnr and require("azimuth.format").formatted(bufnr, params, context.client_id) or vim.empty_dict()
end

---@param params azimuth.EditorQueryParams
---@param context lsp.HandlerContext
---@return azimuth.LangResult
local function query(_, params, context)
  return require("azimuth.lang").answer(params, context.client_id)
end

--- The handlers of the requests, by method.
---@type table<string, fun(err: any, params: any, context: lsp.HandlerContext): any>
M.handlers = {
  [protocol.client_requests.editor_save] = save,
  [protocol.client_requests.editor_text] = text,
  [protocol.client_requests.editor_format] = format,
  [protocol.client_requests.editor_query] = query,
}

return M
