--- The text of a document as a language server that has it would format it. Nothing is changed by asking: the server puts
--- the text into the document as it does an accepted edit.

local clients = require("azimuth.lang.clients")
local ranges = require("azimuth.lang.ranges")
local text = require("azimuth.text")

local M = {}

--- How long a language server may take for all that it is asked of a document, in milliseconds; the server asks for no longer
--- than ten seconds.
M.PATIENCE = 5000

--- Asks a language client, and waits for its answer without holding up the editor. Is called in a coroutine.
---@param from vim.lsp.Client
---@param method string
---@param params table
---@param bufnr integer
---@param deadline number In milliseconds of `clients.now`.
---@return any? result Nil also where it failed; the log of Neovim's language clients says why.
local function ask(from, method, params, bufnr, deadline)
  local reply = clients.ask({ { client = from, method = method, params = params, bufnr = bufnr } }, deadline)[1]
  if reply.problem then
    vim.lsp.log.error("azimuth", from.name, method, reply.message)
  end
  return reply.result
end

--- The length of a line in the units of a client.
---@param line string
---@param encoding string
---@return integer
local function length(line, encoding)
  if encoding == "utf-8" then
    return #line
  end
  return encoding == "utf-32" and vim.fn.strchars(line) or text.utf16_of_byte(line, #line)
end

--- Whole lines as a range, up to the end of the last one: a range up to the next line's start would be taken for that line too.
---@param bufnr integer
---@param lines azimuth.LineRange
---@param encoding string
---@return lsp.Range
local function range(bufnr, lines, encoding)
  local last = lines["end"] - 1
  local line = vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1] or ""
  return { start = { line = lines.start, character = 0 }, ["end"] = { line = last, character = length(line, encoding) } }
end

--- The edits by which a client would format a document, or some lines of it.
---@param from vim.lsp.Client
---@param bufnr integer
---@param lines azimuth.LineRange[]
---@return lsp.TextEdit[]?
local function edits_of(from, bufnr, lines)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    options = { tabSize = vim.lsp.util.get_effective_tabstop(bufnr), insertSpaces = vim.bo[bufnr].expandtab },
  }
  local deadline = clients.now() + M.PATIENCE
  if #lines == 0 then
    return ask(from, "textDocument/formatting", params, bufnr, deadline)
  end
  local edits = {}
  for _, some in ipairs(lines) do
    params.range = range(bufnr, some, from.offset_encoding)
    local more = ask(from, "textDocument/rangeFormatting", params, bufnr, deadline)
    if not more then
      return nil
    end
    vim.list_extend(edits, more)
  end
  return ranges.are_apart(edits) and edits or nil
end

--- The text of a buffer with some edits in it, made in a copy of the buffer that nothing hears of.
---@param bufnr integer
---@param edits lsp.TextEdit[]
---@param encoding string
---@return string # With LF.
local function edited(bufnr, edits, encoding)
  local ignored = vim.o.eventignore
  vim.o.eventignore = "all"
  local copy = vim.api.nvim_create_buf(false, true)
  local ok, problem = pcall(function()
    for _, option in ipairs({ "binary", "endofline", "fixendofline" }) do
      vim.bo[copy][option] = vim.bo[bufnr][option]
    end
    vim.api.nvim_buf_set_lines(copy, 0, -1, false, vim.api.nvim_buf_get_lines(bufnr, 0, -1, true))
    vim.lsp.util.apply_text_edits(edits, copy, encoding)
  end)
  local lines = vim.api.nvim_buf_get_lines(copy, 0, -1, true)
  vim.api.nvim_buf_delete(copy, { force = true })
  vim.o.eventignore = ignored
  assert(ok, problem)
  -- As Neovim tells the text to its language servers: what 'fixendofline' would add when it is saved is not there yet.
  return table.concat(lines, "\n") .. (vim.bo[bufnr].endofline and "\n" or "")
end

--- Answers `azimuth/editor/format`, by the first language client, but ours, that can format and has something to say. They are
--- those that `vim.lsp.buf.format` asks. Is called in a coroutine, as Neovim calls all handlers of requests.
---@param bufnr integer
---@param params azimuth.EditorFormatParams
---@param own integer The id of our own client.
---@return azimuth.EditorFormatResult
function M.formatted(bufnr, params, own)
  local lines = params.lines or {}
  local method = #lines > 0 and "textDocument/rangeFormatting" or "textDocument/formatting"
  local function is_at_version()
    return vim.api.nvim_buf_is_loaded(bufnr) and vim.lsp.util.buf_versions[bufnr] == params.version
  end
  for _, from in ipairs(vim.lsp.get_clients({ bufnr = bufnr, method = method })) do
    local edits = from.id ~= own and is_at_version() and edits_of(from, bufnr, lines)
    if edits and is_at_version() then
      return { text = edited(bufnr, edits, from.offset_encoding), by = from.name }
    end
  end
  return vim.empty_dict()
end

return M
