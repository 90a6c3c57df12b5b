--- Asks the server for the next edit, and has it accept one. One request for an edit runs at a time.

local client = require("azimuth.client")
local diagnostics = require("azimuth.lang.diagnostics")
local positions = require("azimuth.position")
local protocol = require("azimuth.generated.protocol")
local wire = require("azimuth.inline.wire")

local M = {}

local slot = wire.slot()

---@class azimuth.inline.EditAnswer
---@field edit? azimuth.InlineEdit
---@field problem? string Why there is none.

--- The cursor of the current window, as the server counts.
---@param encoding string
---@return azimuth.Position
local function cursor(encoding)
  local at = vim.api.nvim_win_get_cursor(0)
  return { line = at[1] - 1, character = positions.character(encoding, vim.api.nvim_get_current_line(), at[2]) }
end

--- Withdraws the request that runs, if one does.
---@param is_patient? boolean True to let one run that the user has made by a key.
function M.withdraw(is_patient)
  slot:withdraw(is_patient)
end

--- True if a request about this runs.
---@param about string
---@return boolean
function M.is_asking(about)
  return slot.asked ~= nil and slot.asked.about == about
end

--- Asks for the edit that follows from the text of the current buffer. The answer is dropped if another request
--- follows.
---@param is_invoked boolean
---@param about string The subject: the buffer and its text.
---@param callback fun(answer: azimuth.inline.EditAnswer)
function M.ask(is_invoked, about, callback)
  local server = client.lsp_client()
  if not server then
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  -- The change first, then the end of the earlier request, then the new one.
  local version = diagnostics.version(server.id, bufnr)
  M.withdraw()
  ---@type azimuth.InlineEditParams
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr), version = version },
    position = cursor(server.offset_encoding or "utf-16"),
    trigger = is_invoked and "invoked" or "automatic",
    selecting = vim.api.nvim_get_mode().mode:find("^[vVsS\22\19]") ~= nil,
  }
  local function answered(err, result)
    if err then
      callback({ problem = err.message })
      return
    end
    callback({ edit = result.edit, problem = result.reason and result.reason.words })
  end
  slot:ask({ is_invoked = is_invoked, about = about }, protocol.requests.inline_edit, params, answered, bufnr)
end

--- Has the server put an edit into its document.
---@param id string
---@param hunks? string[] The hunks; without them, all.
---@param callback fun(err?: azimuth.Error, result?: azimuth.InlineAcceptResult)
function M.accept(id, hunks, callback)
  client.request(protocol.requests.inline_accept, { id = id, hunks = hunks }, callback)
end

--- The version of a buffer's text that the server has.
---@param bufnr integer
---@return integer?
function M.version(bufnr)
  local server = client.lsp_client()
  return server and diagnostics.version(server.id, bufnr)
end

--- Forgets the request that runs: the server has ended.
function M.lost()
  slot:lost()
end

return M
